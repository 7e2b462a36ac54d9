"""A local OpenAI-compatible server around a loaded model, with which tests and `calibrate --readouts` compare routes.

It reads one row of one pass per question, without a trie, a tree or a cache.
"""

import contextlib
import http.server
import json
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from valuesassets.models.loaded_model import LoadedModel

MODEL = "reference"
ID = "token_id:"


class ServedModel(http.server.ThreadingHTTPServer):
    """Answers `/v1/completions` and `/v1/chat/completions` while it is `serving`, and counts its `requests`."""

    daemon_threads = True
    request_queue_size = 128  # with the default of 5, Linux resets some of sixteen simultaneous connections

    def __init__(self, loaded: LoadedModel, handler: "type[Handler] | None" = None) -> None:
        super().__init__(("127.0.0.1", 0), handler or Handler)
        self._loaded, self._lock, self.requests = loaded, threading.Lock(), 0

    @property
    def base_url(self) -> str:
        """The address that clients call."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    @contextlib.contextmanager
    def serving(self) -> "Iterator[ServedModel]":
        """A block in which the server answers."""
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            thread.join()
            self.server_close()

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        """The response to a request's body."""
        is_chat = "messages" in body
        prompt = "\n".join(turn["content"] for turn in body["messages"]) if is_chat else body["prompt"]
        ids = prompt if isinstance(prompt, list) else self._loaded.tokenizer.encode([prompt])[0]
        with self._lock:
            self.requests += 1
            rows = self._log_probs(ids, every_row=bool(body.get("echo")))
        if body.get("echo"):
            choice: dict[str, Any] = {"text": prompt, "logprobs": self._echoed(ids, rows)}
        else:
            choice = self._next_token(rows[-1], body, is_chat)
        usage = {"prompt_tokens": len(ids), "completion_tokens": int(body.get("max_tokens", 1))}
        return {"model": MODEL, "choices": [{"index": 0, "finish_reason": "length", **choice}], "usage": usage}

    def _next_token(self, row: torch.Tensor, body: dict[str, Any], is_chat: bool) -> dict[str, Any]:
        """The likeliest next token, and the log-probabilities that the request asks for."""
        requested_ids = body.get("logprob_token_ids") or []
        top = torch.topk(row, min(int(body.get("top_logprobs") or body.get("logprobs") or 1), len(row)))
        tokens = top.indices.tolist()
        text = self._text(tokens[0])
        if requested_ids:
            return {"text": text, "logprobs": {"top_logprobs": [{f"{ID}{i}": float(row[i]) for i in requested_ids}]}}
        likeliest = [(self._text(i), value) for i, value in zip(tokens, top.values.tolist(), strict=True)]
        if is_chat:
            listed = [{"token": token, "logprob": value} for token, value in likeliest]
            first = {"token": text, "logprob": likeliest[0][1], "top_logprobs": listed}
            logprobs = {"logprobs": {"content": [first]}} if body.get("logprobs") else {}
            return {"message": {"role": "assistant", "content": text}, **logprobs}
        return {"text": text, **({"logprobs": {"top_logprobs": [dict(likeliest)]}} if body.get("logprobs") else {})}

    def _echoed(self, ids: Sequence[int], rows: torch.Tensor) -> dict[str, Any]:
        """The tokens of the prompt, each with its log-probability given those before it."""
        values = [None, *(float(rows[place, token]) for place, token in enumerate(ids[1:]))]
        return {"tokens": [self._text(token) for token in ids], "token_logprobs": values}

    def _text(self, token: int) -> str:
        """A token's text as servers write it: with its leading space, or a byte by its name, as <0x0A>."""
        tokenizer = self._loaded.tokenizer
        name = str(tokenizer.hf.convert_ids_to_tokens(token))
        if name.startswith("<0x"):
            return name
        anchor = tokenizer.encode(["1"])[0]
        return tokenizer.continuation_text(anchor, [token])

    def _log_probs(self, ids: Sequence[int], every_row: bool) -> torch.Tensor:
        with torch.inference_mode():
            logits = self._loaded.model(torch.tensor([list(ids)])).logits[0]
        return torch.log_softmax((logits if every_row else logits[-1:]).double(), dim=-1)


class Handler(http.server.BaseHTTPRequestHandler):
    """Reads a request and sends the response."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Answer one request."""
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.answer(body)

    def answer(self, body: dict[str, Any]) -> None:
        """Answer a request, given its body."""
        server = self.server
        assert isinstance(server, ServedModel)  # noqa: S101
        self.say(200, server.complete(body))

    def say(self, status: int, response: Any, headers: dict[str, str] | None = None) -> None:
        """Send a response: text as it is, anything else as JSON."""
        content = response.encode() if isinstance(response, str) else json.dumps(response).encode()
        self.send_response_only(status)
        all_headers = {"Content-Type": "application/json", "Content-Length": str(len(content)), **(headers or {})}
        for name, value in all_headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log."""
