"""The likeliest next tokens as a server lists them: their log-probabilities by text, or why they are none."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from valuesassets.remote.failures import WrongAnswer
from valuesassets.remote.shapes import as_list, as_object, is_log_prob, sum_logs

MOST_MASS = 1.001
"""Largest sum of shown probabilities that rounding explains."""
ROUNDING = 1e-12
"""Of sums of numbers between 0 and 1."""
FLOOR, LOW_FLOOR = -700.0, -50.0
"""No token that is shown has so small a log-probability; below the second, none that several share in whole numbers."""
SURE = 1e-6
"""Where no more than this is missing to 1, a token that is not shown is not drawn."""
NO_FLOOR = (
    "the server shows what is left after top_k, top_p or a grammar: switch those off, by parameters such as "
    "{ top_k = 0 } or in its settings"
)
INFINITE = {"-infinity", "-inf"}
ID = "token_id:"


class Token(NamedTuple):
    """A token as a server shows it; `id` where it says one."""

    text: Any
    log_prob: Any
    id: Any = None

    def is_named(self, text: str) -> bool:
        """Whether it is shown with a text."""
        return isinstance(self.text, str) and self.text == text


@dataclass(frozen=True)
class Listed:
    """What a response lists of the next token.

    Attributes:
        drawn: the token that the model went on with; None where that is not said.
        is_object: whether it names tokens by their texts alone, so that of two with one text one is lost.
    """

    tokens: Sequence[Token]
    drawn: Token | None = None
    is_object: bool = False

    def hides(self, top: int) -> bool:
        """Whether tokens of one text may have been lost, of `top` that were asked for."""
        if not self.is_object or not self.tokens:
            return False
        if self.drawn is None or not is_log_prob(self.drawn.log_prob):
            return len(self.tokens) < top
        own = [token.log_prob for token in self.tokens if self.drawn.is_named(token.text)]
        return len(self.tokens) < top or own not in ([], [self.drawn.log_prob])


def listed_tokens(logprobs: Any) -> Listed:
    """What the `logprobs` of a choice list, in either form of OpenAI's interface; nothing where it is another."""
    given = as_object(logprobs)
    if content := as_list(given.get("content")):
        first = as_object(content[0])
        drawn = Token(first.get("token"), first.get("logprob"), first.get("id"))
        return Listed(_tokens(first.get("top_logprobs")), drawn)
    top, names, values = (as_list(given.get(name)) for name in ("top_logprobs", "tokens", "token_logprobs"))
    drawn = Token(names[0], values[0]) if names and values else None
    first = top[0] if top else None
    return Listed(_tokens(first), drawn, isinstance(first, dict))


def _tokens(given: Any) -> list[Token]:
    if isinstance(given, dict):
        return [Token(text, value) for text, value in given.items()]
    entries = [each if isinstance(each, dict) else {} for each in as_list(given)]
    return [Token(each.get("token"), each.get("logprob"), each.get("id")) for each in entries]


def shown_tokens(listed: Listed) -> dict[str, float]:
    """Log-probabilities by text; tokens that are shown with one text, as `▁1` and `1` may be, count together.

    Raises:
        WrongAnswer: there are none, one is no log-probability, or together they are no distribution.
    """
    if not listed.tokens:
        raise WrongAnswer("the answer shows no probabilities")
    tokens = [_checked(token) for token in listed.tokens]
    _require_no_floor(tokens, listed.drawn)
    found, ids = dict[str, float](), set[Any]()
    for token in tokens:
        name = token.id if isinstance(token.id, int) else token.text if token.text.startswith(ID) else None
        if name is not None and name in ids:
            continue  # the same token once more, as the one that was drawn is
        ids.add(name)
        value = min(float(token.log_prob), 0.0)
        found[token.text] = sum_logs(found[token.text], value) if token.text in found else value
    mass = mass_of(found.values())
    if mass > MOST_MASS:
        raise WrongAnswer(f"the probabilities that are shown sum to {mass:.4g}")
    return found


def mass_of(log_probs: Iterable[float]) -> float:
    """The sum of probabilities."""
    return math.fsum(map(math.exp, log_probs))


def require_log_probs(values: Mapping[str, Any]) -> dict[str, float]:
    """Log-probabilities of steps that were asked for one by one.

    Raises:
        WrongAnswer: one is none, or stands for nothing.
    """
    tokens = [_checked(Token(name, value)) for name, value in values.items()]
    _require_no_floor(tokens, None)
    return {token.text: min(float(token.log_prob), 0.0) for token in tokens}


def _is_none(value: Any) -> bool:
    """Whether a log-probability says that a token is never drawn."""
    return isinstance(value, str) or (is_log_prob(value) and value <= LOW_FLOOR)


def _checked(token: Token) -> Token:
    """A token that has a text and a log-probability; -inf in words is a number."""
    if not isinstance(token.text, str):
        raise WrongAnswer("the answer shows a probability without the token's text")
    value = token.log_prob
    if isinstance(value, str) and value.strip().casefold() in INFINITE:
        value = -math.inf
    if not is_log_prob(value):
        said = str(value)[:40]
        raise WrongAnswer(f"the answer shows what is no log-probability (of the token {token.text[:40]!r}: {said})")
    return token._replace(log_prob=max(value, -1e300))


def _require_no_floor(tokens: Sequence[Token], drawn: Token | None) -> None:
    """See that what is shown is what the model says, not what a server leaves of it.

    Raises:
        WrongAnswer: a token has a number that stands for "none", or one was drawn that cannot be.
    """
    values = [token.log_prob for token in tokens]
    times = Counter(values)
    low = [
        token
        for token in tokens
        if token.log_prob <= FLOOR
        or (token.log_prob <= LOW_FLOOR and token.log_prob == int(token.log_prob) and times[token.log_prob] > 1)
    ]
    if low:
        said = "-inf" if low[0].log_prob <= -1e300 else f"{low[0].log_prob:g}"
        raise WrongAnswer(
            f"{len(low)} of {len(tokens)} tokens that are shown have no probability ({low[0].text[:40]!r}: {said})",
            NO_FLOOR,
            may_pass=False,
        )
    if drawn is None or not _is_none(drawn.log_prob) or any(drawn.is_named(token.text) for token in tokens):
        return
    if 1 - mass_of(min(float(value), 0.0) for value in values) < SURE:
        raise WrongAnswer(
            f"the model went on with {str(drawn.text)[:40]!r}, which has no probability ({drawn.log_prob})",
            "what is shown is not what it draws from: check the server's settings, or name another model",
            may_pass=False,
        )
