"""Gemini on this machine: generateContent as Google's SDK uses it, with faults where a test asks."""

import http.server
import json
import os
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from valuesassets_tests.loopback import LoopbackServer, body_of

KEY = "AIza-loopback-0123456789"
MODEL = "gemini-3.8-flash"

Fault = Callable[["GeminiHandler", "LoopbackGemini"], None]
"""Answers one request in place of the server."""


class LoopbackGemini(LoopbackServer):
    """A server that answers prompts.

    Attributes:
        requests: how often each operation was asked for.
        bodies: of every request for an answer, in order, refused ones included.
        keys: every key that was sent.
    """

    def __init__(
        self,
        faults: Mapping[tuple[str, int], Fault] | None = None,
        handler: "type[GeminiHandler] | None" = None,
        answer: Callable[[dict[str, Any]], dict[str, Any]] = lambda body: candidate("Seven.", thoughts=0),
    ) -> None:
        super().__init__(handler or GeminiHandler)
        self.faults, self._answer = dict(faults or {}), answer
        self.requests: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self.counting = threading.Lock()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer_to(self, body: dict[str, Any]) -> dict[str, Any]:
        """What a body is answered."""
        return self._answer(body)

    @property
    def total(self) -> int:
        """Number of requests of any kind."""
        return self.requests.total()


class GeminiHandler(http.server.BaseHTTPRequestHandler):
    """Reads a request, counts it, and answers it or commits the fault asked for."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: LoopbackGemini

    def do_POST(self) -> None:
        body = json.loads(body_of(self))
        self.server.bodies.append(body)
        self.body = body
        self.serve("generate", self.generate)

    def serve(self, operation: str, answer: Callable[[], None]) -> None:
        server = self.server
        with server.counting:
            server.requests[operation] += 1
            fault = server.faults.get((operation, server.requests[operation]))
        key = self.headers.get("x-goog-api-key")
        if operation != "chunk":  # the address of an upload is a secret of its own
            server.keys.add(key)
        if key != KEY and operation != "chunk":
            self.refuse(400, "API key not valid. Please pass a valid API key.", "API_KEY_INVALID")
        elif fault is not None:
            fault(self, server)
        else:
            answer()

    def generate(self) -> None:
        if self.path != f"/v1beta/models/{MODEL}:generateContent":
            model = self.path.removeprefix("/v1beta/").partition(":")[0]
            self.refuse(404, f"{model} is not found for API version v1beta")
        else:
            self.say(200, self.server.answer_to(self.body))

    def refuse(self, code: int, message: str, reason: str = "", headers: Mapping[str, str] | None = None) -> None:
        details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
        self.say(code, {"error": {"code": code, "message": message, "status": "X", "details": details}}, headers)

    def say(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response_only(status)
        sent = {"Content-Type": "application/json", "Content-Length": str(len(content)), **(headers or {})}
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        pass


def candidate(text: str, finish: str = "STOP", thoughts: int = 7, thought: str = "") -> dict[str, Any]:
    """An answer of generateContent, of 50 tokens beside those of thought, to a prompt of 1000, 400 seen before."""
    parts = [{"text": thought, "thought": True}] if thought else []
    parts += [{"text": text}] if text else []
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish, "index": 0}],
        "modelVersion": f"{MODEL}-001",
        "usageMetadata": {
            "promptTokenCount": 1000,
            "cachedContentTokenCount": 400,
            "candidatesTokenCount": 50,
            "thoughtsTokenCount": thoughts,
        },
    }


def refusal(code: int, message: str = "try later", reason: str = "", headers: Mapping[str, str] | None = None) -> Fault:
    """An error as Google words it."""
    return lambda handler, server: handler.refuse(code, message, reason, headers)


def saying(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Fault:
    """Any other answer: an error page, an answer cut short."""
    return lambda handler, server: handler.say(status, body, headers)


def reset(handler: GeminiHandler, server: LoopbackGemini) -> None:
    """The connection breaks with a TCP reset."""
    handler.close_connection = True
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os.close(handler.connection.detach())


def hang(handler: GeminiHandler, server: LoopbackGemini) -> None:
    """No answer at all."""
    handler.close_connection = True
    server.released.wait(30)
