"""Reads JSON responses of any shape: servers that promise one interface differ in their answers."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from valuesassets.remote.failures import WrongAnswer, one_line

MOST_COUNTED = 10**12
"""Largest plausible number of tokens."""


def read_response(text: str) -> Any:
    """Parse a response as storable JSON (else a WrongAnswer); numbers outside JSON, such as NaN, become texts.

    Where an object names a token twice, its entry is the sum of both probabilities.
    """
    try:
        response = json.loads(text, object_pairs_hook=_object, parse_constant=str, parse_float=_finite)
    except (ValueError, RecursionError):
        raise WrongAnswer(f"the answer is no JSON ({one_line(text)[:60]})") from None
    require_storable(response)
    return response


def require_storable(response: Any) -> None:
    """Raise a WrongAnswer for a response no file can hold: half a character, NaN, or too many levels."""
    try:
        json.dumps(response, ensure_ascii=False, indent=2, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise WrongAnswer("the answer holds half a character, which no file can hold") from None
    except (RecursionError, ValueError):
        raise WrongAnswer("the answer holds what no file can hold") from None


def as_object(value: Any) -> Mapping[str, Any]:
    """A value as an object; an empty one if it is something else."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> Sequence[Any]:
    """A value as a list; an empty one if it is something else."""
    return value if isinstance(value, list) else []


def as_count(value: Any) -> int:
    """A value as a number of tokens; 0 if it is something else.

    >>> as_count(12), as_count(12.0), as_count(-3), as_count(True), as_count("12"), as_count(float("nan"))
    (12, 12, 0, 0, 0, 0)
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value <= MOST_COUNTED else 0


def as_text(value: Any) -> str:
    """A value as text, which may be in nested parts; empty if it has none.

    >>> as_text([{"type": "text", "text": "Se"}, {"type": "text", "text": "ven."}]), as_text({"text": "No."})
    ('Seven.', 'No.')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(as_text, value))
    fields = as_object(value)
    return next((as_text(fields[name]) for name in ("text", "thinking", "content", "summary") if fields.get(name)), "")


def is_log_prob(value: Any) -> bool:
    """Whether a value may be a log-probability; rounding may make one slightly larger than 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value <= 1e-3


def _finite(number: str) -> float | str:
    return value if math.isfinite(value := float(number)) else number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a name that occurs twice with log-probabilities gets their sum, unless it is a token's id."""
    fields = dict[str, Any]()
    for name, value in pairs:
        is_sum = (
            name in fields and not name.startswith("token_id:") and is_log_prob(fields[name]) and is_log_prob(value)
        )
        fields[name] = sum_logs(fields[name], value) if is_sum else value
    return fields


def sum_logs(first: float, second: float) -> float:
    """The logarithm of the sum of two numbers, given their logarithms.

    >>> round(math.exp(sum_logs(math.log(0.6), math.log(0.1))), 12)
    0.7
    """
    most, least = max(first, second), min(first, second)
    return most + math.log1p(math.exp(least - most)) if math.isfinite(least) else most
