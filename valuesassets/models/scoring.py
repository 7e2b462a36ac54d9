"""From trials to readings: the probability that a model's answer is each label."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import torch

from valuesassets.models.forward import BatchBudget, Passage, plan_batches, read_passages
from valuesassets.models.loading import LoadedModel, OpenedModel
from valuesassets.models.spellings import SpelledPrompt, find_terminators, spell_labels
from valuesassets.models.trie import NodeRead, Tokens, sum_labels
from valuesassets.records.errors import TokenizerError
from valuesassets.records.files import sha256_json
from valuesassets.records.readings import UNRESOLVED_BELOW, Reading, Status
from valuesassets.records.trials import Trial

SCORER_VERSION = "2"
"""Changes whenever a reading of the same model and trial may come out differently."""

INVARIANCE_TOLERANCE = {"float32": 1e-5, "float16": 1e-2, "bfloat16": 5e-2}
"""Largest difference of a label's probability between batch plans, by the rounding of each dtype."""

CERTIFICATE_TRIALS = 4
OUTSIDE_KEPT = 5


@dataclass(frozen=True)
class Certificate:
    """The measured difference between readings in the plan's batches and the same trials read one by one."""

    trials: int
    max_difference: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """Whether the result does not depend on the batch, within tolerance."""
        return self.max_difference <= self.tolerance


