"""Protects the UI's server from other web pages, since it has no users and any page can send requests to it.

A browser says where a request comes from: `Host` is the server's name in the page's address, `Origin` is the page, and
`Sec-Fetch-Site` says whether the two belong together. Programs send neither of the last two and are let through: who
can start a program on this machine needs no web page.
"""

from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from graphql import GraphQLError, OperationDefinitionNode, OperationType, parse
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from valuesassets.records.pages import UI_VARIABLE, ui_address

HOSTS = {"127.0.0.1", "localhost", "::1"}
"""Names of this server; another name means that a foreign page has led the browser here (DNS rebinding)."""
OWN_SITES = {"same-origin", "none"}
"""Allowed values of `Sec-Fetch-Site`: the UI's own page, or an address that a person typed."""
SAFE = {"GET", "HEAD", "OPTIONS"}
JSON = "application/json"
HEADERS = {"X-Frame-Options": "DENY", "Content-Security-Policy": "frame-ancestors 'none'"}
"""Headers that forbid frames: in a frame of another page, a person could click the UI's buttons unknowingly."""


class OwnPagesOnly:
    """Refuses requests of foreign pages, mutations by GET, and bodies other than JSON; see above."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or refuse a request; a refused WebSocket is closed before it is accepted."""
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
    """Why a request is refused; None where it is answered."""
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
        return "requests that change something need POST"
    return None


def _split(address: str) -> SplitResult:
    """The parts of an address; all empty for a malformed one."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


def _is_link(scope: Scope, headers: Headers) -> bool:
    """Whether a person followed a link from elsewhere to a page of the UI, which changes nothing."""
    is_page = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
    return is_page and scope.get("method") == "GET" and not (_is_graphql(scope) and scope["query_string"])


def _is_graphql(scope: Scope) -> bool:
    return scope["path"].rstrip("/").endswith("/graphql")


def _has_body(headers: Headers) -> bool:
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


def _changes(scope: Scope) -> bool:
    """Whether the address holds a GraphQL operation that is not a query."""
    for text in parse_qs(scope["query_string"].decode("latin-1")).get("query", ()):
        try:
            definitions = parse(text).definitions
        except (GraphQLError, RecursionError):
            return True
        if any(
            isinstance(definition, OperationDefinitionNode) and definition.operation != OperationType.QUERY
            for definition in definitions
        ):
            return True
    return False


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            extra: list[Any] = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", ()), *extra]}
        await send(message)

    return sending
