"""A server with OpenAI's interface on this machine, with faults where a test asks."""

import json
import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets_tests.loopback import LoopbackServer, body_of
from valuesassets_tests.remote.loopback_gemini import GeminiHandler

KEY = "sk-loopback-0123456789"
MODEL = "tiny-chat-0101"
CHAT, TEXT = Prompting(style="chat"), Prompting()

Fault = Callable[["OpenAiHandler"], None]


class LoopbackOpenAi(LoopbackServer):
    """A server that answers prompts.

    Attributes:
        bodies: of every request, in order, refused ones included.
        paid: how many requests were answered.
    """

    def __init__(
        self,
        answer: Callable[[dict[str, Any]], Any] = lambda body: written("Seven."),
        faults: Mapping[int, Fault] | None = None,
        wait_s: float = 0.0,
        key: str | None = KEY,
    ) -> None:
        super().__init__(OpenAiHandler)
        self.answer, self.faults, self.wait_s, self.key = answer, dict(faults or {}), wait_s, key
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paid, self.most_at_once, self.at_once = 0, 0, 0
        self.counting = threading.Lock()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def endpoint(self, **settings: Any) -> Endpoint:
        given = {"provider": "openai", "base_url": self.base_url, "key_env": "THE_KEY", "attempts": 1, "concurrency": 1}
        return Endpoint(**given | settings)

    def enter(self, by: int) -> None:
        with self.counting:
            self.at_once += by
            self.most_at_once = max(self.most_at_once, self.at_once)


class OpenAiHandler(GeminiHandler):
    """Reads a request, counts it, and answers it or commits the fault asked for."""

    server: LoopbackOpenAi  # type: ignore[assignment]

    def do_POST(self) -> None:  # noqa: N802  # so named in the standard library
        body = json.loads(body_of(self))
        server = self.server
        with server.counting:
            server.bodies.append(body | {"path": self.path})
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            fault = server.faults.get(len(server.bodies))
        server.enter(1)
        try:
            time.sleep(server.wait_s)
            if server.key and self.headers.get("Authorization") != f"Bearer {server.key}":
                self.say(401, {"error": {"message": f"Incorrect API key: {self.headers.get('Authorization')}"}})
            elif fault is not None:
                fault(self)
            else:
                with server.counting:
                    server.paid += 1
                self.say(200, server.answer(body))
        finally:
            server.enter(-1)


def written(text: str | None, finish: str = "stop", model: str = MODEL, **message: Any) -> dict[str, Any]:
    """A chat's response of 50 tokens to a prompt of 1000, 400 of them seen before."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    return counted({"model": model, "choices": [choice]})


def counted(response: dict[str, Any], thought: int = 0) -> dict[str, Any]:
    usage = {"prompt_tokens": 1000, "completion_tokens": 50 + thought, "prompt_tokens_details": {"cached_tokens": 400}}
    return response | {"usage": usage | {"completion_tokens_details": {"reasoning_tokens": thought}}}


def showing(probs: Mapping[str, float | None], model: str = MODEL) -> dict[str, Any]:
    """A chat's response with the probabilities of its first token."""
    listed = [{"token": token, "logprob": p if p is None else math.log(p)} for token, p in probs.items()]
    first = {"token": "1", "logprob": -1.0, "top_logprobs": listed}
    response = written("1", model=model)
    response["choices"][0]["logprobs"] = {"content": [first]}
    return response


def refusing(status: int, message: str = "try later", headers: Mapping[str, str] | None = None, **more: Any) -> Fault:
    """An error as OpenAI words it."""
    return lambda handler: handler.say(status, {"error": {"message": message, **more}}, headers)


def saying(status: int, body: Any) -> Fault:
    """Any other response."""
    return lambda handler: handler.say(status, body)
