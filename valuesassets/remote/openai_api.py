"""OpenAI's interface, through its SDK: what is sent to any server that has it, and what the response says.

vLLM, llama.cpp, Ollama and most providers have it, each in a dialect; what a server refuses is named by `omit`, what it
wants by `parameters`.
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
from valuesassets.remote.failures import Refusal, WrongAnswer, asked_wait_s, one_line
from valuesassets.remote.provider import Body, turns_of
from valuesassets.remote.replies import Reply, Said, said_of, thought_first
from valuesassets.remote.shapes import as_count, as_object, as_text, read_response
from valuesassets.remote.shown_tokens import listed_tokens, shown_tokens

if TYPE_CHECKING:
    import httpx2
    import openai

PATHS = {"chat": "/chat/completions", "completions": "/completions"}
THOUGHTS = ("reasoning_content", "reasoning", "thinking", "thought", "reasoning_details")
"""Where servers put what a model thought."""
LARGEST_SEED = 2**31 - 1
NO_CREDIT = ("insufficient_quota", "insufficient balance", "billing", "credit balance", "payment required")
"""Words by which providers say that nothing more is asked for nothing."""


class OpenAi:
    """A server with OpenAI's interface, as trials are put to a model of it."""

    name, where_keys_are = "openai", "whoever runs the model"

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.who = "OpenAI" if endpoint.address == ADDRESSES["openai"] else endpoint.host

    def connect(self, address: str, key: str, timeout_s: float, transport: "httpx2.Client") -> Any:
        """OpenAI's client; see `Service`. What its environment variables would add to requests is taken out."""
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
        said = _said(error)
        return Refusal(
            error.status_code,
            said,
            asked_wait_s({name.lower(): value for name, value in error.response.headers.items()}),
            of_key=error.status_code in (401, 403),
            of_model=error.status_code == 404 and "model" in said.lower(),
            of_credit=error.status_code == 402 or any(words in said.lower() for words in NO_CREDIT),
        )

    def post(self, sdk: Any, model: str, body: Body) -> dict[str, Any]:
        """See `Provider`."""
        import httpx2

        sent = {name: value for name, value in body.items() if name != "api"}
        raw: httpx2.Response = sdk.post(PATHS[body["api"]], cast_to=httpx2.Response, body={"model": model, **sent})
        response = read_response(raw.text)
        if not isinstance(response, dict):
            raise WrongAnswer("the answer is not what OpenAI's interface promises")
        if response.get("error"):
            raise WrongAnswer(f"the answer is an error ({one_line(str(response['error']))})")
        return response

    def to_write(self, trial: Trial, readout: Generate, sample: int, prompting: Prompting) -> Body:
        """See `Provider`."""
        return self.asked(
            trial,
            prompting,
            max_tokens=readout.max_tokens + (prompting.max_reasoning_tokens or 0),
            temperature=readout.temperature,
            top_p=readout.top_p,
            seed=int(sha256_json([readout.seed, sample])[:12], 16) % LARGEST_SEED,
        )

    def written(self, response: dict[str, Any], readout: Generate, prompting: Prompting) -> Said:
        """See `Provider`."""
        choice, usage, version = choice_of(response), usage_of(response), version_of(response)
        refused = refused_by(choice)
        if refused is not None:
            return Said(Status.REFUSED, refused, model_version=version, usage=usage)
        message, finish = as_object(choice.get("message")), choice.get("finish_reason")
        text, parts = (message.get("content"), []) if self.endpoint.api == "chat" else (choice.get("text"), [])
        if isinstance(text, list):
            parts = [as_text(part) for part in text if as_object(part).get("type") == "thinking"]
            text = [part for part in text if as_object(part).get("type") != "thinking"]
        thought = "".join(parts) or thought_of(message)
        reply = Reply(as_text(text), thought, end_of(finish), finish, usage, version)
        return said_of(reply, readout, prompting, self.who)

    def to_show(self, trial: Trial, prompting: Prompting) -> Body:
        """See `Provider`."""
        top = self.endpoint.top
        asked = {"logprobs": True, "top_logprobs": top} if self.endpoint.api == "chat" else {"logprobs": top}
        return self.asked(trial, prompting, max_tokens=1, temperature=1.0, top_p=1.0, **asked)

    def shown(self, response: dict[str, Any]) -> Said:
        """See `Provider`."""
        choice, usage, version = choice_of(response), usage_of(response), version_of(response)
        refused = refused_by(choice)
        if refused is not None:
            return Said(Status.REFUSED, refused, model_version=version, usage=usage)
        thought = thought_of(as_object(choice.get("message")))
        if usage.thought_tokens or thought:
            fault = thought_first(usage.thought_tokens or len(thought.split()))
            return Said(Status.FAILED, fault, model_version=version, usage=usage)
        listed = listed_tokens(choice.get("logprobs"))
        hides = listed.hides(self._top)
        return Said(Status.OK, model_version=version, usage=usage, shown=shown_tokens(listed), hides=hides)

    @property
    def _top(self) -> int:
        """How many of the likeliest tokens are asked for."""
        name = "top_logprobs" if self.endpoint.api == "chat" else "logprobs"
        return as_count(self.endpoint.parameters.get(name)) or self.endpoint.top

    def asked(self, trial: Trial, prompting: Prompting, **settings: Any) -> Body:
        """A body that asks a trial so; what a study adds or leaves out is added and left out."""
        if self.endpoint.api == "completions":
            return self.body({"prompt": trial.prompt, **settings})
        system, turns = turns_of(trial, prompting)
        said = [] if system is None else [("system", system)]
        return self.body({"messages": [{"role": r, "content": text} for r, text in [*said, *turns]], **settings})

    def body(self, fields: Mapping[str, Any]) -> Body:
        """A body of these fields."""
        merged = {"api": self.endpoint.api, **fields, **self.endpoint.parameters}
        return {name: value for name, value in merged.items() if name not in self.endpoint.omit}


