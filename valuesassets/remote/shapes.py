"""A response as JSON of whatever shape: servers promise one interface and answer by many."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from valuesassets.remote.failures import WrongAnswer, one_line

MOST_COUNTED = 10**12
"""A larger number of tokens is none."""


def read_response(text: str) -> Any:
    """The JSON of a response, fit to be kept in a file; numbers that JSON does not have, such as NaN, are texts.

    Where an object names a token twice, both have their share of the probability, and the entry is their sum.

    Raises:
        WrongAnswer: it is no JSON, or no file can hold it.
    """
    try:
        response = json.loads(text, object_pairs_hook=_object, parse_constant=str, parse_float=_finite)
    except (ValueError, RecursionError):
        raise WrongAnswer(f"the answer is no JSON ({one_line(text)[:60]})") from None
    require_kept(response)
    return response


def require_kept(response: Any) -> None:
    """See that a file can hold a response.

    Raises:
        WrongAnswer: it holds half a character, a number that is none, or more levels than can be written.
    """
    try:
        json.dumps(response, ensure_ascii=False, indent=2, allow_nan=False).encode()
    except UnicodeEncodeError:
        raise WrongAnswer("the answer holds half a character, which no file can hold") from None
    except (RecursionError, ValueError):
        raise WrongAnswer("the answer holds what no file can hold") from None


def as_object(value: Any) -> Mapping[str, Any]:
    """An object of a response; an empty one where something else stands there."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> Sequence[Any]:
    """A list of a response; an empty one where something else stands there."""
    return value if isinstance(value, list) else []


def as_count(value: Any) -> int:
    """A number of tokens; 0 where something else stands there.

    >>> as_count(12), as_count(12.0), as_count(-3), as_count(True), as_count("12"), as_count(float("nan"))
    (12, 12, 0, 0, 0, 0)
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value <= MOST_COUNTED else 0


def as_text(value: Any) -> str:
    """What is said, as a text or in parts that hold texts; empty where nothing is.

    >>> as_text([{"type": "text", "text": "Se"}, {"type": "text", "text": "ven."}]), as_text({"text": "No."})
    ('Seven.', 'No.')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(as_text, value))
    held = as_object(value)
    return next((as_text(held[name]) for name in ("text", "thinking", "content", "summary") if held.get(name)), "")


def is_log_prob(value: Any) -> bool:
    """Whether a value of a response may be a log-probability; rounding may take one a little above 0."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value <= 1e-3


def _finite(number: str) -> float | str:
    return value if math.isfinite(value := float(number)) else number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of a name that stands there twice with log-probabilities, their sum, unless it is a token's id."""
    found = dict[str, Any]()
    for name, value in pairs:
        is_sum = name in found and not name.startswith("token_id:") and is_log_prob(found[name]) and is_log_prob(value)
        found[name] = sum_logs(found[name], value) if is_sum else value
    return found


def sum_logs(one: float, other: float) -> float:
    """The logarithm of the sum of two numbers that are given by their logarithms.

    >>> round(math.exp(sum_logs(math.log(0.6), math.log(0.1))), 12)
    0.7
    """
    most, least = max(one, other), min(one, other)
    return most + math.log1p(math.exp(least - most)) if math.isfinite(least) else most
