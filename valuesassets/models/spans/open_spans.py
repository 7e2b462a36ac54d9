"""`OpenSpan`: the questions of a span to its model, the reading made from the answers, and an answer drawn from it."""

import hashlib
import math
from array import array
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from valuesassets.models.cached_text import Ask
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.reading_pass import broken
from valuesassets.models.spans.spelling import SpelledSpan
from valuesassets.records.trials import Reading, SpanFault
from valuesassets.spelling.open_reading import OpenReading
from valuesassets.spelling.tokens import NextToken, Tokens


class OpenSpan:
    """A span of a text: its questions (`asks`), and its reading once all of them are answered."""

    def __init__(self, loaded: LoadedModel, span: SpelledSpan, ids: Tokens, as_published: bool) -> None:
        """Begin a reading of a span of the whole text `ids`; `as_published` asks for the published code's rows too."""
        self._open = OpenReading(loaded.tokenizer, span.spelled, span.stops)
        self._dtype, self._spellings = loaded.opened.dtype, span.spelled.spellings
        self._nodes = span.spelled.trie.inner_nodes
        self.asks = [Ask(span.shared, (*span.rest, *node), self._open.wanted(node)) for node in self._nodes]
        late = self._published_asks(span.answer_at, len(ids)) if as_published and span.answer_at is not None else []
        self._is_published = len(late) > 0
        self.asks += late

    def _published_asks(self, answer_at: int, length: int) -> list[Ask]:
        """The asks at the given answer: behind its first token and the following ones, as many as a candidate has.

        There are none where the text ends earlier: a product without its last factors is no probability.
        """
        paths = list(chain.from_iterable(self._spellings))
        longest = max(map(len, paths))
        if answer_at + longest > length:
            return []
        tokens_by_step = [tuple(sorted({path[step] for path in paths if len(path) > step})) for step in range(longest)]
        return [Ask(answer_at + 1 + step, (), tokens) for step, tokens in enumerate(tokens_by_step)]

    def close(self, key: str, answers: Sequence[NextToken]) -> Reading:
        """The reading, given the answers to `asks` in order."""
        for node, answer in zip(self._nodes, answers, strict=False):
            self._open.note(node, answer)
        late = answers[len(self._nodes) :]
        if self._open.is_broken or not all(answer.is_finite for answer in late):
            failure = broken(key, self._dtype)
            return replace(failure, reason=f"{SpanFault.NOT_A_NUMBER}: {failure.reason}")
        reading = self._open.close(key)
        if not self._is_published or reading.label_probs is None:
            return reading
        rows = [
            dict(zip(ask.tokens, answer.log_probs, strict=True))
            for ask, answer in zip(self.asks[len(self._nodes) :], late, strict=True)
        ]

        def published(path: Tokens) -> float:
            return math.exp(math.fsum(row[token] for row, token in zip(rows, path, strict=False)))

        probs = tuple(math.fsum(map(published, paths)) for paths in self._spellings)
        return replace(reading, label_probs_published=probs)


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
