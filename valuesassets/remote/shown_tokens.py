"""Reads the likeliest next tokens in a response: their log-probabilities by text, or why these are unusable."""

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
"""Rounding error of a sum of numbers between 0 and 1."""
FLOOR, LOW_FLOOR = -700.0, -50.0
"""Log-probabilities that stand for "none": all below the first, and whole numbers below the second that occur twice."""
SURE = 1e-6
"""If the shown probabilities miss 1 by less than this, a token that is not shown cannot be drawn."""
NO_FLOOR = (
    "the server shows what is left after top_k, top_p or a grammar: switch those off, by parameters such as "
    "{ top_k = 0 } or in its settings"
)
INFINITE = {"-infinity", "-inf"}
ID = "token_id:"


class Token(NamedTuple):
    """A token in a response; `id` if the server gives one."""

    text: Any
    log_prob: Any
    id: Any = None

    def is_named(self, text: str) -> bool:
        """Whether the token has this text."""
        return isinstance(self.text, str) and self.text == text


@dataclass(frozen=True)
class Listed:
    """The next tokens that a response lists.

    Attributes:
        drawn: the token that the model drew; None where the response does not say.
        is_object: whether tokens are named by their texts alone, so that one of two with equal texts is lost.
    """

    tokens: Sequence[Token]
    drawn: Token | None = None
    is_object: bool = False

    def hides(self, top: int) -> bool:
        """Whether some of the `top` requested tokens may have been lost because their texts are equal."""
        if not self.is_object or not self.tokens:
            return False
        if self.drawn is None or not is_log_prob(self.drawn.log_prob):
            return len(self.tokens) < top
        log_probs = [token.log_prob for token in self.tokens if self.drawn.is_named(token.text)]
        return len(self.tokens) < top or log_probs not in ([], [self.drawn.log_prob])


def listed_tokens(logprobs: Any) -> Listed:
    """The tokens in the `logprobs` of a choice, in either form of OpenAI's interface; none in any other form."""
    fields = as_object(logprobs)
    if content := as_list(fields.get("content")):
        first = as_object(content[0])
        drawn_token = Token(first.get("token"), first.get("logprob"), first.get("id"))
        return Listed(_tokens(first.get("top_logprobs")), drawn_token)
    top, names, values = (as_list(fields.get(name)) for name in ("top_logprobs", "tokens", "token_logprobs"))
    drawn_token = Token(names[0], values[0]) if names and values else None
    first = top[0] if top else None
    return Listed(_tokens(first), drawn_token, isinstance(first, dict))


def _tokens(tokens: Any) -> list[Token]:
    if isinstance(tokens, dict):
        return [Token(text, value) for text, value in tokens.items()]
    entries = [each if isinstance(each, dict) else {} for each in as_list(tokens)]
    return [Token(each.get("token"), each.get("logprob"), each.get("id")) for each in entries]


def shown_tokens(tokens_listed: Listed) -> dict[str, float]:
    """Log-probabilities by text; tokens with equal texts, as `▁1` and `1` may have, are summed.

    Raises:
        WrongAnswer: there are none, one is no log-probability, or together they are no distribution.
    """
    if not tokens_listed.tokens:
        raise WrongAnswer("the answer shows no probabilities")
    tokens = [_require_log_prob(token) for token in tokens_listed.tokens]
    _require_no_floor(tokens, tokens_listed.drawn)
    log_probs, ids = dict[str, float](), set[Any]()
    for token in tokens:
        name = token.id if isinstance(token.id, int) else token.text if token.text.startswith(ID) else None
        if name is not None and name in ids:
            continue  # the drawn token may be listed a second time
        ids.add(name)
        value = min(float(token.log_prob), 0.0)
        log_probs[token.text] = sum_logs(log_probs[token.text], value) if token.text in log_probs else value
    mass = mass_of(log_probs.values())
    if mass > MOST_MASS:
        raise WrongAnswer(f"the probabilities that are shown sum to {mass:.4g}")
    return log_probs


def mass_of(log_probs: Iterable[float]) -> float:
    """The sum of probabilities."""
    return math.fsum(map(math.exp, log_probs))


def require_log_probs(values: Mapping[str, Any]) -> dict[str, float]:
    """Log-probabilities of single steps; a WrongAnswer if one is none, or stands for "none"."""
    tokens = [_require_log_prob(Token(name, value)) for name, value in values.items()]
    _require_no_floor(tokens, None)
    return {token.text: min(float(token.log_prob), 0.0) for token in tokens}


def _is_none(value: Any) -> bool:
    """Whether a log-probability means that a token is never drawn."""
    return isinstance(value, str) or (is_log_prob(value) and value <= LOW_FLOOR)


def _require_log_prob(token: Token) -> Token:
    """Check that a token has a text and a log-probability; '-inf' in words becomes a number."""
    if not isinstance(token.text, str):
        raise WrongAnswer("the answer shows a probability without the token's text")
    value = token.log_prob
    if isinstance(value, str) and value.strip().casefold() in INFINITE:
        value = -math.inf
    if not is_log_prob(value):
        text = str(value)[:40]
        raise WrongAnswer(f"the answer shows what is no log-probability (of the token {token.text[:40]!r}: {text})")
    return token._replace(log_prob=max(value, -1e300))


def _require_no_floor(tokens: Sequence[Token], drawn_token: Token | None) -> None:
    """Raise a WrongAnswer if a filter of the server left numbers that stand for "none", or drew such a token."""
    values = [token.log_prob for token in tokens]
    times = Counter(values)
    floored = [
        token
        for token in tokens
        if token.log_prob <= FLOOR
        or (token.log_prob <= LOW_FLOOR and token.log_prob == int(token.log_prob) and times[token.log_prob] > 1)
    ]
    if floored:
        log_prob = "-inf" if floored[0].log_prob <= -1e300 else f"{floored[0].log_prob:g}"
        raise WrongAnswer(
            f"{len(floored)} of {len(tokens)} tokens that are shown have no probability "
            f"({floored[0].text[:40]!r}: {log_prob})",
            NO_FLOOR,
            may_pass=False,
        )
    if (
        drawn_token is None
        or not _is_none(drawn_token.log_prob)
        or any(drawn_token.is_named(token.text) for token in tokens)
    ):
        return
    if 1 - mass_of(min(float(value), 0.0) for value in values) < SURE:
        raise WrongAnswer(
            f"the model went on with {str(drawn_token.text)[:40]!r}, which has no probability ({drawn_token.log_prob})",
            "what is shown is not what it draws from: check the server's settings, or name another model",
            may_pass=False,
        )
