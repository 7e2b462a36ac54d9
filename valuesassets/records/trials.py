"""`Trial`, one prompt and how its answer is read, and `Reading`, what a model answered: the waist between the two."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from valuesassets.records.errors import QuestionError, ScoringError
from valuesassets.records.readouts import Readout, ScoreLabels, ScoreSpans

BosRule = Literal["template", "always", "never"]
"""What begins a prompt: what the tokenizer's own template puts there, its beginning-of-text token, or nothing."""
UNRESOLVED_BELOW = 0.01
"""Resolution mass under which a label that another label goes on from cannot be told apart (never filled in)."""


class Turn(NamedTuple):
    """What one side of a conversation says."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True)
class Trial:
    """One prompt and how its answer is read: what the columns of `trials` say. `trial_id` is unique in a language.

    A model that is asked in chat is shown `chat` where there is one; `prompt` is the plain text for any other.

    Raises:
        QuestionError: a span lies outside its text or reaches into the one before, or turns are in no order that a
            model can be asked in.
    """

    trial_id: str
    question_id: str
    language: str
    prompt: str
    order: str
    wording: int
    condition: str | None
    readout: Readout
    estimator: str | None = None
    chat: tuple[Turn, ...] | None = None

    def __post_init__(self) -> None:
        if self.chat is not None:
            _require_order(self)
        if isinstance(self.readout, ScoreSpans):
            _require_place(self, self.readout)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it is read by."""
        return self._by_labels.labels

    @property
    def values(self) -> tuple[int, ...]:
        """The option code that stands behind each label."""
        return self._by_labels.values

    @property
    def _by_labels(self) -> ScoreLabels:
        if isinstance(self.readout, ScoreLabels):
            return self.readout
        raise QuestionError(f"trial {self.trial_id}: is read by {type(self.readout).__name__}, labels were expected")

    @property
    def asked_id(self) -> str:
        """The question id with its condition: `v111@v110=1`."""
        return asked_id(self.question_id, self.condition)


def _require_order(trial: Trial) -> None:
    """See that a chat can be shown: a system turn comes first or not at all, and the others take turns."""
    turns = trial.chat or ()
    named = f"trial {trial.trial_id}: chat"
    if not turns:
        raise QuestionError(f"{named}: no turns in it; leave it out where the model is given the prompt alone")
    roles = [turn.role for turn in turns]
    late = next((place for place, role in enumerate(roles) if role == "system" and place), None)
    if late is not None:
        raise QuestionError(f"{named}: turn {late + 1} of {len(turns)} is the system's; only the first may be")
    if roles[-1] == "system":
        raise QuestionError(f"{named}: ends in a system turn; add what the user says")
    spoken = roles[roles[0] == "system" :]
    if any(role != ("user", "assistant")[place % 2] for place, role in enumerate(spoken)):
        raise QuestionError(
            f"{named}: {', '.join(spoken[:4])}: user and assistant were expected in turn, the user first"
        )
    if not isinstance(trial.readout, ScoreSpans) and roles[-1] != "user":
        raise QuestionError(f"{named}: ends in a turn of the assistant, whose answer is asked for; leave that turn out")


def _require_place(trial: Trial, readout: ScoreSpans) -> None:
    """See that every span lies in its text, behind the one before."""
    before = 0
    for number, span in enumerate(readout.spans):
        named = f"trial {trial.trial_id}: span {number} ({span.start} to {span.end})"
        if not 0 <= span.start <= span.end <= len(trial.prompt):
            raise QuestionError(
                f"{named} lies outside the prompt, which has {len(trial.prompt)} characters; mend its ends"
            )
        if span.start < before:
            raise QuestionError(f"{named} reaches into the span before it; give spans in order, none over another")
        before = span.end
    if trial.chat is not None:
        places_in_chat(trial, readout)


