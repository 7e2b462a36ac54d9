"""From trials to answers: a model writes, each answer with its own noise, in blocks that outlive a killed job."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import torch

from valuesassets.models.answer_certificate import GenerationCertificate, certify_answers
from valuesassets.models.keyed_draws import row_key
from valuesassets.models.known_readings import KnownAnswers
from valuesassets.models.loaded_model import LoadedModel, OpenedModel
from valuesassets.models.prompting import show_trial
from valuesassets.models.reading_pass import OnProgress
from valuesassets.models.row_width import choose_width
from valuesassets.models.spelled_trials import TRIAL, ended_by, named_reason, require_room, shown_by
from valuesassets.models.writing import AnswerRequest, Writer, Written
from valuesassets.records.errors import QuestionError, ScoringError, TokenizerError
from valuesassets.records.files import sha256_json
from valuesassets.records.readouts import Generate
from valuesassets.records.thoughts import without_thought
from valuesassets.records.trials import Answer, Status, Trial
from valuesassets.spelling.tokens import Tokens

GENERATOR_VERSION = "2"
"""Changes whenever an answer of the same model and trial may come out differently."""
BLOCK_ROWS = 8
"""Answers per block, as a multiple of the rows that go through the model at a time."""


@dataclass(frozen=True)
class AnswerEntry:
    """One answer to be written to a trial, prepared for the model's tokenizer."""

    trial: Trial
    sample: int
    request: AnswerRequest
    key: str

    @property
    def trial_id(self) -> str:
        """The id of its trial."""
        return self.trial.trial_id

    def own(self, record: Answer, model: str) -> Answer:
        """A stored answer as this trial's: with its id, and a reason, if it failed, that names model and trial."""
        named = f"trial {self.trial_id} ({self.trial.language}, sample {self.sample})"
        record = without_thought(record, TRIAL)
        reason = named_reason(record, model, named)
        return replace(record, trial_id=self.trial_id, reason=reason)


@dataclass(frozen=True)
class WrittenTrials:
    """Answers in the order of their trials and samples, and how they were made: a function of model and trials alone.

    Attributes:
        width: most rows at a time, before any halving for lack of memory.
        blocks: number of blocks of all answers, stored ones included.
    """

    records: tuple[Answer, ...]
    certificate: GenerationCertificate
    width: int
    blocks: int
    notes: tuple[str, ...]

    def describe(self) -> dict[str, object]:
        """Batch plan and certificate, for a file's metadata."""
        return {
            "generator_version": GENERATOR_VERSION,
            "torch": torch.__version__,
            "batch_plan": {"width": self.width, "blocks": self.blocks},
            "batch_invariance": asdict(self.certificate),
            "notes": list(self.notes),
        }


def prepare_answers(opened: OpenedModel, trials: Sequence[Trial]) -> list[AnswerEntry | Answer]:
    """Prepare every answer of every trial, without weights; a failed record where one cannot be asked for."""
    entries: list[AnswerEntry | Answer] = []
    for trial in trials:
        readout = trial.readout
        if not isinstance(readout, Generate):
            raise QuestionError(f"trial {trial.trial_id}: is read by {type(readout).__name__}, Generate was expected")
        try:
            prompt_ids = _prompt_ids(opened, show_trial(opened, trial).text, _most_tokens(opened, readout))
        except TokenizerError as error:
            for sample in range(readout.samples):
                key = _answer_key(opened, [trial.prompt, *shown_by(opened, trial)], readout, sample)
                entries.append(replace(_failed(key, str(error), sample), trial_id=trial.trial_id))
        else:
            for sample in range(readout.samples):
                request = AnswerRequest(
                    prompt_ids, readout, row_key(readout.seed, opened.weights_id, prompt_ids, sample)
                )
                entries.append(AnswerEntry(trial, sample, request, _answer_key(opened, prompt_ids, readout, sample)))
    return entries


def _most_tokens(opened: OpenedModel, readout: Generate) -> int:
    """Most tokens that may be written behind a prompt, thoughts included."""
    return readout.max_tokens + (opened.prompting.max_reasoning_tokens or 0)


def _prompt_ids(opened: OpenedModel, text: str, most_tokens: int) -> Tokens:
    """The tokens of a prompt, which must round-trip, be some, and leave room for the answer."""
    opened.tokenizer.require_round_trip(text)
    (ids,) = opened.tokenizer.encode([text])
    if not ids:
        raise TokenizerError(f"tokenizer of {opened.tokenizer.name}: the prompt has no tokens; give it some text")
    bound = "up to " if opened.prompting.max_reasoning_tokens is None else "with its thought up to "
    require_room(opened, len(ids) + most_tokens, bound)
    return tuple(ids)


def _answer_key(opened: OpenedModel, prompt: Sequence[object], readout: Generate, sample: int) -> str:
    """Hash of everything that an answer depends on: the same key, the same answer."""
    kind = "cpu" if opened.device == "cpu" else "gpu"
    model = [opened.weights_id, opened.tokenizer.sha256, opened.dtype, kind, *ended_by(opened)]
    settings = {name: value for name, value in asdict(readout).items() if name != "samples"}
    if opened.prompting.max_reasoning_tokens is not None:
        settings["max_reasoning_tokens"] = opened.prompting.max_reasoning_tokens
    return sha256_json(["generate", GENERATOR_VERSION, *model, prompt, settings, sample])


