"""From trials to answers: a model writes, each answer by noise of its own, in blocks that outlive a killed job."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import torch

from valuesassets.models.answer_certificate import GenerationCertificate, certify_answers
from valuesassets.models.keyed_draws import row_key
from valuesassets.models.known_readings import KnownAnswers
from valuesassets.models.loading import LoadedModel, OpenedModel
from valuesassets.models.prompting import show_trial
from valuesassets.models.reading_pass import OnProgress
from valuesassets.models.row_width import choose_width
from valuesassets.models.spelled_trials import TRIAL, ended_by, named_reason, require_room, shown_by
from valuesassets.models.writing import Asked, Writer, Written
from valuesassets.records.errors import QuestionError, ScoringError, TokenizerError
from valuesassets.records.files import sha256_json
from valuesassets.records.readouts import Generate
from valuesassets.records.thoughts import without_thought
from valuesassets.records.trials import Answer, Status, Trial
from valuesassets.spelling.tokens import Tokens

GENERATOR_VERSION = "2"
"""Changes whenever an answer of the same model and trial may come out differently."""
BLOCK_ROWS = 8
"""Answers of a block, over the rows that go through the model at a time."""


@dataclass(frozen=True)
class AskedTrial:
    """One answer to be written to a trial, prepared for the model's tokenizer."""

    trial: Trial
    sample: int
    asked: Asked
    key: str

    @property
    def trial_id(self) -> str:
        """As an answer has one."""
        return self.trial.trial_id

    def own(self, record: Answer, model: str) -> Answer:
        """An answer of its key as this trial's: under its id, and its reason, if it failed, naming model and trial."""
        named = f"trial {self.trial_id} ({self.trial.language}, sample {self.sample})"
        record = without_thought(record, TRIAL)
        reason = named_reason(record, model, named)
        return replace(record, trial_id=self.trial_id, reason=reason)


@dataclass(frozen=True)
class WrittenTrials:
    """Answers in the order of their trials and samples, and how they were made: a function of model and trials alone.

    Attributes:
        width: most rows that go through the model at a time, before memory ran out.
        blocks: of the plan over all answers, whether or not some were known.
        notes: what a person should know, in words.
    """

    records: tuple[Answer, ...]
    certificate: GenerationCertificate
    width: int
    blocks: int
    notes: tuple[str, ...]

    @property
    def doubt(self) -> str | None:
        """Why answers depend on what was asked beside them, in words; None where they do not."""
        return self.certificate.doubt

    @property
    def refusal(self) -> None:
        """Answers are kept: each is one that the model may write."""
        return None

    def describe(self) -> dict[str, object]:
        """Batch plan and certificate, as they go into a file's metadata."""
        return {
            "generator_version": GENERATOR_VERSION,
            "torch": torch.__version__,
            "batch_plan": {"width": self.width, "blocks": self.blocks},
            "batch_invariance": asdict(self.certificate),
            "notes": list(self.notes),
        }


def prepare_answers(opened: OpenedModel, trials: Sequence[Trial]) -> list[AskedTrial | Answer]:
    """Every answer of every trial, without weights; one that cannot be asked for is already its failed record."""
    found: list[AskedTrial | Answer] = []
    for trial in trials:
        readout = trial.readout
        if not isinstance(readout, Generate):
            raise QuestionError(f"trial {trial.trial_id}: is read by {type(readout).__name__}, Generate was expected")
        try:
            prompt_ids = _prompt_ids(opened, show_trial(opened, trial).text, _most_tokens(opened, readout))
        except TokenizerError as error:
            for sample in range(readout.samples):
                key = _answer_key(opened, [trial.prompt, *shown_by(opened, trial)], readout, sample)
                found.append(replace(_failed(key, str(error), sample), trial_id=trial.trial_id))
        else:
            for sample in range(readout.samples):
                asked = Asked(prompt_ids, readout, row_key(readout.seed, opened.weights_id, prompt_ids, sample))
                found.append(AskedTrial(trial, sample, asked, _answer_key(opened, prompt_ids, readout, sample)))
    return found


def _most_tokens(opened: OpenedModel, readout: Generate) -> int:
    """How many tokens may be written to a prompt, those of a thought among them."""
    return readout.max_tokens + (opened.prompting.max_reasoning_tokens or 0)


def _prompt_ids(opened: OpenedModel, text: str, most_tokens: int) -> Tokens:
    """The tokens of a prompt that can be asked."""
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
    """An answer that could not be written, for whichever trial it was asked: the reason names it by `TRIAL`."""
    return Answer("", sample, None, None, None, Status.FAILED, reason, key, reasoning, n_reasoning)


