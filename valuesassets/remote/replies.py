"""`Said`: what one response of a model behind an API says, whoever's interface it came by."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from valuesassets.records.readouts import cut_at_stop
from valuesassets.records.trials import Status
from valuesassets.remote.cost import Usage
from valuesassets.remote.failures import WrongAnswer

Finish = Literal["end", "stop", "length"]
NO_USAGE = Usage()
MOST_MASS = 1.001
"""Largest sum of shown probabilities that rounding explains."""


@dataclass(frozen=True)
class Said:
    """What a response says; `text`, `finish` and `n_tokens` are None unless `status` is `ok` and it is a text.

    Attributes:
        shown: where probabilities were asked for, log-probability (nats) of each next token that is shown, by its
            text, or by its id as `token_id:12`.
    """

    status: Status
    reason: str | None = None
    text: str | None = None
    finish: Finish | None = None
    n_tokens: int | None = None
    reasoning: str | None = None
    n_reasoning_tokens: int | None = None
    model_version: str | None = None
    usage: Usage = NO_USAGE
    shown: Mapping[str, float] | None = None


def cut(text: str, stop: tuple[str, ...], finish: Finish) -> tuple[str, Finish]:
    """A text up to the first of the stop texts, and what ended it.

    >>> cut("Four. Five.", (" ",), "end"), cut("Four.", (" ",), "length")
    (('Four.', 'stop'), ('Four.', 'length'))
    """
    found = cut_at_stop(text, stop)
    return (text, finish) if found is None else (found, "stop")


def require_characters(*texts: str) -> None:
    """See that a file can hold what was written.

    Raises:
        WrongAnswer: half a character.
    """
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise WrongAnswer("the answer holds half a character, which no file can hold") from None