@dataclass(frozen=True)
class ScoredTrials:
    """Readings in the order of their trials, and how they were made."""

    readings: tuple[Reading, ...]
    certificate: Certificate
    batches: int
    tokens: int
    budget: BatchBudget

    def describe(self) -> dict[str, object]:
        """Batch plan and certificate, as they go into a file's metadata."""
        return {
            "scorer_version": SCORER_VERSION,
            "torch": torch.__version__,
            "batch_plan": {"batches": self.batches, "tokens": self.tokens, "budget": asdict(self.budget)},
            "batch_invariance": {**asdict(self.certificate), "agrees": self.certificate.agrees},
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


def score_trials(
    loaded: LoadedModel,
    trials: Sequence[Trial],
    on_progress: Callable[[int, int], None] | None = None,
    budget: BatchBudget | None = None,
) -> ScoredTrials:
    """What a model answers to each trial.

    Args:
        on_progress: called with (trials read, trials) as they are read.
        budget: of a batch; by device where not given.

    Raises:
        ScoringError: NaN or infinite logits; names model, trial and order.
        TokenizerError: not one trial can be asked with this tokenizer.
    """
    spelled = spell_trials(loaded.opened, trials)
    budget = budget or BatchBudget.for_device(loaded.device)
    askable = [entry for entry in spelled if isinstance(entry, SpelledTrial)]
    failed = [entry for entry in spelled if isinstance(entry, Reading)]
    if failed and not askable:
        raise TokenizerError(
            f"{loaded.model_id}: none of {len(trials)} trials can be asked, the first because: {failed[0].reason}; "
            "use another model"
        )
    batched = _read(loaded, askable, budget, on_progress)
    sample = _certificate_sample(askable)
    alone = _read(loaded, [askable[index] for index in sample], BatchBudget(1, 1), None)
    pairs = zip(sample, alone.readings, strict=True)
    difference = max((_difference(batched.readings[index], reading) for index, reading in pairs), default=0.0)
    certificate = Certificate(len(sample), difference, INVARIANCE_TOLERANCE[loaded.opened.dtype])
    read = iter(batched.readings)
    readings = tuple(entry if isinstance(entry, Reading) else next(read) for entry in spelled)
    return ScoredTrials(readings, certificate, batched.batches, batched.tokens, budget)


def spell_trials(opened: OpenedModel, trials: Sequence[Trial]) -> list[SpelledTrial | Reading]:
    """Spellings and reading key of every trial, without weights; one that cannot be asked is already its reading."""
    found: list[SpelledTrial | Reading] = []
    for trial in trials:
        try:
            spelled = spell_labels(opened.tokenizer, trial.prompt, trial.readout.labels)
            _require_room(opened, spelled)
        except TokenizerError as error:
            key = _hash_key(opened, trial.prompt, trial.readout.labels)
            found.append(Reading(trial.trial_id, None, None, None, None, (), Status.FAILED, str(error), key))
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


def _hash_key(opened: OpenedModel, *asked: object) -> str:
    return sha256_json([SCORER_VERSION, opened.weights_id, opened.tokenizer.sha256, opened.dtype, *asked])


@dataclass(frozen=True)
class _Asked:
    """One passage of a trial and the trie nodes whose distribution it is the first to give."""

    entry: int
    passage: Passage
    nodes: tuple[Tokens, ...]


@dataclass(frozen=True)
class _Read:
    """Readings in the order of their entries; `tokens` counts padding too."""

    readings: list[Reading]
    batches: int
    tokens: int


def _read(
    loaded: LoadedModel,
    entries: Sequence[SpelledTrial],
    budget: BatchBudget,
    on_progress: Callable[[int, int], None] | None,
) -> _Read:
    asked = [part for index, entry in enumerate(entries) for part in _find_passages(index, entry)]
    passages = [part.passage for part in asked]
    plan = plan_batches(passages, budget)
    unread = Counter(part.entry for part in asked)
    trackers = [_Tracker(loaded, entry) for entry in entries]
    readings: dict[int, Reading] = {}
    for index, log_probs in read_passages(loaded, passages, plan):
        part = asked[index]
        for node, row in zip(part.nodes, log_probs, strict=True):
            trackers[part.entry].note(node, row)
        unread[part.entry] -= 1
        if not unread[part.entry]:
            readings[part.entry] = trackers[part.entry].reading()
            if on_progress:
                on_progress(len(readings), len(entries))
    tokens = sum(len(batch) * len(passages[batch[0]].tokens) for batch in plan)
    return _Read([readings[index] for index in range(len(entries))], len(plan), tokens)


def _find_passages(index: int, entry: SpelledTrial) -> list[_Asked]:
    """One passage to the end of every path of inner nodes: a causal model gives the nodes on the way as well."""
    prompt, inner = entry.spelled.prompt_ids, entry.spelled.trie.inner_nodes
    parents = {node[:-1] for node in inner if node}
    name = f"trial {entry.trial.trial_id} ({entry.trial.language}, order {entry.trial.order})"
    seen: set[Tokens] = set()
    asked = []
    for end in (node for node in inner if node not in parents):
        nodes = tuple(end[:depth] for depth in range(len(end) + 1) if end[:depth] not in seen)
        seen.update(nodes)
        positions = tuple(len(prompt) + len(node) - 1 for node in nodes)
        asked.append(_Asked(index, Passage((*prompt, *end), positions, name), nodes))
    return asked


class _Tracker:
    """What has been read of one trial so far."""

    def __init__(self, loaded: LoadedModel, entry: SpelledTrial) -> None:
        self.entry, self.spelled, self.tokenizer = entry, entry.spelled, loaded.tokenizer
        self.terminators = find_terminators(loaded.tokenizer, entry.spelled, loaded.eos_ids)
        self.reads: dict[Tokens, NodeRead] = {}
        self.outside: dict[Tokens, list[tuple[int, float]]] = {}

    def note(self, node: Tokens, log_probs: torch.Tensor) -> None:
        """Take from a node's distribution its children, what ends a label, and the likeliest of the rest."""
        children = self.spelled.trie.children[node]
        stops = sorted(self.terminators.get(node, frozenset()) - set(children))
        probs = log_probs[[*children, *stops]].double().exp().tolist()
        self.reads[node] = NodeRead(tuple(probs[: len(children)]), math.fsum(probs[len(children) :]))
        if node not in self.spelled.trie.label_at:
            top = torch.topk(log_probs, min(OUTSIDE_KEPT + len(children), len(log_probs)))
            likeliest = zip(top.indices.tolist(), top.values.double().exp().tolist(), strict=True)
            self.outside[node] = [(token, prob) for token, prob in likeliest if token not in children]

    def reading(self) -> Reading:
        """The trial's reading, once every node has been noted."""
        mass = sum_labels(self.spelled.trie, self.reads, len(self.spelled.spellings))
        is_unresolved = mass.resolution_mass is not None and mass.resolution_mass < UNRESOLVED_BELOW
        return Reading(
            trial_id=self.entry.trial.trial_id,
            label_probs=None if is_unresolved else mass.label_probs,
            p_valid=None if is_unresolved else math.fsum(mass.label_probs),
            resolution_mass=mass.resolution_mass,
            resolution_mass_min=mass.resolution_mass_min,
            outside=self._likeliest_outside(mass.reach),
            status=Status.UNRESOLVED if is_unresolved else Status.OK,
            reason=f"after a label that another goes on from, the model stops or goes on with probability "
            f"{mass.resolution_mass:.2g} only, {UNRESOLVED_BELOW} is needed"
            if is_unresolved
            else None,
            reading_key=self.entry.reading_key,
        )

    def _likeliest_outside(self, reach: Mapping[Tokens, float]) -> tuple[tuple[str, float], ...]:
        found = [
            ((*node, token), reach[node] * prob) for node, tokens in self.outside.items() for token, prob in tokens
        ]
        found.sort(key=lambda entry: (-entry[1], entry[0]))
        prompt_ids = self.spelled.prompt_ids
        return tuple((self.tokenizer.continuation_text(prompt_ids, t), prob) for t, prob in found[:OUTSIDE_KEPT])


def _certificate_sample(entries: Sequence[SpelledTrial]) -> list[int]:
    """Positions of a few entries spread evenly over the lengths, shortest and longest among them."""
    by_length = sorted(range(len(entries)), key=lambda index: len(entries[index].spelled.prompt_ids))
    count = min(CERTIFICATE_TRIALS, len(by_length))
    return [by_length[round(i * (len(by_length) - 1) / max(count - 1, 1))] for i in range(count)]


def _difference(one: Reading, other: Reading) -> float:
    if one.label_probs is None or other.label_probs is None:
        return 0.0 if one.status is other.status else 1.0
    return max(abs(a - b) for a, b in zip(one.label_probs, other.label_probs, strict=True))