def _failed(key: str, reason: str, sample: int, reasoning: str | None = None, n_reasoning: int | None = None) -> Answer:
    """An answer that could not be written; `TRIAL` in its reason stands for the trial that asked for it."""
    return Answer("", sample, None, None, None, Status.FAILED, reason, key, reasoning, n_reasoning)


def write_answers(
    loaded: LoadedModel,
    entries: Sequence[AnswerEntry | Answer],
    on_progress: OnProgress | None = None,
    store: KnownAnswers | None = None,
    width: int | None = None,
) -> WrittenTrials:
    """Write a model's answers to each trial; blocks whose answers are all stored are not written again.

    Blocks are cut from all answers, stored or not, and a block is stored when it is whole: a killed job repeats only
    its last block, and every answer comes from the same block as in an undisturbed job. Trials that ask the same share
    their answers.

    Args:
        on_progress: called with (answers written, all answers).
        width: most rows at a time; chosen by model and device where it is None.

    Raises:
        ScoringError: not one answer could be written; says why.
        TokenizerError: not one trial can be asked with this tokenizer.
    """
    askable = {entry.key: entry for entry in entries if isinstance(entry, AnswerEntry)}
    failed = [entry for entry in entries if isinstance(entry, Answer)]
    if failed and not askable:
        raise TokenizerError(
            f"{loaded.model_id}: none of {len(entries)} answers can be asked for, the first because: "
            f"{failed[0].reason}; use another model"
        )
    if not askable:
        raise ScoringError(f"{loaded.model_id}: there are no trials to answer; write some first")
    longest = max(
        len(entry.request.prompt_ids) + _most_tokens(loaded.opened, entry.request.readout) for entry in askable.values()
    )
    width = width or choose_width(loaded, longest)
    writing = _Writing(loaded, _blocks(list(askable.values()), BLOCK_ROWS * width), width, store, on_progress)
    answers = writing.write()
    records = tuple(
        entry if isinstance(entry, Answer) else entry.own(answers[entry.key], loaded.model_id) for entry in entries
    )
    if all(answer.status is Status.FAILED for answer in answers.values()):
        raise ScoringError(next(str(record.reason) for record in records if record.key in answers))
    certificate = certify_answers(loaded, {key: entry.request for key, entry in askable.items()}, answers)
    return WrittenTrials(records, certificate, width, len(writing.blocks), tuple(writing.notes))


def _blocks(entries: Sequence[AnswerEntry], size: int) -> list[list[AnswerEntry]]:
    """The answers in blocks: those of long prompts first, those of one prompt together."""
    ordered = sorted(entries, key=lambda each: (-len(each.request.prompt_ids), each.request.prompt_ids, each.key))
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


class _Writing:
    """Writes the blocks of a list of trials, one after the other."""

    def __init__(
        self,
        loaded: LoadedModel,
        blocks: list[list[AnswerEntry]],
        width: int,
        store: KnownAnswers | None,
        on_progress: OnProgress | None,
    ) -> None:
        self._loaded, self._store, self._on_progress = loaded, store, on_progress
        self.blocks = blocks
        self.writer = Writer(loaded, width, self._tick)
        self._total, self._before = sum(map(len, blocks)), 0
        self.notes: list[str] = []
        if loaded.padding_fault is not None:
            what_happens = "rows of one length go together" if loaded.mixing_fault is None else "rows go one by one"
            self.notes.append(f"{what_happens}: {loaded.mixing_fault or loaded.padding_fault}")

    def write(self) -> dict[str, Answer]:
        """The answers by key."""
        answers: dict[str, Answer] = {}
        for block in self.blocks:
            stored = {entry.key: answer for entry in block if self._store and (answer := self._store.get(entry.key))}
            if len(stored) < len(block):
                self._before = len(answers)
                new = self._write(block)
                if self._store:
                    self._store.add(new.values())
                stored = new | stored
            answers |= stored
        return answers

    def _write(self, block: Sequence[AnswerEntry]) -> dict[str, Answer]:
        width = self.writer.width
        written = self.writer.write([entry.request for entry in block])
        if self.writer.width < width:
            self.notes.append(f"out of memory: went on with {self.writer.width} rows at a time")
        return {entry.key: self._answer(entry, each) for entry, each in zip(block, written, strict=True)}

    def _tick(self, n_ended: int) -> None:
        if self._on_progress:
            self._on_progress(self._before + n_ended, self._total)

    def _answer(self, entry: AnswerEntry, written: Written) -> Answer:
        thought = written.reasoning, None if written.reasoning is None else written.begins
        if written.reason is not None:
            opened = self._loaded.opened
            what_to_do = (
                "raise max_reasoning_tokens, or say thinking = 'off' where the model does not think"
                if written.reasoning is not None
                else "free some or use a larger device"
                if "memory" in written.reason
                else "the weights are damaged: download or save them again"
                if opened.dtype == "float32"
                else "ask for float32"
            )
            reason = f"{written.reason} at {TRIAL} (dtype {opened.dtype}); {what_to_do}"
            return _failed(entry.key, reason, entry.sample, *thought)
        ending = written.text, written.finish, written.n_tokens
        return Answer("", entry.sample, *ending, Status.OK, None, entry.key, *thought, token_ids=tuple(written.tokens))
