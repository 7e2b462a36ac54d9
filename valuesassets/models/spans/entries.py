"""The spans of trials, prepared for a model: where each span is, and the key of its reading."""

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from valuesassets.models.loaded_model import OpenedModel
from valuesassets.models.prompting import Shown, as_shown, show_trial
from valuesassets.models.spans.spelling import Place, SpannedText, SpelledSpan, span_text
from valuesassets.models.spelled_trials import failed, hash_key, named_reason, shown_by
from valuesassets.records.errors import TokenizerError
from valuesassets.records.readouts import ScoreSpans
from valuesassets.records.trials import Reading, Trial, places_in_chat

SPANS_VERSION = "3"
"""Changes whenever a reading of the same model and span may come out differently."""


@dataclass(frozen=True)
class SpanEntry:
    """One span of a trial, which gives one reading."""

    text: "PreparedText"
    number: int
    key: str

    @property
    def trial_id(self) -> str:
        """The id of its trial."""
        return self.text.view.trial.trial_id

    @property
    def context_tokens(self) -> int | None:
        """Number of tokens before the answer; None where the model's own answers have yet to be written."""
        if self.text.spelled is None:
            return None
        span = self.text.spelled.spans[self.number]
        assert isinstance(span, SpelledSpan)  # noqa: S101
        return span.shared + len(span.rest)

    def own(self, record: Reading, model: str) -> Reading:
        """A stored reading as this span's: with its trial's id and its number."""
        reason = named_reason(record, model, f"trial {self.trial_id}, span {self.number}")
        return replace(record, trial_id=self.trial_id, span=self.number, reason=reason)


@dataclass(frozen=True)
class PreparedText:
    """A trial's text for `opened`, the model as it is asked this trial, and each span's place and set of candidates."""

    opened: OpenedModel
    view: Shown
    readout: ScoreSpans
    places: tuple[Place, ...]
    spelled: SpannedText | None
    """None where the model's own answers have yet to be written into it."""


def prepare_spans(opened: OpenedModel, trials: Sequence[Trial]) -> list[SpanEntry | Reading]:
    """Prepare the spans of trials, in their order, without weights; a failed reading where one cannot be asked."""
    return [entry for trial in trials for entry in _prepare(opened, trial)]


def _prepare(opened: OpenedModel, trial: Trial) -> Iterator[SpanEntry | Reading]:
    readout = trial.readout
    assert isinstance(readout, ScoreSpans)  # noqa: S101
    spans, opened = range(len(readout.spans)), as_shown(opened, trial)
    try:
        view = show_trial(opened, trial)
        places = _places(opened, view, readout)
        spelled = span_text(opened, view.text, places, readout) if readout.history == "given" else None
        if spelled is None:
            opened.tokenizer.require_round_trip(view.text)
    except TokenizerError as error:
        for number in spans:
            yield _fail(opened, trial, number, str(error))
        return
    text = PreparedText(opened, view, readout, places, spelled)
    ends = [0, *(place.end for place in places)]
    pieces = [(view.text[end : place.start], place.leads) for end, place in zip(ends, places, strict=False)]
    for number in spans:
        span_or_fault = spelled.spans[number] if spelled else None
        if isinstance(span_or_fault, str):
            yield _fail(opened, trial, number, span_or_fault)
        elif spelled is None or span_or_fault is None:
            sets = [readout.sets[span.set] for span in readout.spans[: number + 1]]
            parts = [SPANS_VERSION, "own", readout.seed, pieces[: number + 1], sets, readout.close]
            yield SpanEntry(text, number, hash_key(opened, *parts))
        else:
            yield SpanEntry(text, number, _key(opened, spelled, span_or_fault, readout))


def _places(opened: OpenedModel, view: Shown, readout: ScoreSpans) -> tuple[Place, ...]:
    """The place of each span in the text that the model sees.

    An answer that begins a turn may have a space before it or none, since models do not know which is expected. Where a
    template writes a space there, the answer's place begins before it, where the model would begin. Elsewhere an answer
    is spelled as it is.
    """
    if not opened.prompting.is_chat:
        return tuple(Place(span.start, span.end, span.set) for span in readout.spans)
    places: list[Place] = []
    for (turn, first, end), span in zip(places_in_chat(view.trial, readout), readout.spans, strict=True):
        begin = view.starts[turn]
        start, leads = begin + first, ("",)
        if first == 0:
            is_led = view.text[view.prefixes[turn] : begin] == " "
            start, leads = (begin - 1, (" ", "")) if is_led else (begin, ("", " "))
        elif span.at is not None and view.text[start] == " ":
            leads = (" ",)
        places.append(Place(start, begin + end, span.set, leads))
    return tuple(places)


def _key(opened: OpenedModel, text: SpannedText, span: SpelledSpan, readout: ScoreSpans) -> str:
    """Hash of everything that a span's reading depends on."""
    context = array("q", (*text.ids[: span.shared], *span.rest)).tobytes()
    paths = span.spelled.spellings
    stops = [(node, sorted(ends)) for node, ends in sorted(span.stops.items())]
    late = None
    if readout.as_published and span.answer_at is not None:
        longest = max(len(path) for spellings in paths for path in spellings)
        late = [span.answer_at, text.ids[span.shared : span.answer_at + longest]]
    return hash_key(opened, SPANS_VERSION, hashlib.sha256(context).hexdigest(), paths, stops, late)


def _fail(opened: OpenedModel, trial: Trial, number: int, reason: str) -> Reading:
    key = hash_key(opened, SPANS_VERSION, trial.prompt, asdict(trial.readout), number, *shown_by(opened, trial))
    return replace(failed(key, f"span {number}: {reason}"), trial_id=trial.trial_id, span=number)
