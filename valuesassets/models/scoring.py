"""From trials to readings: the probability that a model's answer is each label."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import torch

from valuesassets.models.certificate import Certificate, LogitSpread, certify
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loading import LoadedModel
from valuesassets.models.reading_pass import OnProgress, ReadingPass
from valuesassets.models.spelled_trials import SCORER_VERSION, SpelledTrial
from valuesassets.models.token_trees import BatchBudget
from valuesassets.records.errors import ScoringError, TokenizerError
from valuesassets.records.trials import Reading, Status

SAMPLED, SAMPLED_BESIDE = 4, 2
"""How many trials are read again: of all, and of those that were read beside a kept prefix."""


@dataclass(frozen=True)
class Scored:
    """Readings in the order in which they were asked for, and how they were made: of model and trials alone.

    Attributes:
        notes: what a person should know, in words (batches halved, trees not used).
    """

    readings: tuple[Reading, ...]
    certificate: Certificate
    notes: tuple[str, ...]

    @property
    def records(self) -> tuple[Reading, ...]:
        """The readings, as what comes back of any readout."""
        return self.readings

    @property
    def doubt(self) -> str | None:
        """How far readings change with what is read beside them, in words; None where rounding explains it."""
        return self.certificate.doubt

    @property
    def refusal(self) -> str | None:
        """Why no reading can be kept, in words; None where they can."""
        return self.certificate.refusal

    def describe(self) -> dict[str, object]:
        """Certificate and notes, as they go into a file's metadata."""
        return {
            "torch": torch.__version__,
            "batch_invariance": self.certificate.describe(),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class ScoredTrials(Scored):
    """What a model answers to trials with labels.

    Attributes:
        batches, tokens: of the plan over all trials, padding included, whether or not some readings were known.
        kept_prefixes: beginnings of prompts that were kept while the trees behind them were read.
    """

    batches: int
    tokens: int
    budget: BatchBudget
    kept_prefixes: int = 0

    def describe(self) -> dict[str, object]:
        """As `Scored`, with the batch plan."""
        plan = {"batches": self.batches, "tokens": self.tokens, "budget": asdict(self.budget)}
        plan |= {"kept_prefixes": self.kept_prefixes} if self.kept_prefixes else {}
        return super().describe() | {"scorer_version": SCORER_VERSION, "batch_plan": plan}


def score_spelled(
    loaded: LoadedModel,
    spelled: Sequence[SpelledTrial | Reading],
    on_progress: OnProgress | None = None,
    budget: BatchBudget | None = None,
    known: KnownReadings | None = None,
) -> ScoredTrials:
    """What a model answers to each trial; batches whose readings are all known are not read again.

    Batches are planned over all trials, known or not: a reading comes out of the same batch, and so with the same
    bytes, whenever and however often the work was interrupted; where memory ran out and batches were halved, equal
    within the certificate's tolerance. Trials that ask the same are read once.

    Args:
        spelled: as `spell_trials` gives them.
        on_progress: called with (trials read, trials) as they are read.
        budget: of a batch; by device where not given.

    Raises:
        ScoringError: not one trial could be read; says why.
        TokenizerError: not one trial can be asked with this tokenizer.
    """
    budget = budget or BatchBudget.for_device(loaded.device)
    askable = {entry.reading_key: entry for entry in spelled if isinstance(entry, SpelledTrial)}
    failed = [entry for entry in spelled if isinstance(entry, Reading)]
    if failed and not askable:
        raise TokenizerError(
            f"{loaded.model_id}: none of {len(spelled)} trials can be asked, the first because: {failed[0].reason}; "
            "use another model"
        )
    if not askable:
        raise ScoringError(f"{loaded.model_id}: there are no trials to read; write some first")
    batched = ReadingPass(loaded, list(askable.values()), budget, known, on_progress)
    readings = batched.read()
    answered = [
        entry if isinstance(entry, Reading) else entry.own(readings[entry.reading_key], loaded.model_id)
        for entry in spelled
    ]
    if all(reading.status is Status.FAILED for reading in readings.values()):
        raise ScoringError(next(str(reading.reason) for reading in answered if reading.reading_key in readings))
    certificate, notes = _certify(loaded, askable, readings, batched), tuple(batched.notes)
    plan = batched.batches, batched.tokens, batched.budget, batched.kept_prefixes
    return ScoredTrials(tuple(answered), certificate, notes, *plan)


def _certify(
    loaded: LoadedModel, askable: Mapping[str, SpelledTrial], readings: Mapping[str, Reading], batched: ReadingPass
) -> Certificate:
    """Read a sample of what could be read again: each trial alone as it stands, and all in a batch of their own.

    Where some were read beside a kept prefix, the shortest and the longest of these are among them.
    """
    lengths = {key: len(askable[key].spelled.prompt_ids) for key, r in readings.items() if r.status is Status.OK}
    beside = {key: length for key, length in lengths.items() if key in batched.beside}
    keys = dict.fromkeys([*choose_sample(lengths), *choose_sample(beside, SAMPLED_BESIDE)])
    sample = [askable[key] for key in keys]
    with LogitSpread().watching(loaded.model) as spread:
        again = [ReadingPass(loaded, [entry], BatchBudget(1, 1), as_chains=True).read() for entry in sample]
        again.append(ReadingPass(loaded, sample, batched.budget).read())
    pairs = [(readings[key], reading) for found in again for key, reading in found.items()]
    return certify(loaded, pairs, len(sample), spread)


def choose_sample(lengths: Mapping[str, int], count: int = SAMPLED) -> list[str]:
    """A few reading keys, the shortest and the longest prompt's among them, the others drawn; the seed is the keys.

    >>> choose_sample({"a": 9, "b": 3})
    ['b', 'a']
    """
    by_length = sorted(lengths, key=lambda key: (lengths[key], key))
    if len(by_length) <= count:
        return by_length
    draw = random.Random("".join(by_length))  # noqa: S311  # a seeded choice, nothing secret
    return [by_length[0], *sorted(draw.sample(by_length[1:-1], count - 2)), by_length[-1]]
