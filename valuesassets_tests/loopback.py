"""Servers on this machine for as long as a block lasts."""

import contextlib
import http.server
import socket
import socketserver
import sys
import threading
from collections.abc import Iterator
from typing import Any


class Loopback(socketserver.BaseServer):
    """What is served while a block lasts, on a free port."""

    request_queue_size = 128  # of five, as the standard library has it, Linux resets some of sixteen that come at once

    @property
    def port(self) -> int:
        return self.server_address[1]

    def stop(self) -> None:
        """Take no more."""
        self.shutdown()

    @contextlib.contextmanager
    def serving(self) -> Iterator[None]:
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            self.stop()
            thread.join()
            self.server_close()


class LoopbackServer(Loopback, http.server.ThreadingHTTPServer):
    """A web server.

    Attributes:
        released: set at the end, so that no reply hangs longer than its test.
    """

    def __init__(self, handler: type[http.server.BaseHTTPRequestHandler], host: str = "127.0.0.1") -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.released = threading.Event()
        super().__init__((host, 0), handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # a connection that a reply broke, or a client that is gone
            super().handle_error(request, client_address)

    def stop(self) -> None:
        self.released.set()
        super().stop()


def body_of(asked: http.server.BaseHTTPRequestHandler) -> bytes:
    """The body of a request.

    Raises:
        ConnectionError: the client was gone before all of it was sent, as one is that is killed.
    """
    length = int(asked.headers.get("Content-Length", 0))
    body = asked.rfile.read(length)
    if len(body) < length:
        raise ConnectionError(f"{len(body)} of {length} bytes of a request came")
    return body
