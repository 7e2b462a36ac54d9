"""Trials read as the node reads them: spelled, planned, scored."""

from collections.abc import Sequence

from valuesassets.models.loaded_model import LoadedModel
from valuesassets.models.reading_pass import OnProgress, ReadingPass
from valuesassets.models.scoring import ScoredTrials, score_spelled
from valuesassets.models.spelled_trials import SpelledTrial, spell_trials
from valuesassets.models.token_trees import BatchBudget
from valuesassets.records.trials import Reading, Trial


def score_trials(
    loaded: LoadedModel,
    trials: Sequence[Trial],
    on_progress: OnProgress | None = None,
    budget: BatchBudget | None = None,
) -> ScoredTrials:
    """What a model answers to each trial."""
    return score_spelled(loaded, spell_trials(loaded.opened, trials), on_progress, budget=budget)


def read_trials(loaded: LoadedModel, trials: Sequence[Trial]) -> list[Reading]:
    """The readings of trials that can all be asked; without the passes of a certificate."""
    spelled = [entry for entry in spell_trials(loaded.opened, trials) if isinstance(entry, SpelledTrial)]
    assert len(spelled) == len(trials)
    readings = ReadingPass(loaded, spelled, BatchBudget.for_device(loaded.device)).read()
    return [entry.own(readings[entry.key], loaded.model_id) for entry in spelled]
