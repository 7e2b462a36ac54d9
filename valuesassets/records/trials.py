"""`Trial`: one prompt and how its answer is read. `Reading` and `Answer`: what a model answered to it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from valuesassets.records.errors import QuestionError, ScoringError
from valuesassets.records.readouts import Readout, ScoreLabels, ScoreSpans

BosRule = Literal["template", "always", "never"]
"""What begins a prompt: whatever the tokenizer's template adds, always its beginning-of-text token, or nothing."""
UNRESOLVED_BELOW = 0.01
"""Least resolution mass; below it, a label cannot be distinguished from a longer one that begins with it."""


class Turn(NamedTuple):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True)
class Trial:
    """One prompt and how its answer is read, a row of `trials`. `trial_id` is unique in a language.

    A chat model is shown `chat` where there is one; all other models are shown `prompt`.

    Raises:
        QuestionError: a span lies outside its text or overlaps the one before, or the turns are in an order that no
            model accepts.
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
        """The labels whose probabilities are read."""
        return self._by_labels.labels

    @property
    def values(self) -> tuple[int, ...]:
        """The option code of each label."""
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
    """Require that a chat can be shown: a system turn only at the start, then user and assistant in turn."""
    turns = trial.chat or ()
    label = f"trial {trial.trial_id}: chat"
    if not turns:
        raise QuestionError(f"{label}: no turns in it; leave it out where the model is given the prompt alone")
    roles = [turn.role for turn in turns]
    late = next((place for place, role in enumerate(roles) if role == "system" and place), None)
    if late is not None:
        raise QuestionError(f"{label}: turn {late + 1} of {len(turns)} is the system's; only the first may be")
    if roles[-1] == "system":
        raise QuestionError(f"{label}: ends in a system turn; add what the user says")
    spoken = roles[roles[0] == "system" :]
    if any(role != ("user", "assistant")[place % 2] for place, role in enumerate(spoken)):
        raise QuestionError(
            f"{label}: {', '.join(spoken[:4])}: user and assistant were expected in turn, the user first"
        )
    if not isinstance(trial.readout, ScoreSpans) and roles[-1] != "user":
        raise QuestionError(f"{label}: ends in a turn of the assistant, whose answer is asked for; leave that turn out")


def _require_place(trial: Trial, readout: ScoreSpans) -> None:
    """Require that every span lies in its text, after the one before."""
    last_end = 0
    for number, span in enumerate(readout.spans):
        label = f"trial {trial.trial_id}: span {number} ({span.start} to {span.end})"
        if not 0 <= span.start <= span.end <= len(trial.prompt):
            raise QuestionError(
                f"{label} lies outside the prompt, which has {len(trial.prompt)} characters; mend its ends"
            )
        if span.start < last_end:
            raise QuestionError(f"{label} reaches into the span before it; give spans in order, none over another")
        last_end = span.end
    if trial.chat is not None:
        places_in_chat(trial, readout)


def places_in_chat(trial: Trial, readout: ScoreSpans) -> list[tuple[int, int, int]]:
    """For each span its turn of the assistant, from 0, and the start and end of its answer in that turn.

    An answer stands where its span's `at` says. Without `at`, a turn with a single span is that span's answer. In a
    turn with several spans, the answers are searched in order, ignoring white space around them; their places must be
    unambiguous.

    Raises:
        QuestionError: the turn does not exist, or the answer is not in it or in several places.
    """
    texts = [turn.text for turn in trial.chat or () if turn.role == "assistant"]
    turns = [number if span.turn is None else span.turn for number, span in enumerate(readout.spans)]
    places: list[tuple[int, int, int]] = []
    for number, (span, turn) in enumerate(zip(readout.spans, turns, strict=True)):
        label = f"trial {trial.trial_id}: span {number}"
        if not 0 <= turn < len(texts) or turn < max(turns[: number + 1]):
            raise QuestionError(
                f"{label} is in turn {turn} of the assistant, who has {len(texts)}; give each span its turn, in order"
            )
        answer = trial.prompt[span.start : span.end].strip()
        last_end = places[-1][2] if places and places[-1][0] == turn else 0
        if span.at is not None:
            places.append((turn, span.at, _end_of(answer, span.at, texts[turn], last_end, f"{label}: at = {span.at}")))
            continue
        if turns.count(turn) == 1:
            places.append((turn, 0, len(texts[turn])))
            continue
        start = texts[turn].find(answer, last_end)
        if start < 0 or not answer:
            raise QuestionError(f"{label}: its answer {answer!r} is not in the assistant's turn {turn}; mend the turn")
        places.append((turn, start, start + len(answer)))
    _require_one_way(trial, readout, texts, places)
    return places


def _end_of(answer: str, at: int, turn: str, last_end: int, label: str) -> int:
    """The end of an answer in a turn, where it begins at character `at` or after a space there."""
    if not last_end <= at <= len(turn):
        raise QuestionError(
            f"{label} is no place in the assistant's turn of {len(turn)} characters behind its first {last_end}, which "
            "are other answers' or none; give the answer's first character there"
        )
    start = at + turn.startswith(" ", at)
    if not turn.startswith(answer, start):
        raise QuestionError(f"{label}: its answer {answer!r} does not stand there in the assistant's turn; mend it")
    return start + len(answer)


def _require_one_way(
    trial: Trial, readout: ScoreSpans, texts: Sequence[str], places: Sequence[tuple[int, int, int]]
) -> None:
    """Require that no answer, each found at its earliest place, also fits at a later one, with another context."""
    next_turn, limit = None, 0
    for number, (turn, start, end) in reversed(list(enumerate(places))):
        answer = texts[turn][start:end]
        latest = texts[turn].rfind(answer, 0, limit if turn == next_turn else len(texts[turn]))
        if latest != start and readout.spans[number].at is None:
            raise QuestionError(
                f"trial {trial.trial_id}: span {number}: its answer {answer!r} may be that at character {start} or at "
                f"{latest} of the assistant's turn {turn}; give each answer a turn of its own"
            )
        next_turn, limit = turn, start


def main_trials(trials: Iterable[Trial]) -> list[Trial]:
    """The trials that ask the questions themselves, without those of additional estimators."""
    return [trial for trial in trials if trial.estimator is None]


class NoTrials(list[Trial]):
    """An empty list of trials, with the reason why a part has none."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


