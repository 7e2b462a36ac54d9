"""Gemini's interface, through Google's SDK: what is sent for an answer to a trial, and what the response says."""

import json
from typing import TYPE_CHECKING, Any

from valuesassets.records.files import sha256_json
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Status, Trial
from valuesassets.remote.cost import Usage
from valuesassets.remote.failures import Refusal, WrongAnswer, asked_wait_s, one_line
from valuesassets.remote.provider import Body, turns_of
from valuesassets.remote.replies import Said, cut, require_characters

if TYPE_CHECKING:
    import httpx2
    from google.genai.errors import APIError
    from google.genai.types import GenerateContentResponse

ENDED = {"STOP", "FINISH_REASON_UNSPECIFIED"}
REFUSED = {"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR"}
"""Reasons for which an answer ends: the model's own, and those of who runs it."""
LARGEST_SEED = 2**31 - 1
OURS = {"sdk_http_response", "automatic_function_calling_history", "parsed"}
"""What the SDK adds to a response, headers among it."""


class GeminiService:
    """Gemini as requests reach it."""

    name, who, where_keys_are = "gemini", "Gemini", "https://aistudio.google.com/apikey"

    def connect(self, address: str, key: str, timeout_s: float, transport: "httpx2.Client") -> Any:
        """Google's client; see `Service`."""
        from google import genai
        from google.genai.types import HttpOptions

        options = HttpOptions(
            base_url=address,
            api_version="v1beta",
            timeout=round(timeout_s * 1000),
            httpx_client=transport,
            async_client_args={"trust_env": False},
        )
        return genai.Client(vertexai=False, api_key=key, http_options=options)

    def close(self, sdk: Any) -> None:
        """See `Service`."""
        sdk.close()

    def refusal(self, error: Exception) -> Refusal | None:
        """See `Service`."""
        from google.genai.errors import APIError

        if not isinstance(error, APIError):
            return None
        said, details = one_line(error.message or error.status or ""), _details(error)
        headers: Any = getattr(error.response, "headers", None) or {}
        delay = next((str(each["retryDelay"]).removesuffix("s") for each in details if "retryDelay" in each), "")
        return Refusal(
            error.code,
            said,
            asked_wait_s(headers, delay),
            of_key=error.code in (401, 403) or any(each.get("reason") == "API_KEY_INVALID" for each in details),
            of_model=error.code == 404 and "models/" in said,
        )


