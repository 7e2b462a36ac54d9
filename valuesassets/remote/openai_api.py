"""OpenAI's interface, through its SDK: makes bodies of requests for any server that has it, and parses responses.

Servers vary: `omit` names the fields that one refuses, `parameters` those that it needs in addition.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from valuesassets.records.ends import end_of
from valuesassets.records.files import sha256_json
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.endpoints import ADDRESSES, Endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Status, Trial
from valuesassets.remote.cost import Usage
from valuesassets.remote.failures import Refusal, WrongAnswer, one_line, requested_wait_s
from valuesassets.remote.provider import Body, turns_of
from valuesassets.remote.replies import ParsedResponse, Reply, parse_reply, thought_first
from valuesassets.remote.shapes import as_count, as_object, as_text, read_response
from valuesassets.remote.shown_tokens import listed_tokens, shown_tokens

if TYPE_CHECKING:
    import httpx2
    import openai

PATHS = {"chat": "/chat/completions", "completions": "/completions"}
THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thought", "reasoning_details")
"""Fields in which servers return what a model thought."""
LARGEST_SEED = 2**31 - 1
NO_CREDIT = ("insufficient_quota", "insufficient balance", "billing", "credit balance", "payment required")
"""Words by which providers say that the credit is used up."""


class OpenAi:
    """OpenAI's interface for asking a server's models trials."""

    name, where_keys_are = "openai", "whoever runs the model"

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.who = "OpenAI" if endpoint.address == ADDRESSES["openai"] else endpoint.host

    def connect(self, address: str, key: str, timeout_s: float, transport: "httpx2.Client") -> Any:
        """OpenAI's client; see `Service`. Environment variables of the SDK do not change its requests."""
        import openai

        sdk = openai.OpenAI(
            api_key=key or "none", base_url=address, timeout=timeout_s, max_retries=0, http_client=transport
        )
        sdk.organization = sdk.project = None
        sdk._custom_headers = {}  # OPENAI_CUSTOM_HEADERS, which no argument overrides
        return sdk

    def close(self, sdk: Any) -> None:
        """See `Service`."""
        sdk.close()

    def refusal(self, error: Exception) -> Refusal | None:
        """See `Service`."""
        import openai

        if not isinstance(error, openai.APIStatusError):
            return None
        message = _refusal_text(error)
        return Refusal(
            error.status_code,
            message,
            requested_wait_s({name.lower(): value for name, value in error.response.headers.items()}),
            of_key=error.status_code in (401, 403),
            of_model=error.status_code == 404 and "model" in message.lower(),
            of_credit=error.status_code == 402 or any(words in message.lower() for words in NO_CREDIT),
        )

    def post(self, sdk: Any, model: str, body: Body) -> dict[str, Any]:
        """See `Provider`."""
        import httpx2

        fields = {name: value for name, value in body.items() if name != "api"}
        raw: httpx2.Response = sdk.post(PATHS[body["api"]], cast_to=httpx2.Response, body={"model": model, **fields})
        response = read_response(raw.text)
        if not isinstance(response, dict):
            raise WrongAnswer("the answer is not what OpenAI's interface promises")
        if response.get("error"):
            raise WrongAnswer(f"the answer is an error ({one_line(str(response['error']))})")
        return response

    def text_body(self, trial: Trial, readout: Generate, sample: int, prompting: Prompting) -> Body:
        """See `Provider`."""
        return self._ask_body(
            trial,
            prompting,
            max_tokens=readout.max_tokens + (prompting.max_reasoning_tokens or 0),
            temperature=readout.temperature,
            top_p=readout.top_p,
            seed=int(sha256_json([readout.seed, sample])[:12], 16) % LARGEST_SEED,
        )

    def parse_text(self, response: dict[str, Any], readout: Generate, prompting: Prompting) -> ParsedResponse:
        """See `Provider`."""
        choice, usage, version = choice_of(response), usage_of(response), version_of(response)
        refusal = explain_refusal(choice)
        if refusal is not None:
            return ParsedResponse(Status.REFUSED, refusal, model_version=version, usage=usage)
        message, finish = as_object(choice.get("message")), choice.get("finish_reason")
        text, parts = (message.get("content"), []) if self.endpoint.api == "chat" else (choice.get("text"), [])
        if isinstance(text, list):
            parts = [as_text(part) for part in text if as_object(part).get("type") == "thinking"]
            text = [part for part in text if as_object(part).get("type") != "thinking"]
        thought = "".join(parts) or thought_of(message)
        if not (thought or self._has_text(choice)):
            raise WrongAnswer("the answer is empty")
        reply = Reply(as_text(text), thought, end_of(finish), finish, usage, version)
        return parse_reply(reply, readout, prompting, self.who)

    def _has_text(self, choice: Mapping[str, Any]) -> bool:
        """Whether an answer holds a text, be it empty, in the form that the interface promises."""
        fields, name = (
            (as_object(choice.get("message")), "content") if self.endpoint.api == "chat" else (choice, "text")
        )
        text = fields.get(name, 0)
        return text is None or isinstance(text, str) or (isinstance(text, list) and all(map(as_object, text)))

    def tokens_body(self, trial: Trial, prompting: Prompting) -> Body:
        """See `Provider`."""
        top = self.endpoint.top
        settings = {"logprobs": True, "top_logprobs": top} if self.endpoint.api == "chat" else {"logprobs": top}
        return self._ask_body(trial, prompting, max_tokens=1, temperature=1.0, top_p=1.0, **settings)

    def parse_tokens(self, response: dict[str, Any]) -> ParsedResponse:
        """See `Provider`."""
        choice, usage, version = choice_of(response), usage_of(response), version_of(response)
        refusal = explain_refusal(choice)
        if refusal is not None:
            return ParsedResponse(Status.REFUSED, refusal, model_version=version, usage=usage)
        thought = thought_of(as_object(choice.get("message")))
        if usage.thought_tokens or thought:
            fault = thought_first(usage.thought_tokens or len(thought.split()))
            return ParsedResponse(Status.FAILED, fault, model_version=version, usage=usage)
        tokens = listed_tokens(choice.get("logprobs"))
        hides = tokens.hides(self._top)
        return ParsedResponse(
            Status.OK, model_version=version, usage=usage, log_probs=shown_tokens(tokens), may_hide_tokens=hides
        )

    @property
    def _top(self) -> int:
        """How many of the likeliest tokens a request asks for."""
        name = "top_logprobs" if self.endpoint.api == "chat" else "logprobs"
        return as_count(self.endpoint.parameters.get(name)) or self.endpoint.top

    def _ask_body(self, trial: Trial, prompting: Prompting, **settings: Any) -> Body:
        """A body that asks a trial with these settings, and the study's additions and omissions."""
        if self.endpoint.api == "completions":
            return self.body({"prompt": trial.prompt, **settings})
        system, turns = turns_of(trial, prompting)
        first_turns = [] if system is None else [("system", system)]
        return self.body({"messages": [{"role": r, "content": text} for r, text in [*first_turns, *turns]], **settings})

    def body(self, fields: Mapping[str, Any]) -> Body:
        """A body with these fields, and the study's additions and omissions."""
        merged = {"api": self.endpoint.api, **fields, **self.endpoint.parameters}
        return {name: value for name, value in merged.items() if name not in self.endpoint.omit}


