"""What a span asks of its model, and the reading that the answers amount to."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from valuesassets.models.cached_text import Ask
from valuesassets.models.loading import LoadedModel
from valuesassets.models.reading_pass import broken
from valuesassets.models.spans.spelling import SpelledSpan
from valuesassets.records.trials import Reading, SpanFault
from valuesassets.spelling.open_reading import OpenReading
from valuesassets.spelling.tokens import NextToken, Tokens


class OpenSpan:
    """A span of a text: what it asks (`asks`), and the reading once all of that is answered."""

    def __init__(self, loaded: LoadedModel, span: SpelledSpan, ids: Tokens, as_published: bool) -> None:
        """Begin a reading.

        Args:
            ids: the whole text.
            as_published: whether the rows that seed 001 reads are asked for too.
        """
        self._open = OpenReading(loaded.tokenizer, span.spelled, span.stops)
        self._dtype, self._spellings = loaded.opened.dtype, span.spelled.spellings
        self._nodes = span.spelled.trie.inner_nodes
        self.asks = [Ask(span.shared, (*span.rest, *node), self._open.wanted(node)) for node in self._nodes]
        late = self._late_rows(span.answer_at, len(ids)) if as_published and span.answer_at is not None else []
        self._is_published = len(late) > 0
        self.asks += late

    def _late_rows(self, answer_at: int, length: int) -> list[Ask]:
        """The row of the given answer's first token, and those behind it: one for each token of a candidate.

        None where the text ends before: without its last factors a product is no probability.
        """
        paths = list(chain.from_iterable(self._spellings))
        longest = max(map(len, paths))
        if answer_at + longest > length:
            return []
        wanted = [tuple(sorted({path[step] for path in paths if len(path) > step})) for step in range(longest)]
        return [Ask(answer_at + 1 + step, (), tokens) for step, tokens in enumerate(wanted)]

    def close(self, key: str, answers: Sequence[NextToken]) -> Reading:
        """The reading, of what came back of `asks`, in their order."""
        for node, answer in zip(self._nodes, answers, strict=False):
            self._open.note(node, answer)
        late = answers[len(self._nodes) :]
        if self._open.is_broken or not all(answer.is_finite for answer in late):
            unread = broken(key, self._dtype)
            return replace(unread, reason=f"{SpanFault.NOT_A_NUMBER}: {unread.reason}")
        reading = self._open.close(key)
        if not self._is_published or reading.label_probs is None:
            return reading
        rows = [
            dict(zip(ask.tokens, answer.log_probs, strict=True))
            for ask, answer in zip(self.asks[len(self._nodes) :], late, strict=True)
        ]

        def published(path: Tokens) -> float:
            return math.exp(math.fsum(row[token] for row, token in zip(rows, path, strict=False)))

        probs = tuple(math.fsum(map(published, own)) for own in self._spellings)
        return replace(reading, label_probs_published=probs)
