"""A web server on this machine for as long as a block lasts."""

import contextlib
import http.server
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any


class LoopbackServer(http.server.ThreadingHTTPServer):
    """Serves on a free port.

    Attributes:
        released: set at the end, so that no reply hangs longer than its test.
    """

    def __init__(self, handler: type[http.server.BaseHTTPRequestHandler], host: str = "127.0.0.1") -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.released = threading.Event()
        super().__init__((host, 0), handler)

    @property
    def port(self) -> int:
        return self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), OSError):  # a connection that a reply broke, or a client that is gone
            super().handle_error(request, client_address)

    @contextlib.contextmanager
    def serving(self) -> Iterator[None]:
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            self.released.set()
            self.shutdown()
            thread.join()
            self.server_close()