def choice_of(response: Mapping[str, Any]) -> dict[str, Any]:
    """The one answer in a response; a WrongAnswer if there is none, or there are several."""
    choices = response.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise WrongAnswer("the answer holds no choice, or several")
    return choices[0]


def explain_refusal(choice: Mapping[str, Any]) -> str | None:
    """Why model or provider refuse an answer, in words; None where they do not."""
    refusal, end = as_object(choice.get("message")).get("refusal"), end_of(choice.get("finish_reason"))
    if refusal or end == "refusal":
        return f"the model refused ({one_line(as_text(refusal) or str(refusal or end))[:100]})"
    return "the provider's filter stopped the answer" if end == "filter" else None


def thought_of(message: Mapping[str, Any]) -> str:
    """What a model thought, if the server returns it separately; else empty."""
    return next((text for name in THOUGHTS if (text := as_text(message.get(name)))), "")


def version_of(response: Mapping[str, Any]) -> str | None:
    """The model's name in a response, with the server's fingerprint of its configuration if there is one."""
    names = (response.get("model"), response.get("system_fingerprint"))
    return "/".join(each for each in names if isinstance(each, str) and each) or None


def usage_of(response: Mapping[str, Any]) -> Usage:
    """The tokens of one response; the request itself was counted when it was sent."""
    counts = as_object(response.get("usage"))
    output = as_count(counts.get("completion_tokens"))
    thought = as_count(as_object(counts.get("completion_tokens_details")).get("reasoning_tokens"))
    return Usage(
        prompt_tokens=as_count(counts.get("prompt_tokens")),
        cached_tokens=as_count(as_object(counts.get("prompt_tokens_details")).get("cached_tokens")),
        output_tokens=max(output - thought, 0),
        thought_tokens=thought,
    )


def _refusal_text(error: "openai.APIStatusError") -> str:
    """The message of a refusal, with the code that providers add to it."""
    body = error.body if isinstance(error.body, dict) else {}
    words = [body.get("message"), body.get("code"), body.get("type")]
    text = " ".join(dict.fromkeys(str(each) for each in words if each))
    return one_line(text or error.response.text)
