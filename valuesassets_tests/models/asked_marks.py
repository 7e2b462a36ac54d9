"""Readouts of candidates at the marks of a transcript."""

from collections.abc import Sequence
from typing import Any

from valuesassets.records.marks import ANGLES, Mark
from valuesassets.records.readouts import ScoreSpans, Span


def ask_marks(
    marks: Sequence[Mark], candidates: Sequence[Sequence[str]], closing: str = ANGLES[1], **settings: Any
) -> ScoreSpans:
    """The readout of candidates at marks, equal sets stored once; `settings` are further fields of `ScoreSpans`."""
    sets: dict[tuple[str, ...], int] = {}
    spans = tuple(
        Span(mark.start, mark.end, sets.setdefault(tuple(texts), len(sets)))
        for mark, texts in zip(marks, candidates, strict=True)
    )
    return ScoreSpans(spans, tuple(sets), (closing,), **settings)
