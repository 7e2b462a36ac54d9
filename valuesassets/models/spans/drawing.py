"""Chooses a model's own answer among candidates: the likeliest, or one drawn by their probabilities."""

import hashlib
import math
from array import array
from collections.abc import Sequence

from valuesassets.spelling.tokens import Tokens


def answer_own(probs: Sequence[float], candidates: Sequence[str], key: str | None, ids: Tokens) -> str:
    """A candidate drawn with `key` (`draw_candidate`); without a key the likeliest, the first of equals.

    >>> answer_own((0.2, 0.3, 0.3), ("a", "b", "c"), None, (1, 2))
    'b'
    """
    if key is not None:
        return draw_candidate(probs, candidates, key, ids)
    return candidates[max(range(len(candidates)), key=probs.__getitem__)]


def draw_candidate(probs: Sequence[float], candidates: Sequence[str], key: str, ids: Tokens) -> str:
    """The candidate whose log-probability plus Gumbel noise is largest; the noise hashes key, text and candidate.

    This is a draw from the renormalised probabilities. Only rounding can change a draw, and it seldom does.
    """
    beginning = f"{key} ".encode() + array("q", ids).tobytes()

    def score(place: int) -> float:
        digest = hashlib.sha256(beginning + candidates[place].encode()).digest()
        noise = -math.log(-math.log((int.from_bytes(digest[:8], "big") + 0.5) / 2**64))
        return math.log(probs[place]) + noise if probs[place] > 0 else -math.inf

    return candidates[max(range(len(candidates)), key=score)]