class Gemini(GeminiService):
    """Gemini as trials are put to its models.

    Stop texts stay here: of an answer that ends by one, it says the same as of one that the model ended.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    def post(self, sdk: Any, model: str, body: Body) -> dict[str, Any]:
        """See `Provider`."""
        config = body["config"] | {"automatic_function_calling": {"disable": True}}
        response = sdk.models.generate_content(model=model, contents=body["contents"], config=config)
        candidates = response.candidates or []
        parts = [part for each in candidates if each.content for part in each.content.parts or ()]
        require_characters(*(part.text or "" for part in parts))
        return json.loads(response.model_dump_json(exclude_none=True, exclude=OURS))

    def to_write(self, trial: Trial, readout: Generate, sample: int, prompting: Prompting) -> Body:
        """See `Provider`."""
        most_thought = prompting.max_reasoning_tokens or 0
        thinks = {"include_thoughts": True} if prompting.thinking == "on" else {}
        config = {
            "max_output_tokens": readout.max_tokens + most_thought,
            "temperature": readout.temperature,
            "top_p": readout.top_p,
            "seed": int(sha256_json([readout.seed, sample])[:12], 16) % LARGEST_SEED,
            "thinking_config": thinks | {"thinking_budget": most_thought},
        }
        return self._body(trial, prompting, config)

    def written(self, response: dict[str, Any], readout: Generate, prompting: Prompting) -> Said:
        """See `Provider`."""
        read = _validated(response)
        usage, version, finish = usage_of(read), read.model_version, _finish(read)
        refused = _refused(read, finish)
        if refused is not None:
            return Said(Status.REFUSED, refused, model_version=version, usage=usage)
        candidate = read.candidates[0] if read.candidates else None
        parts = ((candidate.content and candidate.content.parts) or []) if candidate else []
        thought = "".join(part.text or "" for part in parts if part.thought)
        text = "".join(part.text or "" for part in parts if not part.thought)
        require_characters(text, thought)
        fault = _fault(finish, text, usage, readout, prompting)
        if fault is not None:
            return Said(Status.FAILED, fault, model_version=version, usage=usage)
        if not text:
            raise WrongAnswer("the answer is empty")
        text, end = cut(text, readout.stop, "end" if finish in ENDED else "length")
        reasoned = (thought, usage.thought_tokens) if prompting.thinking == "on" else (None, None)
        return Said(Status.OK, None, text, end, usage.output_tokens, *reasoned, version, usage)

    def to_show(self, trial: Trial, prompting: Prompting) -> Body:
        """See `Provider`."""
        config = {
            "max_output_tokens": 1,
            "temperature": 1.0,
            "top_p": 1.0,
            "response_logprobs": True,
            "logprobs": self.endpoint.top,
            "thinking_config": {"thinking_budget": 0},
        }
        return self._body(trial, prompting, config)

    def shown(self, response: dict[str, Any]) -> Said:
        """See `Provider`."""
        read = _validated(response)
        usage, version = usage_of(read), read.model_version
        refused = _refused(read, _finish(read))
        if refused is not None:
            return Said(Status.REFUSED, refused, model_version=version, usage=usage)
        result = read.candidates[0].logprobs_result if read.candidates else None
        top = ((result and result.top_candidates) or []) if result else []
        first = (top[0].candidates or []) if top else []
        if not first:
            raise WrongAnswer("the answer shows no probabilities")
        tokens = {each.token or "": float(each.log_probability or 0.0) for each in first}
        return Said(Status.OK, model_version=version, usage=usage, shown=tokens)

    def _body(self, trial: Trial, prompting: Prompting, config: dict[str, Any]) -> Body:
        system, turns = turns_of(trial, prompting)
        said = [{"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]} for role, text in turns]
        config |= {"system_instruction": system} if system else {}
        config |= self.endpoint.parameters
        return {"contents": said, "config": {name: v for name, v in config.items() if name not in self.endpoint.omit}}


def usage_of(response: "GenerateContentResponse") -> Usage:
    """The tokens of one answer; the request itself was counted when it was sent."""
    counted = response.usage_metadata
    if counted is None:
        return Usage()
    return Usage(
        prompt_tokens=counted.prompt_token_count or 0,
        cached_tokens=counted.cached_content_token_count or 0,
        output_tokens=counted.candidates_token_count or 0,
        thought_tokens=counted.thoughts_token_count or 0,
    )


def _validated(response: dict[str, Any]) -> "GenerateContentResponse":
    from google.genai.types import GenerateContentResponse

    return GenerateContentResponse.model_validate_json(json.dumps(response))


def _finish(response: "GenerateContentResponse") -> str:
    candidate = response.candidates[0] if response.candidates else None
    return candidate.finish_reason.name if candidate and candidate.finish_reason else "STOP"


def _refused(response: "GenerateContentResponse", finish: str) -> str | None:
    """Why whoever runs the model lets no answer through, in words; None where nobody minds."""
    blocked = response.prompt_feedback and response.prompt_feedback.block_reason
    if blocked:
        return f"Gemini refused the prompt ({blocked.name})"
    return f"Gemini stopped ({finish})" if finish in REFUSED else None


def _fault(finish: str, text: str, usage: Usage, readout: Generate, prompting: Prompting) -> str | None:
    """Why a response is no answer, in words; None where it is one, or says nothing."""
    if finish not in ENDED | {"MAX_TOKENS"}:
        return f"Gemini stopped ({finish}); run it again later"
    if prompting.thinking == "off" and usage.thought_tokens:
        return (
            f"the model thought ({usage.thought_tokens} tokens) though thinking = 'off'; say thinking = 'on', or use a "
            "model that can answer at once"
        )
    if finish == "MAX_TOKENS" and not text:
        return (
            f"no answer within {readout.max_tokens + (prompting.max_reasoning_tokens or 0)} tokens, "
            f"{usage.thought_tokens} of thought among them; raise max_tokens, or max_reasoning_tokens where it thinks"
        )
    return None


def _details(error: "APIError") -> list[dict[str, Any]]:
    """The notes that Google adds to a refusal."""
    body = error.details.get("error") if isinstance(error.details, dict) else None
    notes = body.get("details") if isinstance(body, dict) else None
    return [each for each in notes if isinstance(each, dict)] if isinstance(notes, list) else []
