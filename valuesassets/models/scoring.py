"""From trials to readings: the probability that a model's answer is each label."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import torch

from valuesassets.models.certificate import Certificate, LogitSpread, certify
from valuesassets.models.known_readings import KnownReadings
from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.reading_pass import OnProgress, ReadingPass
from valuesassets.models.spelled_trials import SCORER_VERSION, SpelledTrial
from valuesassets.models.token_trees import BatchBudget
from valuesassets.records.errors import ScoringError, TokenizerError
from valuesassets.records.trials import Reading, Status

SAMPLED, SAMPLED_BESIDE = 4, 2
"""How many trials are read again: out of all, and out of those that were read beside a cached prefix."""


@dataclass(frozen=True)
class Scored:
    """Readings in the order of their trials, and how they were made; `notes` say what a person should know."""

    readings: tuple[Reading, ...]
    certificate: Certificate
    notes: tuple[str, ...]

    @property
    def records(self) -> tuple[Reading, ...]:
        """The readings, by the name that results of all readouts share."""
        return self.readings

    def describe(self) -> dict[str, object]:
        """Certificate and notes, for a file's metadata."""
        return {
            "torch": torch.__version__,
            "batch_invariance": self.certificate.describe(),
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class ScoredTrials(Scored):
    """The readings of trials with labels.

    Attributes:
        batches, tokens: counts of the plan over all trials, padding included, stored readings too.
        kept_prefixes: number of prefixes that were cached while the trees behind them were read.
    """

    batches: int
    tokens: int
    budget: BatchBudget
    kept_prefixes: int = 0

    def describe(self) -> dict[str, object]:
        """As for `Scored`, with the batch plan."""
        plan = {"batches": self.batches, "tokens": self.tokens, "budget": asdict(self.budget)}
        plan |= {"kept_prefixes": self.kept_prefixes} if self.kept_prefixes else {}
        return super().describe() | {"scorer_version": SCORER_VERSION, "batch_plan": plan}


def score_spelled(
    loaded: LoadedModel,
    spelled: Sequence[SpelledTrial | Reading],
    on_progress: OnProgress | None = None,
    store: KnownReadings | None = None,
    budget: BatchBudget | None = None,
) -> ScoredTrials:
    """The probability of each label of each trial; batches whose readings are all stored are not read again.

    Batches are planned over all trials, stored or not: a reading comes from the same batch, and so with the same bytes,
    however often the work was interrupted. Where memory ran out and batches were halved, it is equal within the
    certificate's tolerance. Trials that ask the same are read once.

    Args:
        on_progress: called with (trials read, all trials).
        budget: size of a batch; chosen by device where it is None.

    Raises:
        ScoringError: not one trial could be read; says why.
        TokenizerError: not one trial can be asked with this tokenizer.
    """
    budget = budget or BatchBudget.for_device(loaded.device)
    askable = {entry.key: entry for entry in spelled if isinstance(entry, SpelledTrial)}
    failed = [entry for entry in spelled if isinstance(entry, Reading)]
    if failed and not askable:
        raise TokenizerError(
            f"{loaded.model_id}: none of {len(spelled)} trials can be asked, the first because: {failed[0].reason}; "
            "use another model"
        )
    if not askable:
        raise ScoringError(f"{loaded.model_id}: there are no trials to read; write some first")
    reading_pass = ReadingPass(loaded, list(askable.values()), budget, store, on_progress)
    readings = reading_pass.read()
    records = [
        entry if isinstance(entry, Reading) else entry.own(readings[entry.key], loaded.model_id) for entry in spelled
    ]
    if all(reading.status is Status.FAILED for reading in readings.values()):
        raise ScoringError(next(str(reading.reason) for reading in records if reading.reading_key in readings))
    certificate, notes = _certify(loaded, askable, readings, reading_pass), tuple(reading_pass.notes)
    plan = reading_pass.batches, reading_pass.tokens, reading_pass.budget, reading_pass.kept_prefixes
    return ScoredTrials(tuple(records), certificate, notes, *plan)


def _certify(
    loaded: LoadedModel, askable: Mapping[str, SpelledTrial], readings: Mapping[str, Reading], reading_pass: ReadingPass
) -> Certificate:
    """Read a sample again, alone and in one batch; it has the shortest and longest trial beside a cached prefix."""
    lengths = {key: len(askable[key].spelled.prompt_ids) for key, r in readings.items() if r.status is Status.OK}
    beside = {key: length for key, length in lengths.items() if key in reading_pass.beside}
    keys = dict.fromkeys([*choose_sample(lengths), *choose_sample(beside, SAMPLED_BESIDE)])
    sample = [askable[key] for key in keys]
    with LogitSpread().watching(loaded.model) as spread:
        again = [ReadingPass(loaded, [entry], BatchBudget(1, 1), as_chains=True).read() for entry in sample]
        again.append(ReadingPass(loaded, sample, reading_pass.budget).read())
    pairs = [(readings[key], reading) for results in again for key, reading in results.items()]
    return certify(loaded, pairs, len(sample), spread)


def choose_sample(lengths: Mapping[str, int], count: int = SAMPLED) -> list[str]:
    """A few reading keys: those of the shortest and longest prompt, and others drawn with the keys as random seed.

    >>> choose_sample({"a": 9, "b": 3})
    ['b', 'a']
    """
    by_length = sorted(lengths, key=lambda key: (lengths[key], key))
    if len(by_length) <= count:
        return by_length
    draw = random.Random("".join(by_length))  # noqa: S311  # a seeded choice, nothing secret
    return [by_length[0], *sorted(draw.sample(by_length[1:-1], count - 2)), by_length[-1]]
