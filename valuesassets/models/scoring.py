"""From trials to readings: the probability that a model's answer is each label."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import torch

from valuesassets.models.certificate import INVARIANCE_TOLERANCE, Certificate, choose_sample, largest_difference
from valuesassets.models.engine import (
    BatchBudget,
    OutOfMemory,
    count_padded,
    grow_tree,
    part_into_chains,
    part_into_trees,
    plan_batches,
    read_batch,
)
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loading import LoadedModel, OpenedModel
from valuesassets.models.open_reading import OUTSIDE_KEPT, OpenReading
from valuesassets.models.spellings import SpelledPrompt, spell_labels
from valuesassets.models.trie import Tokens
from valuesassets.records.errors import ScoringError, TokenizerError
from valuesassets.records.files import sha256_json
from valuesassets.records.readings import Reading, Status
from valuesassets.records.trials import Trial

SCORER_VERSION = "3"
"""Changes whenever a reading of the same model and trial may come out differently."""

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class ScoredTrials:
    """Readings in the order of their trials, and how they were made: a function of model and trials alone.

    Attributes:
        batches, tokens: of the plan over all trials, padding included, whether or not some readings were known.
        notes: what a person should know, in words (batches halved, trees not used).
    """

    readings: tuple[Reading, ...]
    certificate: Certificate
    batches: int
    tokens: int
    budget: BatchBudget
    notes: tuple[str, ...]

    def describe(self) -> dict[str, object]:
        """Batch plan and certificate, as they go into a file's metadata."""
        return {
            "scorer_version": SCORER_VERSION,
            "torch": torch.__version__,
            "batch_plan": {"batches": self.batches, "tokens": self.tokens, "budget": asdict(self.budget)},
            "batch_invariance": {**asdict(self.certificate), "agrees": self.certificate.agrees},
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class SpelledTrial:
    """A trial with the spellings of its labels."""

    trial: Trial
    spelled: SpelledPrompt
    reading_key: str

    @property
    def trial_id(self) -> str:
        """The trial's id."""
        return self.trial.trial_id

    @property
    def name(self) -> str:
        """For messages."""
        return f"trial {self.trial_id} ({self.trial.language}, order {self.trial.order})"


def score_trials(
    loaded: LoadedModel,
    trials: Sequence[Trial],
    on_progress: OnProgress | None = None,
    budget: BatchBudget | None = None,
) -> ScoredTrials:
    """What a model answers to each trial.

    Args:
        on_progress: called with (trials read, trials) as they are read.
        budget: of a batch; by device where not given.

    Raises:
        ScoringError: not one trial could be read; says why.
        TokenizerError: not one trial can be asked with this tokenizer.
    """
    return score_spelled(loaded, spell_trials(loaded.opened, trials), on_progress, budget)


def spell_trials(opened: OpenedModel, trials: Sequence[Trial]) -> list[SpelledTrial | Reading]:
    """Spellings and reading key of every trial, without weights; one that cannot be asked is already its reading."""
    found: list[SpelledTrial | Reading] = []
    for trial in trials:
        try:
            spelled = spell_labels(opened.tokenizer, trial.prompt, trial.readout.labels)
            _require_room(opened, spelled)
        except TokenizerError as error:
            found.append(_failed(trial.trial_id, _hash_key(opened, trial.prompt, trial.readout.labels), str(error)))
        else:
            found.append(SpelledTrial(trial, spelled, reading_key(opened, spelled)))
    return found


def _require_room(opened: OpenedModel, spelled: SpelledPrompt) -> None:
    """See that the model was made for texts this long; what it says behind its last position means nothing."""
    longest = len(spelled.prompt_ids) + max(map(len, spelled.trie.inner_nodes))
    room = getattr(opened.config.get_text_config(), "max_position_embeddings", None)
    if room is not None and longest > room:
        raise TokenizerError(f"prompt and answer take {longest} tokens, {opened.model_id} reads {room} at most")


def reading_key(opened: OpenedModel, spelled: SpelledPrompt) -> str:
    """Hash of everything that a reading depends on: the same key, the same reading."""
    return _hash_key(opened, spelled.prompt_ids, spelled.spellings)


def model_key(opened: OpenedModel) -> str:
    """Hash of the model as it is run: weights, tokenizer, dtype and this scorer."""
    return sha256_json([SCORER_VERSION, opened.weights_id, opened.tokenizer.sha256, opened.dtype])


def list_key(spelled: Sequence[SpelledTrial | Reading]) -> str:
    """Hash of what a list of trials asks, in order: what describes how they were read is filed under it."""
    return sha256_json([entry.reading_key for entry in spelled])


def known_trials(
    spelled: Sequence[SpelledTrial | Reading], known: KnownReadings
) -> tuple[list[Reading] | None, dict[str, object] | None]:
    """The readings of a list of trials and how they were made, where all of that is known; None where it is not."""
    found = [entry if isinstance(entry, Reading) else known.get(entry.reading_key) for entry in spelled]
    readings = [
        replace(reading, trial_id=entry.trial_id) for entry, reading in zip(spelled, found, strict=True) if reading
    ]
    return (readings if len(readings) == len(spelled) else None), known.description(list_key(spelled))


def _hash_key(opened: OpenedModel, *asked: object) -> str:
    return sha256_json([model_key(opened), *asked])


def _failed(trial_id: str, key: str, reason: str) -> Reading:
    return Reading(trial_id, None, None, None, None, (), Status.FAILED, reason, key)


def score_spelled(
    loaded: LoadedModel,
    spelled: Sequence[SpelledTrial | Reading],
    on_progress: OnProgress | None = None,
    budget: BatchBudget | None = None,
    known: KnownReadings | None = None,
) -> ScoredTrials:
    """What a model answers to each trial; batches whose readings are all known are not read again.

    Batches are planned over all trials, known or not: a reading comes out of the same batch, and so with the same
    bytes, whenever and however often the work was interrupted. Trials that ask the same are read once.

    Args, Raises: as `score_trials`.
    """
    budget = budget or BatchBudget.for_device(loaded.device)
    if loaded.model.get_output_embeddings() is None:
        raise ScoringError(f"{loaded.model_id}: no output embedding; a causal language model was expected")
    askable = {entry.reading_key: entry for entry in spelled if isinstance(entry, SpelledTrial)}
    failed = [entry for entry in spelled if isinstance(entry, Reading)]
    if failed and not askable:
        raise TokenizerError(
            f"{loaded.model_id}: none of {len(spelled)} trials can be asked, the first because: {failed[0].reason}; "
            "use another model"
        )
    batched = _Pass(loaded, list(askable.values()), budget, known, on_progress)
    readings = batched.read()
    if all(reading.status is Status.FAILED for reading in readings.values()):
        raise ScoringError(str(next(iter(readings.values())).reason))
    certificate = _certify(loaded, askable, readings, budget)
    notes = [] if loaded.tree_fault is None else [f"read one sequence per row: {loaded.tree_fault}"]
    return ScoredTrials(
        readings=tuple(
            entry if isinstance(entry, Reading) else replace(readings[entry.reading_key], trial_id=entry.trial_id)
            for entry in spelled
        ),
        certificate=certificate,
        batches=batched.batches,
        tokens=batched.tokens,
        budget=batched.budget,
        notes=(*notes, *batched.notes),
    )


def _certify(
    loaded: LoadedModel, askable: Mapping[str, SpelledTrial], readings: Mapping[str, Reading], budget: BatchBudget
) -> Certificate:
    """Read a sample again: each trial alone as it stands, and the sample together in a batch of its own."""
    sample = [askable[key] for key in choose_sample({key: len(a.spelled.prompt_ids) for key, a in askable.items()})]
    again = [_Pass(loaded, [entry], BatchBudget(1, 1), as_chains=True).read() for entry in sample]
    again.append(_Pass(loaded, sample, budget).read())
    pairs = [(readings[key], reading) for found in again for key, reading in found.items()]
    return Certificate(len(sample), largest_difference(pairs), INVARIANCE_TOLERANCE[loaded.opened.dtype])


@dataclass(frozen=True)
class _Row:
    """One distribution to be read: the next token behind a prompt and a beginning of an answer."""

    key: str
    node: Tokens
    sequence: Tokens


class _Pass:
    """One pass of trials through a model: trees planned, read, and turned into readings."""

    def __init__(
        self,
        loaded: LoadedModel,
        entries: Sequence[SpelledTrial],
        budget: BatchBudget,
        known: KnownReadings | None = None,
        on_progress: OnProgress | None = None,
        as_chains: bool = False,
    ) -> None:
        self._loaded, self._known, self._on_progress, self._as_chains = loaded, known, on_progress, as_chains
        self._entries = {entry.reading_key: entry for entry in entries}
        self._open = {key: OpenReading(loaded, entry.spelled) for key, entry in self._entries.items()}
        self._readings: dict[str, Reading] = {}
        self.notes: list[str] = []
        self.budget = budget
        self._rows = self._parted()
        self._trees = [grow_tree([row.sequence for row in rows]) for rows in self._rows]
        self._plan = plan_batches(self._trees, budget)
        self.batches, self.tokens = len(self._plan), count_padded(self._trees, self._plan)

    def read(self) -> dict[str, Reading]:
        """The readings by key, in the order of the entries."""
        for key, entry in self._entries.items():
            known = self._known.get(key) if self._known else None
            if known:
                self._readings[key] = known
            elif fault := self._open[key].fault:
                self._readings[key] = _failed(entry.trial_id, key, fault)
        batches = [batch for batch in self._plan if any(self._is_waiting(index) for index in batch)]
        while batches:
            try:
                self._read_batch(batches[0])
            except OutOfMemory:
                batches = self._halve(batches)
            else:
                del batches[0]
        return {key: self._readings[key] for key in self._entries}

    def _parted(self) -> list[list[_Row]]:
        """The rows of each tree: those that begin alike, or of one sequence where the model cannot read trees."""
        rows = [
            _Row(key, node, (*entry.spelled.prompt_ids, *node))
            for key, entry in self._entries.items()
            for node in entry.spelled.trie.inner_nodes
        ]
        sequences = [row.sequence for row in rows]
        is_plain = self._as_chains or not _can_read_trees(self._loaded, sequences)
        parts = part_into_chains(sequences) if is_plain else part_into_trees(sequences, self.budget.rows)
        return [[rows[index] for index in part] for part in parts]

    def _is_waiting(self, index: int) -> bool:
        return any(row.key not in self._readings for row in self._rows[index])

    def _read_batch(self, batch: Sequence[int]) -> None:
        rows = [row for index in batch for row in self._rows[index]]
        asked = [self._open[row.key].wanted(row.node) for row in rows]
        most = OUTSIDE_KEPT + max(len(self._entries[row.key].spelled.trie.children[row.node]) for row in rows)
        try:
            read = read_batch(self._loaded.model, [self._trees[index] for index in batch], asked, most)
        except TypeError as error:
            raise ScoringError(
                f"{self._loaded.model_id}: {error}; this architecture does not use its output embedding as a module"
            ) from None
        for row, next_token in zip(rows, read, strict=True):
            self._open[row.key].note(row.node, next_token)
        done = [key for key in dict.fromkeys(row.key for row in rows) if self._open[key].is_whole]
        new = {key: self._close(key) for key in done if key not in self._readings}
        self._readings |= new
        if self._known:
            self._known.add(new.values())
        if self._on_progress and new:
            self._on_progress(len(self._readings), len(self._entries))

    def _close(self, key: str) -> Reading:
        entry = self._entries[key]
        if not self._open[key].is_broken:
            return self._open[key].close(entry.trial_id, key)
        if not self._as_chains:  # its neighbours in the tree may have broken it
            return _Pass(self._loaded, [entry], BatchBudget(1, 1), as_chains=True).read()[key]
        opened = self._loaded.opened
        what_to_do = (
            "the weights are damaged: download or save them again" if opened.dtype == "float32" else "ask for float32"
        )
        reason = f"{opened.model_id}: NaN or infinite logits at {entry.name} (dtype {opened.dtype}); {what_to_do}"
        return _failed(entry.trial_id, key, reason)

    def _halve(self, batches: list[list[int]]) -> list[list[int]]:
        """What is left in batches of half the size, a tree that does not fit alone in its sequences."""
        (first, *more), *rest = batches
        if more:
            self.budget = self.budget.halved()
            self.notes.append(f"out of memory: went on with batches of {self.budget.tokens} tokens")
            left = [index for batch in batches for index in batch]
            plan = plan_batches([self._trees[index] for index in left], self.budget)
            return [[left[position] for position in batch] for batch in plan]
        if self._trees[first].is_chain:
            self._give_up(first)
            return rest
        rows = self._rows[first]
        chains = [[rows[index] for index in part] for part in part_into_chains([row.sequence for row in rows])]
        self.notes.append(f"out of memory: read {len(chains)} sequences one by one")
        start = len(self._trees)
        self._rows += chains
        self._trees += [grow_tree([row.sequence for row in chain]) for chain in chains]
        return [[index] for index in range(start, len(self._trees))] + rest

    def _give_up(self, index: int) -> None:
        """The trials of a chain that does not fit into memory have failed."""
        for key in {row.key for row in self._rows[index]} - set(self._readings):
            name = f"{self._loaded.model_id}: {self._entries[key].name}"
            tokens, device = len(self._trees[index].tokens), self._loaded.device
            reason = f"{name}: {tokens} tokens do not fit into the memory of {device}; free some or use a larger device"
            self._readings[key] = _failed(self._entries[key].trial_id, key, reason)


def _can_read_trees(loaded: LoadedModel, sequences: Sequence[Tokens]) -> bool:
    """Whether the architecture honours trees, and no sequence is longer than what its layers look back on."""
    window = getattr(loaded.opened.config.get_text_config(), "sliding_window", None)
    return loaded.tree_fault is None and (window is None or max(map(len, sequences)) <= window)
