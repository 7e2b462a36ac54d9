"""Nobody's page but the UI's own asks the UI's server for anything: it knows no users, and any page can send requests.

A browser says where a request comes from: `Host` names the server as the page knows it, `Origin` the page, and
`Sec-Fetch-Site` whether the two belong together. Programs say none of the last two, and are let through: who can start
a program on this machine needs no web page.
"""

from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from graphql import GraphQLError, OperationDefinitionNode, OperationType, parse
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from valuesassets.records.pages import UI_VARIABLE, ui_address

HOSTS = {"127.0.0.1", "localhost", "::1"}
"""Another name means that somebody's page has led the browser here (DNS rebinding)."""
OWN_SITES = {"same-origin", "none"}
"""Of `Sec-Fetch-Site`: the UI's own page, and an address that a person typed."""
SAFE = {"GET", "HEAD", "OPTIONS"}
JSON = "application/json"
HEADERS = {"X-Frame-Options": "DENY", "Content-Security-Policy": "frame-ancestors 'none'"}
"""In a frame of another page, the UI's buttons could be clicked without a person seeing them."""


class OwnPagesOnly:
    """Refuses what a foreign page asks for, mutations by GET, and bodies that are no JSON; see above."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it; a WebSocket is closed before it is accepted."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        reason = why_refused(scope)
        if reason and scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": reason})
        elif reason:
            await PlainTextResponse(f"Refused: {reason}.\n", 403, HEADERS)(scope, receive, send)
        else:
            await self.app(scope, receive, _with_headers(send))


def why_refused(scope: Scope) -> str | None:
    """Why a request is not answered; None where it is."""
    headers, method = Headers(scope=scope), scope.get("method", "GET")
    host, origin, site = (headers.get(name) for name in ("host", "origin", "sec-fetch-site"))
    if _split(f"//{host}").hostname not in HOSTS | {_split(ui_address()).hostname}:
        return (
            f"{str(host)[:60]!a} is no name of this server; open it as localhost or 127.0.0.1, or, behind a proxy, set "
            f"{UI_VARIABLE} to its address and start it again"
        )
    if origin is not None and _split(origin).netloc != host:
        return f"the page of {origin[:60]!a} may not ask this server"
    if site is not None and site not in OWN_SITES and not _is_link(scope, headers):
        return "only the UI's own pages may ask this server"
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method not in SAFE and _has_body(headers) and kind != JSON:
        return f"a body of {JSON} was expected"
    if _is_graphql(scope) and method in SAFE and _changes(scope):
        return "what changes something is asked by POST"
    return None


def _split(address: str) -> SplitResult:
    """The parts of an address, all empty where it is none."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _is_link(scope: Scope, headers: Headers) -> bool:
    """Whether a person has followed a link from elsewhere to a page of the UI, which changes nothing."""
    is_page = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    return is_page and scope.get("method") == "GET" and not (_is_graphql(scope) and scope["query_string"])


def _is_graphql(scope: Scope) -> bool:
    return scope["path"].rstrip("/").endswith("/graphql")


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _changes(scope: Scope) -> bool:
    """Whether a query in the address has anything but queries in it."""
    for text in parse_qs(scope["query_string"].decode("latin-1")).get("query", ()):
        try:
            found = parse(text).definitions
        except (GraphQLError, RecursionError):
            return True
        if any(isinstance(each, OperationDefinitionNode) and each.operation != OperationType.QUERY for each in found):
            return True
    return False


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own: list[Any] = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *own]}
        await send(message)

    return sending
