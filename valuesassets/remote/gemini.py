"""Gemini's interface, through Google's SDK: makes bodies of requests, and parses responses."""

import contextlib
import json
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from valuesassets.records.ends import end_of
from valuesassets.records.files import sha256_json
from valuesassets.records.readouts import Generate
from valuesassets.records.settings.endpoints import Endpoint
from valuesassets.records.settings.prompting import Prompting
from valuesassets.records.trials import Status, Trial
from valuesassets.remote.authorities import trusted_authorities
from valuesassets.remote.cost import Usage
from valuesassets.remote.failures import Refusal, one_line, requested_wait_s
from valuesassets.remote.provider import Body, turns_of
from valuesassets.remote.replies import ParsedResponse, Reply, parse_reply, thought_first
from valuesassets.remote.shapes import as_count, require_storable
from valuesassets.remote.shown_tokens import Listed, Token, shown_tokens

if TYPE_CHECKING:
    import httpx2
    from google.genai.errors import APIError
    from google.genai.types import GenerateContentResponse

LARGEST_SEED = 2**31 - 1
OURS = {"sdk_http_response", "automatic_function_calling_history", "parsed"}
"""Fields that the SDK adds to a response, such as headers."""


class GeminiService:
    """Gemini's interface for sending requests."""

    name, who, where_keys_are = "gemini", "Gemini", "https://aistudio.google.com/apikey"

    def connect(self, address: str, key: str, timeout_s: float, transport: "httpx2.Client") -> Any:
        """Google's client; see `Service`."""
        from google import genai
        from google.genai.types import HttpOptions

        # The SDK warns of unknown ends of an answer and passes them on; the answer's reason names them.
        warnings.filterwarnings("ignore", r".* is not a valid \w+$", UserWarning, r"google\.genai\.")
        # The SDK makes clients besides that nothing here uses, each of which would read the authorities anew.
        authorities = trusted_authorities(heeds_environment=False)
        options = HttpOptions(
            base_url=address,
            api_version="v1beta",
            timeout=round(timeout_s * 1000),
            httpx_client=transport,
            async_client_args={"trust_env": False, "verify": authorities, "ssl": authorities},
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
        message, details = one_line(str(error.message or error.status or "")), _details(error)
        code = error.code if isinstance(error.code, int) else 500
        headers: Any = getattr(error.response, "headers", None) or {}
        delay = next((str(each["retryDelay"]).removesuffix("s") for each in details if "retryDelay" in each), "")
        return Refusal(
            code,
            message,
            requested_wait_s(headers, delay),
            of_key=code in (401, 403) or any(each.get("reason") == "API_KEY_INVALID" for each in details),
            of_model=code == 404 and "models/" in message,
        )


class Gemini(GeminiService):
    """Gemini's interface for asking its models trials.

    Stop texts are applied here: Gemini reports the same end for an answer that a stop text ended and for any other.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    def post(self, sdk: Any, model: str, body: Body) -> dict[str, Any]:
        """See `Provider`."""
        config = body["config"] | {"automatic_function_calling": {"disable": True}}
        with parsing():
            response = sdk.models.generate_content(model=model, contents=body["contents"], config=config)
            content = response.model_dump(mode="json", exclude_none=True, exclude=OURS)
        require_storable(content)
        return content

    def text_body(self, trial: Trial, readout: Generate, sample: int, prompting: Prompting) -> Body:
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

    def parse_text(self, response: dict[str, Any], readout: Generate, prompting: Prompting) -> ParsedResponse:
        """See `Provider`."""
        parsed = _validated(response)
        usage, version, finish = usage_of(parsed), parsed.model_version, _finish(parsed)
        refusal = _explain_refusal(parsed, finish)
        if refusal is not None:
            return ParsedResponse(Status.REFUSED, refusal, model_version=version, usage=usage)
        candidate = parsed.candidates[0] if parsed.candidates else None
        parts = ((candidate.content and candidate.content.parts) or []) if candidate else []
        thought = "".join(part.text or "" for part in parts if part.thought)
        text = "".join(part.text or "" for part in parts if not part.thought)
        named = finish if candidate and candidate.finish_reason else None
        reply = Reply(text, thought, end_of(finish), named, usage, version)
        return parse_reply(reply, readout, prompting, self.who)

    def tokens_body(self, trial: Trial, prompting: Prompting) -> Body:
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

    def parse_tokens(self, response: dict[str, Any]) -> ParsedResponse:
        """See `Provider`."""
        parsed = _validated(response)
        usage, version = usage_of(parsed), parsed.model_version
        refusal = _explain_refusal(parsed, _finish(parsed))
        if refusal is not None:
            return ParsedResponse(Status.REFUSED, refusal, model_version=version, usage=usage)
        if usage.thought_tokens:
            return ParsedResponse(
                Status.FAILED, thought_first(usage.thought_tokens), model_version=version, usage=usage
            )
        result = parsed.candidates[0].logprobs_result if parsed.candidates else None
        top = ((result and result.top_candidates) or []) if result else []
        first = (top[0].candidates or []) if top else []
        tokens = [Token(each.token, each.log_probability, each.token_id) for each in first]
        chosen = ((result and result.chosen_candidates) or []) if result else []
        drawn_token = Token(chosen[0].token, chosen[0].log_probability) if chosen else None
        return ParsedResponse(
            Status.OK, model_version=version, usage=usage, log_probs=shown_tokens(Listed(tokens, drawn_token))
        )

    def _body(self, trial: Trial, prompting: Prompting, config: dict[str, Any]) -> Body:
        system, turns = turns_of(trial, prompting)
        contents = [
            {"role": "model" if role == "assistant" else "user", "parts": [{"text": text}]} for role, text in turns
        ]
        config |= {"system_instruction": system} if system else {}
        config |= self.endpoint.parameters
        return {
            "contents": contents,
            "config": {name: v for name, v in config.items() if name not in self.endpoint.omit},
        }


@contextlib.contextmanager
def parsing() -> Iterator[None]:
    """A block in which Google's SDK parses a response of any shape; a ValueError if it cannot."""
    try:
        yield
    except (ArithmeticError, AssertionError, AttributeError, IndexError, RecursionError, TypeError) as error:
        raise ValueError(f"{type(error).__name__}: {str(error)[:200]}") from error


def usage_of(response: "GenerateContentResponse") -> Usage:
    """The tokens of one answer; the request itself was counted when it was sent."""
    metadata = response.usage_metadata
    if metadata is None:
        return Usage()
    return Usage(
        prompt_tokens=as_count(metadata.prompt_token_count),
        cached_tokens=as_count(metadata.cached_content_token_count),
        output_tokens=as_count(metadata.candidates_token_count),
        thought_tokens=as_count(metadata.thoughts_token_count),
    )


def _validated(response: dict[str, Any]) -> "GenerateContentResponse":
    from google.genai.types import GenerateContentResponse

    return GenerateContentResponse.model_validate_json(json.dumps(response))


def _finish(response: "GenerateContentResponse") -> str:
    candidate = response.candidates[0] if response.candidates else None
    return candidate.finish_reason.name if candidate and candidate.finish_reason else "STOP"


def _explain_refusal(response: "GenerateContentResponse", finish: str) -> str | None:
    """Why the provider blocks the answer, in words; None where it does not."""
    blocked = response.prompt_feedback and response.prompt_feedback.block_reason
    if blocked:
        return f"Gemini refused the prompt ({blocked.name})"
    return f"Gemini stopped ({finish})" if finish == "LANGUAGE" or end_of(finish) == "filter" else None


def _details(error: "APIError") -> list[dict[str, Any]]:
    """The details that Google adds to a refusal."""
    body = error.details.get("error") if isinstance(error.details, dict) else None
    notes = body.get("details") if isinstance(body, dict) else None
    return [each for each in notes if isinstance(each, dict)] if isinstance(notes, list) else []