def places_in_chat(trial: Trial, readout: ScoreSpans) -> list[tuple[int, int, int]]:
    """For each span the assistant's turn that it stands in, from 0, its first character there and the one behind it.

    An answer stands where its span says (`at`). A turn that one other span is in is that span's answer. Where several
    are, their answers are looked for in their order, as they stand in the prompt but for white space around them; there
    must be one way only to find them so.

    Raises:
        QuestionError: there is no such turn, or the answer is not in it, or in more places than one.
    """
    spoken = [turn.text for turn in trial.chat or () if turn.role == "assistant"]
    turns = [number if span.turn is None else span.turn for number, span in enumerate(readout.spans)]
    places: list[tuple[int, int, int]] = []
    for number, (span, turn) in enumerate(zip(readout.spans, turns, strict=True)):
        named = f"trial {trial.trial_id}: span {number}"
        if not 0 <= turn < len(spoken) or turn < max(turns[: number + 1]):
            raise QuestionError(
                f"{named} is in turn {turn} of the assistant, who has {len(spoken)}; give each span its turn, in order"
            )
        answer = trial.prompt[span.start : span.end].strip()
        behind = places[-1][2] if places and places[-1][0] == turn else 0
        if span.at is not None:
            places.append((turn, span.at, _end_of(answer, span.at, spoken[turn], behind, f"{named}: at = {span.at}")))
            continue
        if turns.count(turn) == 1:
            places.append((turn, 0, len(spoken[turn])))
            continue
        start = spoken[turn].find(answer, behind)
        if start < 0 or not answer:
            raise QuestionError(f"{named}: its answer {answer!r} is not in the assistant's turn {turn}; mend the turn")
        places.append((turn, start, start + len(answer)))
    _require_one_way(trial, readout, spoken, places)
    return places


def _end_of(answer: str, at: int, turn: str, behind: int, named: str) -> int:
    """The character of a turn behind an answer that begins at one of it, or behind a space there."""
    if not behind <= at <= len(turn):
        raise QuestionError(
            f"{named} is no place in the assistant's turn of {len(turn)} characters behind its first {behind}, which "
            "are other answers' or none; give the answer's first character there"
        )
    start = at + turn.startswith(" ", at)
    if not turn.startswith(answer, start):
        raise QuestionError(f"{named}: its answer {answer!r} does not stand there in the assistant's turn; mend it")
    return start + len(answer)


def _require_one_way(
    trial: Trial, readout: ScoreSpans, spoken: Sequence[str], places: Sequence[tuple[int, int, int]]
) -> None:
    """See that answers that were found as early as can be are not found later too: that would be another context."""
    turn_behind, limit = None, 0
    for number, (turn, start, end) in reversed(list(enumerate(places))):
        answer = spoken[turn][start:end]
        latest = spoken[turn].rfind(answer, 0, limit if turn == turn_behind else len(spoken[turn]))
        if latest != start and readout.spans[number].at is None:
            raise QuestionError(
                f"trial {trial.trial_id}: span {number}: its answer {answer!r} may be that at character {start} or at "
                f"{latest} of the assistant's turn {turn}; give each answer a turn of its own"
            )
        turn_behind, limit = turn, start


def main_trials(trials: Iterable[Trial]) -> list[Trial]:
    """The trials that put the questions themselves, without those that serve an estimator beside."""
    return [trial for trial in trials if trial.estimator is None]


class NoTrials(list[Trial]):
    """The trials of a part that no model is to be asked: none, and why."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


def asked_id(question_id: str, condition: str | None) -> str:
    """The id under which a question's answers are filed: with its condition where it has one.

    >>> asked_id("v111", "v110=1")
    'v111@v110=1'
    """
    return question_id if condition is None else f"{question_id}@{condition}"


class SpanFault(StrEnum):
    """Why a span could not be read: what stands in a reading's reason before the words of that cause."""

    BOUNDARY = "boundary"
    """A candidate would change the tokens before it, as where one token reaches across the mark's edge."""
    TEMPLATE = "template"
    """The chat template fails on the turns, does not show them as they stand, or shows earlier ones otherwise later."""
    TOO_LONG = "too_long"
    """The text before the answer is longer than what the model was made for."""
    NOT_A_NUMBER = "not_a_number"
    """The model gave NaN or infinite logits."""


_NAMED_FAULT = re.compile(rf"(?:^|: |\()({'|'.join(SpanFault)}): ")


def fault_of(reason: str | None) -> SpanFault | None:
    """The named cause in the reason of a span's reading; None where there is none.

    >>> fault_of("m: span 3: boundary: the tokens of the text change when '1' follows")
    <SpanFault.BOUNDARY: 'boundary'>
    """
    found = _NAMED_FAULT.search(reason or "")
    return SpanFault(found[1]) if found else None


class Status(StrEnum):
    """Whether a trial could be read. Only `ok` carries probabilities, or the text that was written."""

    OK = "ok"
    UNRESOLVED = "unresolved"
    FAILED = "failed"
    REFUSED = "refused"
    """Whoever runs the model would not have it answer."""


