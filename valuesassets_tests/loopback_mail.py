"""A mail server on this machine for as long as a block lasts."""

import socketserver
from collections.abc import Iterator

from valuesassets_tests.loopback import Loopback


class LoopbackMail(Loopback, socketserver.ThreadingTCPServer):
    """Takes every letter.

    Attributes:
        letters: what came between DATA and its end.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        self.letters: list[str] = []
        super().__init__(("127.0.0.1", 0), _Conversation)


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
