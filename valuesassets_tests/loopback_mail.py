"""A mail server on this machine for as long as a block lasts."""

import contextlib
import socketserver
import threading
from collections.abc import Iterator


class LoopbackMail(socketserver.ThreadingTCPServer):
    """Takes every letter.

    Attributes:
        letters: what came between DATA and its end.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        self.letters: list[str] = []
        super().__init__(("127.0.0.1", 0), _Conversation)

    @property
    def port(self) -> int:
        return self.server_address[1]

    @contextlib.contextmanager
    def serving(self) -> Iterator[None]:
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            thread.join()
            self.server_close()


class _Conversation(socketserver.StreamRequestHandler):
    server: LoopbackMail

    def handle(self) -> None:
        self._say("220 loopback")
        for line in self.rfile:
            word = line.decode().split(" ")[0].strip().upper()
            if word == "DATA":
                self._say("354 go on")
                self.server.letters.append("".join(self._letter()))
            self._say("221 bye" if word == "QUIT" else "250 loopback")
            if word == "QUIT":
                return

    def _letter(self) -> Iterator[str]:
        for line in self.rfile:
            if line == b".\r\n":
                return
            yield line.decode()

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())
