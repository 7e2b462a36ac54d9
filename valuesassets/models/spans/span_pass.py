"""One pass of texts through a model, sorted: what they begin with alike goes through once, and their spans are read."""

from collections.abc import Callable, Iterator, Sequence

from valuesassets.models.cached_text import Ask, Cost
from valuesassets.models.engine import OutOfMemory
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loading import LoadedModel
from valuesassets.models.reading_pass import OnProgress
from valuesassets.models.spans.drawing import answer_own
from valuesassets.models.spans.entries import AskedText, SpanEntry
from valuesassets.models.spans.open_spans import OpenSpan
from valuesassets.models.spans.plan import plan_pieces
from valuesassets.models.spans.roads import choose_road, new_road
from valuesassets.models.spans.spelling import Place, SpelledSpan, TextTokens, span_text
from valuesassets.models.spelled_trials import TRIAL, failed
from valuesassets.models.token_trees import shared_length
from valuesassets.records.errors import TokenizerError
from valuesassets.records.trials import Reading, Status
from valuesassets.spelling.open_reading import OUTSIDE_KEPT
from valuesassets.spelling.tokens import NextToken, Tokens

SMALLEST_CHUNK = 16
"""Tokens of a piece below which too little memory is no matter of pieces."""


class SpanPass:
    """One pass of texts through a model, and the readings of their spans by key.

    Attributes:
        road: how they are read.
        notes: what a person should know, in words.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        entries: Sequence[SpanEntry],
        known: KnownReadings | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self._loaded, self._known, self._on_progress = loaded, known, on_progress
        self.notes: list[str] = []
        self._texts: dict[int, list[SpanEntry]] = {}
        for entry in entries:
            self._texts.setdefault(id(entry.text), []).append(entry)
        self._n_entries, self._done = len(entries), 0
        self._readings: dict[str, Reading] = {}
        self._n_likeliest = OUTSIDE_KEPT + max(_most_children(own[0].text) for own in self._texts.values())
        self.road = choose_road(loaded, self._n_likeliest, self.notes)

    def read(self) -> dict[str, Reading]:
        """The readings by key."""
        texts = list(self._texts.values())
        self._read_given([own for own in texts if own[0].text.spelled is not None])
        self._read_own([own for own in texts if own[0].text.spelled is None])
        return self._readings

    def read_again(self, entry: SpanEntry, chunk: int, cost: Cost) -> Reading | None:
        """A span that was read, now with nothing beside or behind it, and its text in pieces of `chunk` tokens.

        None where it does not fit into memory so. What it takes is added to `cost`.
        """
        ids, span = self._asked(entry)
        opened = OpenSpan(self._loaded, span, ids, entry.text.readout.as_published)
        length = max(ask.at for ask in opened.asks)
        road = new_road(self._loaded, self._n_likeliest, self.road)
        try:
            answers = road.read(ids[:length], [*range(chunk, length, chunk), length], [], opened.asks)
        except OutOfMemory:
            return None
        cost.add(road.cost.tokens, road.cost.rows)
        return opened.close(entry.key, answers)

    def _asked(self, entry: SpanEntry) -> tuple[Tokens, SpelledSpan]:
        """What was asked at a span that was read: the tokens of its text, and how it is spelled."""
        if entry.text.spelled is not None:
            span = entry.text.spelled.spans[entry.number]
            assert isinstance(span, SpelledSpan)  # noqa: S101
            return entry.text.spelled.ids, span
        asked: dict[str, tuple[Tokens, SpelledSpan]] = {}

        def recall(each: SpanEntry, ids: Tokens, span: SpelledSpan) -> Reading:
            asked[each.key] = ids, span
            return self._readings[each.key]

        self._write_own(self._texts[id(entry.text)][: entry.number + 1], recall)
        return asked[entry.key]

    def _ids(self, text: AskedText) -> Tokens:
        return text.spelled.ids if text.spelled else TextTokens(text.opened.tokenizer, text.shown.text).ids

    def _read_given(self, texts: list[list[SpanEntry]]) -> None:
        """Read texts whose answers are given."""
        opens = [self._open(entries) for entries in texts]
        cut = [_needed(entries[0].text, own) for entries, own in zip(texts, opens, strict=True)]
        order = sorted(range(len(texts)), key=cut.__getitem__)
        sorted_ids = [cut[place] for place in order]
        plan = plan_pieces(sorted_ids, self.road.chunk)
        first_row = min((ask.at for own in opens for each in own for ask in each.asks if not ask.path), default=0)
        for number, place in enumerate(order):
            entries, asks = texts[place], [ask for own in opens[place] for ask in own.asks]
            self.road.begin(asks)
            if self._take_known(entries):
                continue
            beside = [
                ask
                for other, shared in _alike(plan, number, first_row)
                for ask in self._rows(opens[order[other]], shared)
            ]
            while True:
                try:
                    answers = self.road.read(sorted_ids[number], plan[number][1], beside, asks)
                except OutOfMemory:
                    if not self._halve():
                        why = self._too_large(len(sorted_ids[number]))
                        self._keep(entries, {entry.key: failed(entry.key, why) for entry in entries})
                        break
                    plan = plan_pieces(sorted_ids, self.road.chunk)
                else:
                    self._close(entries, opens[place], answers)
                    break

    def _open(self, entries: Sequence[SpanEntry]) -> list[OpenSpan]:
        text = entries[0].text
        assert text.spelled is not None  # noqa: S101
        spans = [text.spelled.spans[entry.number] for entry in entries]
        return [
            OpenSpan(self._loaded, span, text.spelled.ids, text.readout.as_published)
            for span in spans
            if isinstance(span, SpelledSpan)
        ]

    def _rows(self, opens: Sequence[OpenSpan], shared: int) -> Iterator[Ask]:
        """What spans ask within the first `shared` tokens of their text."""
        return (ask for own in opens for ask in own.asks if not ask.path and ask.at <= shared)

    def _take_known(self, entries: Sequence[SpanEntry]) -> bool:
        """Whether all of a text is known."""
        if self._known is None:
            return False
        known = {entry.key: self._known.get(entry.key) for entry in entries}
        found = {key: reading for key, reading in known.items() if reading is not None}
        if len(found) < len(known):
            return False
        self._note(entries, found)
        return True

    def _close(self, entries: Sequence[SpanEntry], opens: Sequence[OpenSpan], answers: Sequence[NextToken]) -> None:
        """Turn what came back of a text into readings."""
        new: dict[str, Reading] = {}
        start = 0
        for entry, own in zip(entries, opens, strict=True):
            known = self._known.get(entry.key) if self._known else None
            reading = known or own.close(entry.key, answers[start : start + len(own.asks)])
            if reading.status is Status.FAILED:  # what stands behind it may have broken it
                reading = self.read_again(entry, self.road.chunk, self.road.cost) or reading
            new[entry.key] = reading
            start += len(own.asks)
        self._keep(entries, new)

    def _keep(self, entries: Sequence[SpanEntry], new: dict[str, Reading]) -> None:
        if self._known:
            self._known.add(new.values())
        self._note(entries, new)

    def _note(self, entries: Sequence[SpanEntry], found: dict[str, Reading]) -> None:
        self._readings |= found
        self._done += len(entries)
        if self._on_progress:
            self._on_progress(self._done, self._n_entries)

    def _halve(self) -> bool:
        """Go on in pieces of half the size; False where too little memory is no matter of pieces any more."""
        if self.road.chunk // 2 < SMALLEST_CHUNK:
            return False
        self.road.chunk //= 2
        self.notes.append(f"out of memory: went on with pieces of {self.road.chunk} tokens")
        return True

    def _too_large(self, tokens: int) -> str:
        device = self._loaded.device
        return f"{TRIAL}: {tokens} tokens do not fit into the memory of {device}; free some or use a larger device"

    def _read_own(self, texts: list[list[SpanEntry]]) -> None:
        """Read texts into which the model's own answers are written, one after the other."""
        asked = [entries[0].text for entries in texts]
        first = [TextTokens(text.opened.tokenizer, text.shown.text[: text.places[0].start]).ids for text in asked]
        order = sorted(range(len(texts)), key=first.__getitem__)
        sorted_ids, chunk, plan = [first[place] for place in order], 0, []
        for number, place in enumerate(order):
            if self.road.chunk != chunk:
                chunk = self.road.chunk
                plan = plan_pieces(sorted_ids, chunk)
            if not self._take_known(texts[place]):
                self._keep(texts[place], self._answer(texts[place], plan[number][1]))

    def _answer(self, entries: Sequence[SpanEntry], ends: Sequence[int]) -> dict[str, Reading]:
        """The readings of a text's spans, each behind the answers that were drawn at those before it.

        Args:
            ends: where pieces end of what stands before the first span.
        """
        before: Tokens = ()
        self.road.begin(())

        def read(entry: SpanEntry, ids: Tokens, span: SpelledSpan) -> Reading:
            nonlocal before, ends
            opened = OpenSpan(self._loaded, span, ids, as_published=False)
            while True:
                shared = shared_length(before, ids)
                pieces = ends or [*range(shared, span.shared, self.road.chunk), span.shared]
                try:
                    answers = self.road.read(ids, pieces, [], opened.asks)
                except OutOfMemory:
                    before, ends = (), ()  # the road has given up what it held
                    if not self._halve():
                        return failed(entry.key, self._too_large(len(ids)))
                else:
                    before, ends = ids, ()
                    return opened.close(entry.key, answers)

        return self._write_own(entries, read)

    def _write_own(
        self, entries: Sequence[SpanEntry], read: Callable[[SpanEntry, Tokens, SpelledSpan], Reading]
    ) -> dict[str, Reading]:
        """Write the model's own answers into a text, each drawn from what `read` gives of its span."""
        text = entries[0].text
        whole, readout = text.shown.text, text.readout
        written, behind = "", 0
        readings: dict[str, Reading] = {}
        for entry, place in zip(entries, text.places, strict=False):
            written += whole[behind : place.start]
            behind = place.end
            ids, span = self._spell(text, written, place)
            reading = failed(entry.key, f"{TRIAL}, {span}") if isinstance(span, str) else read(entry, ids, span)
            readings[entry.key] = reading
            if reading.label_probs is None:
                reason = str(reading.reason).replace(TRIAL, f"span {entry.number}")
                for later in entries[len(readings) :]:
                    why = f"{TRIAL} has no reading: an answer before it could not be drawn ({reason})"
                    readings[later.key] = failed(later.key, why)
                break
            key = f"{readout.seed} {self._loaded.opened.weights_id}"
            drawn = answer_own(reading.label_probs, readout.sets[place.set], None if readout.seed is None else key, ids)
            written += place.leads[0] + drawn
        return readings

    def _spell(self, text: AskedText, written: str, place: Place) -> tuple[Tokens, SpelledSpan | str]:
        """The tokens of what is written, and a span behind it with its candidates; why not, where that cannot be."""
        behind = place._replace(start=len(written), end=len(written))
        try:
            spanned = span_text(text.opened, written, [behind], text.readout)
        except TokenizerError as error:
            return (), str(error)
        return spanned.ids, spanned.spans[0]


def _alike(plan: Sequence[tuple[int, tuple[int, ...]]], number: int, least: int) -> Iterator[tuple[int, int]]:
    """The other texts that share `least` tokens or more with one of a plan, and how many."""
    for step in (1, -1):
        other, shared = number, len(plan) and plan[number][1][-1]
        while 0 <= other + step < len(plan):
            shared = min(shared, plan[max(other, other + step)][0])
            other += step
            if shared < max(1, least):
                break
            yield other, shared


def _needed(text: AskedText, opens: Sequence[OpenSpan]) -> Tokens:
    """A text as far as its spans reach."""
    assert text.spelled is not None  # noqa: S101
    return text.spelled.ids[: max(ask.at for own in opens for ask in own.asks)]


def _most_children(text: AskedText) -> int:
    """Most tokens that go on from a node of the candidates' tries."""
    if text.spelled is None:
        return max(len(text.readout.sets[place.set]) * len(place.leads) for place in text.places)
    spans = [span for span in text.spelled.spans if isinstance(span, SpelledSpan)]
    return max(len(tokens) for span in spans for tokens in span.spelled.trie.children.values())