@dataclass(frozen=True)
class Reading:
    """What a model answered to one trial, before any renormalisation: what the columns of `readings` say.

    Probabilities and label tokens stand in the order of the trial's labels, or of the span's candidates; they and
    `p_valid` are None unless `ok`.

    Attributes:
        span: number of the span, from 0; None where labels were read.
        label_probs_high, p_valid_high: upper ends where only intervals are known; None where exact.
        label_probs_published: as published code computes them, for comparison, where a trial asks for that
            (`ScoreSpans.as_published`): the first token's probability is read after the given answer's first token in
            place of before it, and later tokens after the given answer's tokens in place of the candidate's own.
        model_version: what a model behind an API called itself; None for weights, whose commit stands in the file.
    """

    trial_id: str
    label_probs: tuple[float, ...] | None
    p_valid: float | None
    resolution_mass: float | None
    resolution_mass_min: float | None
    outside: tuple[tuple[str, float], ...]
    status: Status
    reason: str | None
    reading_key: str
    label_tokens: tuple[int, ...] | None = None
    span: int | None = None
    label_probs_high: tuple[float, ...] | None = None
    p_valid_high: float | None = None
    label_probs_published: tuple[float, ...] | None = None
    model_version: str | None = None

    def __post_init__(self) -> None:
        is_read = self.label_probs is not None
        if (self.status is Status.OK) != is_read or (self.p_valid is not None) != is_read:
            raise ScoringError(f"trial {self.trial_id}: status {self.status} does not fit its probabilities")
        if self.label_probs is not None and not (
            all(0 <= p <= 1 + 1e-6 for p in self.label_probs)
            and abs(sum(self.label_probs) - (self.p_valid or 0)) < 1e-5
        ):
            raise ScoringError(f"trial {self.trial_id}: {self.label_probs} are not probabilities that sum to p_valid")

    @property
    def key(self) -> str:
        """What it is known by."""
        return self.reading_key

    @property
    def is_final(self) -> bool:
        """Whether asking again would give the same; what has failed is tried again."""
        return self.status is not Status.FAILED


LISTS = ("label_probs", "label_tokens", "label_probs_high", "label_probs_published")
"""What a reading has for each label."""


def reading_of(row: Mapping[str, Any]) -> Reading:
    """A reading of its fields as JSON and tables hold them: lists in place of tuples, the status as text."""
    tuples = {name: tuple(row[name]) for name in LISTS if row.get(name) is not None}
    outside = tuple((text, prob) for text, prob in row["outside"])
    return Reading(**{**row, **tuples, "outside": outside, "status": Status(row["status"])})


@dataclass(frozen=True)
class Answer:
    """One text that a model wrote to a trial: what the columns of `answers` say.

    Attributes:
        sample: number of the answer among those to the same trial, from 0.
        text: what follows the prompt, up to a stop text or the end of the text, neither included; None unless `ok`.
        finish: what ended it: the model (`end`), a stop text (`stop`), or the limit (`length`); None unless `ok`.
        n_tokens: tokens of the text, without what ended it; behind an API as the provider counts them, what a stop text
            cut off among them; None unless `ok`.
        reasoning: what a thinking model wrote before its answer, without tags; also where that has no end, so that the
            answer has failed. None where it does not think.
        n_reasoning_tokens: tokens before the answer's own, tags and white space among them.
        model_version: as a reading's.
        token_ids: all that a local model wrote, with its thought and a stop text, so that it can be read again; kept in
            the store of known answers, and in no table.
    """

    trial_id: str
    sample: int
    text: str | None
    finish: Literal["end", "stop", "length"] | None
    n_tokens: int | None
    status: Status
    reason: str | None
    answer_key: str
    reasoning: str | None = None
    n_reasoning_tokens: int | None = None
    model_version: str | None = None
    token_ids: tuple[int, ...] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        is_written = [value is not None for value in (self.text, self.finish, self.n_tokens)]
        if not all(is_there == (self.status is Status.OK) for is_there in is_written):
            raise ScoringError(f"trial {self.trial_id}: status {self.status} does not fit what was written")

    @property
    def key(self) -> str:
        """What it is known by."""
        return self.answer_key

    @property
    def is_final(self) -> bool:
        """As a reading's; a thought without an end would come to none again."""
        return self.status is not Status.FAILED or self.reasoning is not None


Record = Reading | Answer
"""What comes back of a trial."""


def answer_of(row: Mapping[str, Any]) -> Answer:
    """An answer of its fields as JSON and tables hold them: the status as text."""
    ids = row.get("token_ids")
    return Answer(**{**row, "status": Status(row["status"]), "token_ids": None if ids is None else tuple(ids)})
