"""From trials with spans to readings: how probable every candidate is at every place, after the answers before it."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from valuesassets.models.cached_text import Cost
from valuesassets.models.certificate import Certificate, LogitSpread, certify
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loading import LoadedModel
from valuesassets.models.reading_pass import OnProgress
from valuesassets.models.scoring import Scored
from valuesassets.models.spans.entries import SPANS_VERSION, SpanEntry
from valuesassets.models.spans.span_pass import SpanPass
from valuesassets.models.spelled_trials import SCORER_VERSION
from valuesassets.records.errors import ScoringError, TokenizerError
from valuesassets.records.trials import Reading, Status

SAMPLED = 2
"""Spans that are read again, alone."""
OTHER_CHUNK = 96
"""Tokens of the pieces that they are read in."""


@dataclass(frozen=True)
class SpanReadings(Scored):
    """How probable candidates are at spans, and on which road, in pieces of how many tokens, that was read.

    Attributes:
        cost, certificate_cost: what went through the model now, for the readings and for the certificate; less where
            some of them were known, so that no file says it.
    """

    road: str
    chunk: int
    cost: Cost
    certificate_cost: Cost

    @property
    def tokens_body(self) -> int:
        """Tokens that went through the model's body for the readings."""
        return self.cost.tokens

    @property
    def rows_head(self) -> int:
        """Rows that went through its head for them."""
        return self.cost.rows

    @property
    def tokens_certificate(self) -> int:
        """Tokens that went through the model's body when some spans were read again."""
        return self.certificate_cost.tokens

    def describe(self) -> dict[str, object]:
        """As `Scored`, with road and pieces."""
        version = f"{SCORER_VERSION}.{SPANS_VERSION}"
        return super().describe() | {"scorer_version": version, "road": self.road, "chunk": self.chunk}


def score_spans(
    loaded: LoadedModel,
    entries: Sequence[SpanEntry | Reading],
    on_progress: OnProgress | None = None,
    known: KnownReadings | None = None,
) -> SpanReadings:
    """How probable a model finds every candidate at every span; texts of which all is known are not read again.

    Texts that begin alike go through the model together as far as that, once. The pieces in which they do are planned
    over all texts, known or not: a reading comes with the same bytes however often the work was interrupted.

    Args:
        entries: as `prepare_spans` gives them.
        on_progress: called with (spans read, spans) text by text.

    Raises:
        TokenizerError: not one span can be asked of this model.
        ScoringError: not one could be read; says why.
    """
    asked = [entry for entry in entries if isinstance(entry, SpanEntry)]
    if not asked:
        why = next((str(entry.reason) for entry in entries if isinstance(entry, Reading)), "there are none")
        raise TokenizerError(f"{loaded.model_id}: none of {len(entries)} spans can be asked, the first because: {why}")
    reader = SpanPass(loaded, asked, known, on_progress)
    readings = reader.read()
    answered = tuple(
        entry if isinstance(entry, Reading) else entry.own(readings[entry.key], loaded.model_id) for entry in entries
    )
    if all(reading.status is Status.FAILED for reading in readings.values()):
        raise ScoringError(next(str(reading.reason) for reading in answered if reading.reading_key in readings))
    cost, again = reader.road.cost, Cost()
    certificate = _certify(loaded, reader, {entry.key: entry for entry in asked}, readings, again)
    return SpanReadings(answered, certificate, tuple(reader.notes), reader.road.name, reader.road.chunk, cost, again)


def _certify(
    loaded: LoadedModel,
    reader: SpanPass,
    entries: Mapping[str, SpanEntry],
    readings: Mapping[str, Reading],
    cost: Cost,
) -> Certificate:
    """Read a few spans again, each alone and its text in other pieces: one with little text before it, others drawn.

    They are drawn of all spans, whether or not they were read just now; one that does not fit alone is left out.
    """
    read = [key for key, reading in readings.items() if reading.status is Status.OK]
    read.sort(key=lambda key: (entries[key].text.places[entries[key].number].start, key))
    drawn = random.Random("".join(read)).sample(read[1:], min(SAMPLED, len(read)) - 1) if read else []  # noqa: S311
    chunk = min(OTHER_CHUNK, reader.road.chunk * 3 // 4)
    reader.road.clear()
    with LogitSpread().watching(loaded.model) as spread:
        again = {key: reader.read_again(entries[key], chunk, cost) for key in [*read[:1], *drawn]}
    pairs = [(readings[key], reading) for key, reading in again.items() if reading is not None]
    return certify(loaded, pairs, len(pairs), spread)