def choice_of(response: Mapping[str, Any]) -> dict[str, Any]:
    """The one answer in a response.

    Raises:
        WrongAnswer: there is none, or more than one.
    """
    choices = response.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise WrongAnswer("the answer holds no choice, or several")
    return choices[0]


def refused_by(choice: Mapping[str, Any]) -> str | None:
    """Why whoever runs the model lets no answer through, in words; None where nobody minds."""
    refusal, end = as_object(choice.get("message")).get("refusal"), end_of(choice.get("finish_reason"))
    if refusal or end == "refusal":
        return f"the model refused ({one_line(as_text(refusal) or str(refusal or end))[:100]})"
    return "the provider's filter stopped the answer" if end == "filter" else None


def thought_of(message: Mapping[str, Any]) -> str:
    """What a model thought, where a server sets that apart; empty where it does not."""
    return next((text for name in THOUGHTS if (text := as_text(message.get(name)))), "")


def version_of(response: Mapping[str, Any]) -> str | None:
    """What the model calls itself in a response, with the server's fingerprint of how it is run where there is one."""
    given = (response.get("model"), response.get("system_fingerprint"))
    return "/".join(each for each in given if isinstance(each, str) and each) or None


def usage_of(response: Mapping[str, Any]) -> Usage:
    """The tokens of one response; the request itself was counted when it was sent."""
    counted = as_object(response.get("usage"))
    output = as_count(counted.get("completion_tokens"))
    thought = as_count(as_object(counted.get("completion_tokens_details")).get("reasoning_tokens"))
    return Usage(
        prompt_tokens=as_count(counted.get("prompt_tokens")),
        cached_tokens=as_count(as_object(counted.get("prompt_tokens_details")).get("cached_tokens")),
        output_tokens=max(output - thought, 0),
        thought_tokens=thought,
    )


def _said(error: "openai.APIStatusError") -> str:
    """What a refusal says, with the code that providers add to it."""
    body = error.body if isinstance(error.body, dict) else {}
    words = [body.get("message"), body.get("code"), body.get("type")]
    said = " ".join(dict.fromkeys(str(each) for each in words if each))
    return one_line(said or error.response.text)
