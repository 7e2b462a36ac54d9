"""From trials with spans to readings: how probable each candidate is at each place, after the answers before it."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from valuesassets.models.cached_text import Cost
from valuesassets.models.certificate import Certificate, LogitSpread, certify
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.reading_pass import OnProgress
from valuesassets.models.scoring import Scored
from valuesassets.models.spans.entries import SPANS_VERSION, SpanEntry
from valuesassets.models.spans.span_pass import SpanPass
from valuesassets.models.spelled_trials import SCORER_VERSION
from valuesassets.records.errors import ScoringError, TokenizerError
from valuesassets.records.trials import Reading, Status

SAMPLED = 2
"""Number of spans that are read again, alone."""
OTHER_CHUNK = 96
"""Tokens per piece when they are read again."""


@dataclass(frozen=True)
class SpanReadings(Scored):
    """The readings of spans, the strategy that read them (`road` in metadata), and its tokens per piece.

    Attributes:
        cost, certificate_cost: what was computed now for readings and certificate, without stored readings; in no file.
    """

    strategy: str
    chunk: int
    cost: Cost
    certificate_cost: Cost

    @property
    def tokens_body(self) -> int:
        """Tokens that went through the model's body for the readings."""
        return self.cost.tokens

    @property
    def rows_head(self) -> int:
        """Rows that went through the model's head for the readings."""
        return self.cost.rows

    @property
    def tokens_certificate(self) -> int:
        """Tokens that went through the model's body when some spans were read again."""
        return self.certificate_cost.tokens

    def describe(self) -> dict[str, object]:
        """As for `Scored`, with strategy and tokens per piece."""
        version = f"{SCORER_VERSION}.{SPANS_VERSION}"
        return super().describe() | {"scorer_version": version, "road": self.strategy, "chunk": self.chunk}


def score_spans(
    loaded: LoadedModel,
    entries: Sequence[SpanEntry | Reading],
    on_progress: OnProgress | None = None,
    store: KnownReadings | None = None,
) -> SpanReadings:
    """The probability of every candidate at every span; a text whose readings are all stored is not read again.

    The shared beginning of texts goes through the model once. The pieces of texts are planned over all texts, stored or
    not: a reading has the same bytes however often the work was interrupted. `on_progress` is called with (spans read,
    all spans) after each text.

    Raises:
        TokenizerError: not one span can be asked of this model.
        ScoringError: not one span could be read; says why.
    """
    askable = [entry for entry in entries if isinstance(entry, SpanEntry)]
    if not askable:
        why = next((str(entry.reason) for entry in entries if isinstance(entry, Reading)), "there are none")
        raise TokenizerError(f"{loaded.model_id}: none of {len(entries)} spans can be asked, the first because: {why}")
    reader = SpanPass(loaded, askable, store, on_progress)
    readings = reader.read()
    records = tuple(
        entry if isinstance(entry, Reading) else entry.own(readings[entry.key], loaded.model_id) for entry in entries
    )
    if all(reading.status is Status.FAILED for reading in readings.values()):
        raise ScoringError(next(str(reading.reason) for reading in records if reading.reading_key in readings))
    cost, cost_again = reader.strategy.cost, Cost()
    certificate = _certify(loaded, reader, {entry.key: entry for entry in askable}, readings, cost_again)
    return SpanReadings(
        records, certificate, tuple(reader.notes), reader.strategy.name, reader.strategy.chunk, cost, cost_again
    )


def _certify(
    loaded: LoadedModel,
    reader: SpanPass,
    entries: Mapping[str, SpanEntry],
    readings: Mapping[str, Reading],
    cost: Cost,
) -> Certificate:
    """Read a few spans again, each alone and in other pieces: that with the least text before it, and others drawn from
    all, stored ones too; a span that does not fit into memory alone is left out."""
    keys = [key for key, reading in readings.items() if reading.status is Status.OK]
    keys.sort(key=lambda key: (entries[key].text.places[entries[key].number].start, key))
    other_keys = random.Random("".join(keys)).sample(keys[1:], min(SAMPLED, len(keys)) - 1) if keys else []  # noqa: S311
    chunk = min(OTHER_CHUNK, reader.strategy.chunk * 3 // 4)
    reader.strategy.clear()
    with LogitSpread().watching(loaded.model) as spread:
        again = {key: reader.read_again(entries[key], chunk, cost) for key in [*keys[:1], *other_keys]}
    pairs = [(readings[key], reading) for key, reading in again.items() if reading is not None]
    return certify(loaded, pairs, len(pairs), spread)
