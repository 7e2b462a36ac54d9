"""Downloads whole files: busy servers are tried again, and a partial file is an error."""

import os
import re
import time
from collections.abc import Callable
from contextlib import suppress

import requests
from requests import exceptions as failures
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError, InvalidHeader
from urllib3.util import Retry, parse_url

from valuesassets.records.errors import PdfError

MOST_BYTES = 200 * 2**20  # of a questionnaire
MOST_REDIRECTS, LONGEST_PAUSE_S = 10, 120.0
PUT_IT_THERE = "open the link in a browser, log in where it asks for it, and put the PDF into pdf_dir"

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_PROXIES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "valuesassets"}


class _Lost(Exception):
    """An attempt that failed for a temporary reason; `wait_s` is the pause that the server asks for."""

    wait_s = 0.0


def download(
    url: str,
    pause: Callable[[float], None] = time.sleep,
    attempts: int = 4,
    timeout_s: float = 60.0,
    most_bytes: int = MOST_BYTES,
) -> bytes:
    """The whole file at an address, with the proxies and certificates that the environment names.

    Busy servers (408, 429, 5xx) and lost connections are tried again from the first byte, after a pause that doubles or
    that the server asks for.

    Args:
        url: https, or http of this machine.
        attempts: number of requests.
        timeout_s: the longest silence of the server.

    Raises:
        PdfError: not available, refused, or too large.
    """
    why = ""
    for attempt in range(1, attempts + 1):
        try:
            return _attempt(url, timeout_s, most_bytes)
        except _Lost as lost:
            why, asked_s = str(lost), lost.wait_s
        if attempt < attempts:
            pause(min(max(2.0**attempt, asked_s), LONGEST_PAUSE_S))
    raise PdfError(
        f"{public_address(url)}: not to be had in {attempts} attempts ({why}); try later, or put the PDF into pdf_dir"
    )


def public_address(url: str) -> str:
    """An address for messages and records, without user and password.

    >>> public_address("https://me:secret@example.org/dbk/7")
    'https://example.org/dbk/7'
    """
    return re.sub(r"//[^/?#]*@", "//", url)


class _SafeWeb(HTTPAdapter):
    """Reaches https servers, and this machine without a proxy; every redirect is checked like a first address."""

    is_on_the_web = False
    led_to: str | None = None  # address of the latest redirect

    def send(self, request: requests.PreparedRequest, *args, **more) -> requests.Response:  # type: ignore[override]
        """The answer of one server.

        Raises:
            InvalidURL: plain http, another scheme, or a redirect from the web to this machine.
        """
        url = request.url or ""
        try:
            request.prepare_url(url, None)
        except ValueError:
            raise failures.InvalidURL(url) from None
        address = parse_url(request.url or "")
        is_here = address.host in _LOOPBACK
        if (is_here and self.is_on_the_web) or address.scheme not in ({"https", "http"} if is_here else {"https"}):
            raise failures.InvalidURL(url)
        self.is_on_the_web = not is_here
        try:
            answer = super().send(request, *args, **(more | ({"proxies": {}} if is_here else {})))
        except (failures.InvalidURL, failures.InvalidSchema):  # the address itself was checked above
            raise failures.InvalidProxyURL from None
        if answer.is_redirect:
            self.led_to, answer._content = answer.headers["Location"], b""  # its body may be as long as it likes
            answer.close()
        return answer


def _attempt(url: str, timeout_s: float, most_bytes: int) -> bytes:
    web, body = _SafeWeb(), bytearray()
    with requests.Session() as session:
        session.adapters.clear()
        session.mount("", web)
        session.max_redirects = MOST_REDIRECTS
        try:
            with session.get(url, headers=_HEADERS, timeout=timeout_s, stream=True) as answer:
                if answer.status_code != 200:
                    raise _refusal(url, answer)
                length = answer.headers.get("Content-Length", "")
                chunks = answer.iter_content(2**16)
                while len(body) <= most_bytes and not (length.isdecimal() and int(length[:15]) > most_bytes):
                    if not (chunk := next(chunks, b"")):
                        return bytes(body)
                    body += chunk
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            raise _failure(url, error, web.led_to, timeout_s) from None
    raise PdfError(
        f"{public_address(url)}: the file has more than {most_bytes / 2**20:g} MiB, no questionnaire has; check the "
        "document number or use pdf_dir"
    )


def _refusal(url: str, answer: requests.Response) -> Exception:
    status = answer.status_code
    if _may_pass(status):
        lost = _Lost(f"the server answers {status}")
        with suppress(InvalidHeader, ValueError, OverflowError):  # no number and no date, or one of another age
            lost.wait_s = Retry().parse_retry_after(answer.headers.get("Retry-After", "0"))
        return lost
    what_to_do = PUT_IT_THERE if status in (401, 403) else "check the document number or use pdf_dir"
    return PdfError(f"{public_address(url)}: the server answers {status}; {what_to_do}")


def _may_pass(status: int) -> bool:
    """Whether a refusal may be temporary: too slow, too many requests, or a fault of the server."""
    return status in (408, 429) or status >= 500


def _failure(url: str, error: Exception, led_to: str | None, timeout_s: float) -> Exception:
    """The error for an attempt without an answer, in our words: a library's message may hold a proxy's password."""
    message = str(error)
    refused = re.search(r"Tunnel connection failed: (\d{3})", message)
    proxy = next((name for name in _PROXIES if os.environ.get(name)), "the system's settings")
    if isinstance(error, failures.InvalidProxyURL) or (refused and not _may_pass(int(refused[1]))):
        problem = f"{proxy} names no proxy that can be used, http://host:port was expected"
        problem = f"the proxy that {proxy} names answers {refused[1]}" if refused else problem
        why = f"{problem}; correct or unset {proxy}, or put the PDF into pdf_dir"
    elif isinstance(error, ValueError) and not isinstance(error, failures.InvalidHeader):
        why = "only https addresses are fetched (and http ones of this machine); correct url under questionnaires in"
        why += " the study"
        if led_to is not None:
            target = ascii(public_address(led_to).partition("?")[0][:100])  # no control characters, no keys
            why = f"the server redirects to {target}, and only https addresses of the web are followed; {PUT_IT_THERE}"
    elif isinstance(error, failures.TooManyRedirects):
        why = f"the server redirects more than {MOST_REDIRECTS} times; {PUT_IT_THERE}"
    elif "CERTIFICATE_VERIFY_FAILED" in message:
        why = (
            "the server's certificate cannot be verified; let REQUESTS_CA_BUNDLE name your organisation's "
            "certificates, or put the PDF into pdf_dir"
        )
    elif not isinstance(error, requests.RequestException | HTTPError):
        why = f"{message}; correct or unset REQUESTS_CA_BUNDLE and CURL_CA_BUNDLE"
    else:
        reason, is_proxy = _reason(error, timeout_s), isinstance(error, failures.ProxyError)
        return _Lost(f"the proxy that {proxy} names cannot be reached: {reason}" if is_proxy else reason)
    return PdfError(f"{public_address(url)}: {why}")


def _reason(error: BaseException, timeout_s: float) -> str:
    """Why a connection failed, if possible in the system's words."""
    inner: object = error
    while isinstance(inner, BaseException):
        if isinstance(inner, requests.Timeout | TimeoutError):
            return f"no answer within {timeout_s:g} s"
        if isinstance(inner, OSError) and inner.errno is not None and inner.strerror:
            return inner.strerror
        causes = (getattr(inner, "reason", None), *inner.args, inner.__cause__)
        inner = next((cause for cause in causes if isinstance(cause, BaseException)), None)
    return "the connection was lost, or the answer broke off"