def write_answers(
    loaded: LoadedModel,
    entries: Sequence[AskedTrial | Answer],
    on_progress: OnProgress | None = None,
    known: KnownAnswers | None = None,
    width: int | None = None,
) -> WrittenTrials:
    """What a model writes to each trial; blocks whose answers are all known are not written again.

    Blocks are cut over all answers, known or not, and kept when they are whole: a job that is killed repeats its block,
    and every answer comes out of the same block as in a job that was left alone. Trials that ask the same share their
    answers.

    Args:
        entries: as `prepare_answers` gives them.
        on_progress: called with (answers written, answers) as they are.
        width: most rows at a time; by model and device where not given.

    Raises:
        ScoringError: not one answer could be written; says why.
        TokenizerError: not one trial can be asked with this tokenizer.
    """
    askable = {entry.key: entry for entry in entries if isinstance(entry, AskedTrial)}
    failed = [entry for entry in entries if isinstance(entry, Answer)]
    if failed and not askable:
        raise TokenizerError(
            f"{loaded.model_id}: none of {len(entries)} answers can be asked for, the first because: "
            f"{failed[0].reason}; use another model"
        )
    if not askable:
        raise ScoringError(f"{loaded.model_id}: there are no trials to answer; write some first")
    longest = max(
        len(entry.asked.prompt_ids) + _most_tokens(loaded.opened, entry.asked.readout) for entry in askable.values()
    )
    width = width or choose_width(loaded, longest)
    writing = _Writing(loaded, _blocks(list(askable.values()), BLOCK_ROWS * width), width, known, on_progress)
    answers = writing.write()
    records = tuple(
        entry if isinstance(entry, Answer) else entry.own(answers[entry.key], loaded.model_id) for entry in entries
    )
    if all(answer.status is Status.FAILED for answer in answers.values()):
        raise ScoringError(next(str(record.reason) for record in records if record.key in answers))
    certificate = certify_answers(loaded, {key: entry.asked for key, entry in askable.items()}, answers)
    return WrittenTrials(records, certificate, width, len(writing.blocks), tuple(writing.notes))


def _blocks(entries: Sequence[AskedTrial], size: int) -> list[list[AskedTrial]]:
    """The answers cut into blocks: long prompts first, those of one prompt beside each other."""
    ordered = sorted(entries, key=lambda each: (-len(each.asked.prompt_ids), each.asked.prompt_ids, each.key))
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


class _Writing:
    """The blocks of a list of trials, written one after the other."""

    def __init__(
        self,
        loaded: LoadedModel,
        blocks: list[list[AskedTrial]],
        width: int,
        known: KnownAnswers | None,
        on_progress: OnProgress | None,
    ) -> None:
        self._loaded, self._known, self._on_progress = loaded, known, on_progress
        self.blocks = blocks
        self.writer = Writer(loaded, width, self._tick)
        self._total, self._before = sum(map(len, blocks)), 0
        self.notes: list[str] = []
        if loaded.padding_fault is not None:
            how = "rows of one length go together" if loaded.mixing_fault is None else "rows go one by one"
            self.notes.append(f"{how}: {loaded.mixing_fault or loaded.padding_fault}")

    def write(self) -> dict[str, Answer]:
        """The answers by key."""
        answers: dict[str, Answer] = {}
        for block in self.blocks:
            kept = {entry.key: found for entry in block if self._known and (found := self._known.get(entry.key))}
            if len(kept) < len(block):
                self._before = len(answers)
                new = self._write(block)
                if self._known:
                    self._known.add(new.values())
                kept = new | kept
            answers |= kept
        return answers

    def _write(self, block: Sequence[AskedTrial]) -> dict[str, Answer]:
        width = self.writer.width
        written = self.writer.write([entry.asked for entry in block])
        if self.writer.width < width:
            self.notes.append(f"out of memory: went on with {self.writer.width} rows at a time")
        return {entry.key: self._answer(entry, each) for entry, each in zip(block, written, strict=True)}

    def _tick(self, n_ended: int) -> None:
        if self._on_progress:
            self._on_progress(self._before + n_ended, self._total)

    def _answer(self, entry: AskedTrial, written: Written) -> Answer:
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
        ended = written.text, written.finish, written.n_tokens
        return Answer("", entry.sample, *ended, Status.OK, None, entry.key, *thought, token_ids=tuple(written.tokens))