def asked_id(question_id: str, condition: str | None) -> str:
    """The id of a question's answers: the question id, with the condition where there is one.

    >>> asked_id("v111", "v110=1")
    'v111@v110=1'
    """
    return question_id if condition is None else f"{question_id}@{condition}"


class SpanFault(StrEnum):
    """Why a span could not be read; a reading's reason contains this word before the details."""

    BOUNDARY = "boundary"
    """A candidate would change the tokens before it, for example because a token spans the edge of the mark."""
    TEMPLATE = "template"
    """The chat template fails on the turns, changes their text, or renders earlier turns differently later."""
    TOO_LONG = "too_long"
    """The text before the answer is longer than the model's context."""
    NOT_A_NUMBER = "not_a_number"
    """The model gave NaN or infinite logits."""


_NAMED_FAULT = re.compile(rf"(?:^|: |\()({'|'.join(SpanFault)}): ")


def fault_of(reason: str | None) -> SpanFault | None:
    """The `SpanFault` in the reason of a span's reading; None where there is none.

    >>> fault_of("m: span 3: boundary: the tokens of the text change when '1' follows")
    <SpanFault.BOUNDARY: 'boundary'>
    """
    match = _NAMED_FAULT.search(reason or "")
    return SpanFault(match[1]) if match else None


class Status(StrEnum):
    """Whether a trial could be read. Only `ok` has probabilities or a written text."""

    OK = "ok"
    UNRESOLVED = "unresolved"
    FAILED = "failed"
    REFUSED = "refused"
    """The provider of the model refused to answer."""


