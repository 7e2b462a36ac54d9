"""Reads the spans of texts in one pass over the sorted texts, so that shared beginnings are read once."""

from collections.abc import Callable, Iterator, Sequence

from valuesassets.models.cached_text import Ask, Cost
from valuesassets.models.engine import OutOfMemory
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.reading_pass import OnProgress
from valuesassets.models.spans.entries import PreparedText, SpanEntry
from valuesassets.models.spans.open_spans import OpenSpan, answer_own
from valuesassets.models.spans.spelling import Place, SpelledSpan, TextTokens, span_text
from valuesassets.models.spans.strategies import choose_strategy, new_strategy
from valuesassets.models.spelled_trials import TRIAL, failed
from valuesassets.models.token_trees import plan_pieces, shared_length
from valuesassets.records.errors import TokenizerError
from valuesassets.records.trials import Reading, Status
from valuesassets.spelling.open_reading import OUTSIDE_KEPT
from valuesassets.spelling.tokens import NextToken, Tokens

SMALLEST_CHUNK = 16
"""Tokens below which smaller pieces no longer help where memory is short."""


class SpanPass:
    """Reads the spans of texts by a `strategy`; `notes` are what a person should know about the readings."""

    def __init__(
        self,
        loaded: LoadedModel,
        entries: Sequence[SpanEntry],
        store: KnownReadings | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self._loaded, self._store, self._on_progress = loaded, store, on_progress
        self.notes: list[str] = []
        self._texts: dict[int, list[SpanEntry]] = {}
        for entry in entries:
            self._texts.setdefault(id(entry.text), []).append(entry)
        self._n_entries, self._done = len(entries), 0
        self._readings: dict[str, Reading] = {}
        self._n_likeliest = OUTSIDE_KEPT + max(_most_children(group[0].text) for group in self._texts.values())
        self.strategy = choose_strategy(loaded, self._n_likeliest, self.notes)

    def read(self) -> dict[str, Reading]:
        """The readings by key."""
        texts = list(self._texts.values())
        self._read_given([entries for entries in texts if entries[0].text.spelled is not None])
        self._read_own([entries for entries in texts if entries[0].text.spelled is None])
        return self._readings

    def read_again(self, entry: SpanEntry, chunk: int, cost: Cost) -> Reading | None:
        """Read a span again, alone and without text behind it, in pieces of `chunk` tokens; None if it does not fit."""
        ids, span = self._question_of(entry)
        opened = OpenSpan(self._loaded, span, ids, entry.text.readout.as_published)
        length = max(ask.at for ask in opened.asks)
        strategy = new_strategy(self._loaded, self._n_likeliest, self.strategy)
        try:
            answers = strategy.read(ids[:length], [*range(chunk, length, chunk), length], [], opened.asks)
        except OutOfMemory:
            return None
        cost.add(strategy.cost.tokens, strategy.cost.rows)
        return opened.close(entry.key, answers)

    def _question_of(self, entry: SpanEntry) -> tuple[Tokens, SpelledSpan]:
        """The tokens of the text at a span that was read, and the span's spellings."""
        if entry.text.spelled is not None:
            span = entry.text.spelled.spans[entry.number]
            assert isinstance(span, SpelledSpan)  # noqa: S101
            return entry.text.spelled.ids, span
        questions: dict[str, tuple[Tokens, SpelledSpan]] = {}

        def recall(each: SpanEntry, ids: Tokens, span: SpelledSpan) -> Reading:
            questions[each.key] = ids, span
            return self._readings[each.key]

        self._write_own(self._texts[id(entry.text)][: entry.number + 1], recall)
        return questions[entry.key]

    def _read_given(self, texts: list[list[SpanEntry]]) -> None:
        """Read texts with given answers."""
        opens = [self._open(entries) for entries in texts]
        needed_ids = [_needed(entries[0].text, spans) for entries, spans in zip(texts, opens, strict=True)]
        order = sorted(range(len(texts)), key=needed_ids.__getitem__)
        sorted_ids = [needed_ids[place] for place in order]
        plan = plan_pieces(sorted_ids, self.strategy.chunk)
        first_row = min((ask.at for spans in opens for each in spans for ask in each.asks if not ask.path), default=0)
        for number, place in enumerate(order):
            entries, asks = texts[place], [ask for spans in opens[place] for ask in spans.asks]
            self.strategy.begin(asks)
            if self._take_stored(entries):
                continue
            beside = [
                ask
                for neighbour, shared in _sharing_texts(plan, number, first_row)
                for ask in self._rows(opens[order[neighbour]], shared)
            ]
            while True:
                try:
                    answers = self.strategy.read(sorted_ids[number], plan[number][1], beside, asks)
                except OutOfMemory:
                    if not self._halve():
                        why = self._too_large(len(sorted_ids[number]))
                        self._keep(entries, {entry.key: failed(entry.key, why) for entry in entries})
                        break
                    plan = plan_pieces(sorted_ids, self.strategy.chunk)
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
        """The asks of spans within the first `shared` tokens of their text."""
        return (ask for span in opens for ask in span.asks if not ask.path and ask.at <= shared)

    def _take_stored(self, entries: Sequence[SpanEntry]) -> bool:
        """Take a text's readings from the store; whether all of them are there."""
        if self._store is None:
            return False
        stored = {entry.key: self._store.get(entry.key) for entry in entries}
        readings = {key: reading for key, reading in stored.items() if reading is not None}
        if len(readings) < len(stored):
            return False
        self._note(entries, readings)
        return True

    def _close(self, entries: Sequence[SpanEntry], opens: Sequence[OpenSpan], answers: Sequence[NextToken]) -> None:
        """Turn the answers of a text into readings."""
        new: dict[str, Reading] = {}
        start = 0
        for entry, span in zip(entries, opens, strict=True):
            stored = self._store.get(entry.key) if self._store else None
            reading = stored or span.close(entry.key, answers[start : start + len(span.asks)])
            if reading.status is Status.FAILED:  # the text behind it may be the cause
                reading = self.read_again(entry, self.strategy.chunk, self.strategy.cost) or reading
            new[entry.key] = reading
            start += len(span.asks)
        self._keep(entries, new)

    def _keep(self, entries: Sequence[SpanEntry], new: dict[str, Reading]) -> None:
        if self._store:
            self._store.add(new.values())
        self._note(entries, new)

    def _note(self, entries: Sequence[SpanEntry], readings: dict[str, Reading]) -> None:
        self._readings |= readings
        self._done += len(entries)
        if self._on_progress:
            self._on_progress(self._done, self._n_entries)

    def _halve(self) -> bool:
        """Halve the pieces; False where smaller pieces no longer help."""
        if self.strategy.chunk // 2 < SMALLEST_CHUNK:
            return False
        self.strategy.chunk //= 2
        self.notes.append(f"out of memory: went on with pieces of {self.strategy.chunk} tokens")
        return True

    def _too_large(self, tokens: int) -> str:
        device = self._loaded.device
        return f"{TRIAL}: {tokens} tokens do not fit into the memory of {device}; free some or use a larger device"

    def _read_own(self, texts: list[list[SpanEntry]]) -> None:
        """Read texts into which the model's own answers are written."""
        questions = [entries[0].text for entries in texts]
        beginnings = [
            TextTokens(text.opened.tokenizer, text.view.text[: text.places[0].start]).ids for text in questions
        ]
        order = sorted(range(len(texts)), key=beginnings.__getitem__)
        sorted_ids, chunk, plan = [beginnings[place] for place in order], 0, []
        for number, place in enumerate(order):
            if self.strategy.chunk != chunk:
                chunk = self.strategy.chunk
                plan = plan_pieces(sorted_ids, chunk)
            if not self._take_stored(texts[place]):
                self._keep(texts[place], self._answer(texts[place], plan[number][1]))

    def _answer(self, entries: Sequence[SpanEntry], ends: Sequence[int]) -> dict[str, Reading]:
        """The readings of a text's spans, each after the answers drawn before it.

        Args:
            ends: where the pieces of the text before the first span end.
        """
        before: Tokens = ()
        self.strategy.begin(())

        def read(entry: SpanEntry, ids: Tokens, span: SpelledSpan) -> Reading:
            nonlocal before, ends
            opened = OpenSpan(self._loaded, span, ids, as_published=False)
            while True:
                shared = shared_length(before, ids)
                pieces = ends or [*range(shared, span.shared, self.strategy.chunk), span.shared]
                try:
                    answers = self.strategy.read(ids, pieces, [], opened.asks)
                except OutOfMemory:
                    before, ends = (), ()  # the strategy has freed its cache
                    if not self._halve():
                        return failed(entry.key, self._too_large(len(ids)))
                else:
                    before, ends = ids, ()
                    return opened.close(entry.key, answers)

        return self._write_own(entries, read)

    def _write_own(
        self, entries: Sequence[SpanEntry], read: Callable[[SpanEntry, Tokens, SpelledSpan], Reading]
    ) -> dict[str, Reading]:
        """Write the model's own answers into a text, each drawn from the reading that `read` gives of its span."""
        text = entries[0].text
        shown_text, readout = text.view.text, text.readout
        text_so_far, end_of_last = "", 0
        readings: dict[str, Reading] = {}
        for entry, place in zip(entries, text.places, strict=False):
            text_so_far += shown_text[end_of_last : place.start]
            end_of_last = place.end
            ids, span = self._spell(text, text_so_far, place)
            reading = failed(entry.key, f"{TRIAL}, {span}") if isinstance(span, str) else read(entry, ids, span)
            readings[entry.key] = reading
            if reading.label_probs is None:
                reason = str(reading.reason).replace(TRIAL, f"span {entry.number}")
                for later in entries[len(readings) :]:
                    why = f"{TRIAL} has no reading: an answer before it could not be drawn ({reason})"
                    readings[later.key] = failed(later.key, why)
                break
            key = f"{readout.seed} {self._loaded.opened.weights_id}"
            answer = answer_own(
                reading.label_probs, readout.sets[place.set], None if readout.seed is None else key, ids
            )
            text_so_far += place.leads[0] + answer
        return readings

    def _spell(self, text: PreparedText, text_so_far: str, place: Place) -> tuple[Tokens, SpelledSpan | str]:
        """The tokens of the text so far, and the span behind it; the fault in words where it cannot be spelled."""
        place_at_end = place._replace(start=len(text_so_far), end=len(text_so_far))
        try:
            spanned = span_text(text.opened, text_so_far, [place_at_end], text.readout)
        except TokenizerError as error:
            return (), str(error)
        return spanned.ids, spanned.spans[0]


def _sharing_texts(plan: Sequence[tuple[int, tuple[int, ...]]], number: int, least: int) -> Iterator[tuple[int, int]]:
    """The other texts of a plan that share `least` tokens or more with one text, and how many tokens each shares."""
    for step in (1, -1):
        neighbour, shared = number, len(plan) and plan[number][1][-1]
        while 0 <= neighbour + step < len(plan):
            shared = min(shared, plan[max(neighbour, neighbour + step)][0])
            neighbour += step
            if shared < max(1, least):
                break
            yield neighbour, shared


def _needed(text: PreparedText, opens: Sequence[OpenSpan]) -> Tokens:
    """The tokens of a text up to the last one that its spans need."""
    assert text.spelled is not None  # noqa: S101
    return text.spelled.ids[: max(ask.at for span in opens for ask in span.asks)]


def _most_children(text: PreparedText) -> int:
    """Most children of a node in the candidates' tries."""
    if text.spelled is None:
        return max(len(text.readout.sets[place.set]) * len(place.leads) for place in text.places)
    spans = [span for span in text.spelled.spans if isinstance(span, SpelledSpan)]
    return max(len(tokens) for span in spans for tokens in span.spelled.trie.children.values())