@dataclass(frozen=True)
class Reading:
    """A model's answer to one trial, before any renormalisation; a row of `readings`.

    Probabilities and label tokens are in the order of the trial's labels or of the span's candidates; they and
    `p_valid` are None unless the status is `ok`.

    Attributes:
        span: number of the span, from 0; None where labels were read.
        label_probs_high, p_valid_high: upper ends where only intervals are known; None where exact.
        label_probs_published: `label_probs` as published code computes them, for comparison, where a trial asks for it
            (`ScoreSpans.as_published`): the first token's probability is read after the given answer's first token
            instead of before it, and later tokens after the given answer's tokens instead of the candidate's own.
        model_version: the version that a model behind an API reports; None for weights, whose commit is in the file.
        label_counts: drawn answers that are each label; `label_probs` are these over `n_drawn`. None where exact.
        n_drawn: answers drawn to the trial, whether they are an option or not; None where exact.
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
    label_counts: tuple[int, ...] | None = None
    n_drawn: int | None = None

    def __post_init__(self) -> None:
        is_read = self.label_probs is not None
        if (self.status is Status.OK) != is_read or (self.p_valid is not None) != is_read:
            raise ScoringError(f"trial {self.trial_id}: status {self.status} does not fit its probabilities")
        if self.label_probs is not None and not (
            all(0 <= p <= 1 + 1e-6 for p in self.label_probs)
            and abs(sum(self.label_probs) - (self.p_valid or 0)) < 1e-5
        ):
            raise ScoringError(f"trial {self.trial_id}: {self.label_probs} are not probabilities that sum to p_valid")
        if self.label_counts is not None or self.n_drawn is not None:
            _require_counts(self)

    @property
    def key(self) -> str:
        """The hash that identifies it in the store of known readings and answers."""
        return self.reading_key

    @property
    def is_final(self) -> bool:
        """Whether asking again would give the same; failed readings are tried again."""
        return self.status is not Status.FAILED


def _require_counts(reading: Reading) -> None:
    """Require that the probabilities of a reading are shares of its drawn answers."""
    counts, n, probs = reading.label_counts or (), reading.n_drawn or 0, reading.label_probs or ()
    shares = [count / max(n, 1) for count in counts]
    if len(shares) != len(probs) or any(abs(share - p) > 1e-6 for share, p in zip(shares, probs, strict=True)):
        raise ScoringError(
            f"trial {reading.trial_id}: {reading.label_probs} are not {reading.label_counts} of {reading.n_drawn} draws"
        )


LISTS = ("label_probs", "label_tokens", "label_probs_high", "label_probs_published", "label_counts")
"""The fields of a reading that have a value for each label."""
OF_DRAWS = ("label_counts", "n_drawn")
"""The fields of a reading that only drawn answers have; without them, a reading is written as if there were none."""


def reading_of(row: Mapping[str, Any]) -> Reading:
    """A reading from a row of JSON or of a table, with lists instead of tuples and the status as text."""
    tuples = {name: tuple(row[name]) for name in LISTS if row.get(name) is not None}
    outside = tuple((text, prob) for text, prob in row["outside"])
    return Reading(**{**row, **tuples, "outside": outside, "status": Status(row["status"])})


@dataclass(frozen=True)
class Answer:
    """One text that a model wrote in reply to a trial; a row of `answers`.

    Attributes:
        sample: number of the answer among those to the same trial, from 0.
        text: the text after the prompt, without a stop text or end token; None unless `ok`.
        finish: what ended it: the model (`end`), a stop text (`stop`), or the limit (`length`); None unless `ok`.
        n_tokens: tokens of the text, without the stop text or end token; behind an API as the provider counts them,
            perhaps with text after a stop text; None unless `ok`.
        reasoning: a thinking model's text before its answer, without tags; also where the thought has no end and the
            answer failed. None where the model does not think.
        n_reasoning_tokens: tokens before the answer, including tags and white space.
        model_version: as in `Reading`.
        token_ids: all tokens that a local model wrote, with its thought and the stop text, so that the answer can be
            read again; kept in the store of known answers, in no table.
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
        """The hash that identifies it in the store of known readings and answers."""
        return self.answer_key

    @property
    def is_final(self) -> bool:
        """As in `Reading`; a thought without an end is final, since it would have none again."""
        return self.status is not Status.FAILED or self.reasoning is not None


Record = Reading | Answer
"""The result of a trial."""


def fields_of(record: Record) -> dict[str, Any]:
    """The fields of a record by name; those of draws only where it has them."""
    return {name: value for name, value in vars(record).items() if value is not None or name not in OF_DRAWS}


def answer_of(row: Mapping[str, Any]) -> Answer:
    """An answer from a row of JSON or of a table, with the status as text."""
    ids = row.get("token_ids")
    return Answer(**{**row, "status": Status(row["status"]), "token_ids": None if ids is None else tuple(ids)})
