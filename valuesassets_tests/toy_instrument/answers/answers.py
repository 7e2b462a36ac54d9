"""`toy/answers`: how much more a model says yes than no, question by question."""

from collections.abc import Sequence

import pandas as pd

from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.study import Cell
from valuesassets.records.trials import Reading, Trial


def derive_answers(trials: Sequence[Trial], readings: Sequence[Reading], cell: Cell) -> pd.DataFrame:
    """A row for each question of a cell."""
    asked = {trial.trial_id: trial for trial in trials}
    rows = [
        {
            "model": cell.family,
            "task": cell.part.name,
            "question_id": asked[reading.trial_id].question_id,
            "yes": _yes(asked[reading.trial_id], reading.label_probs),
        }
        for reading in readings
        if reading.label_probs is not None
    ]
    return pd.DataFrame(rows).groupby(["model", "task", "question_id"], as_index=False).mean()


def _yes(trial: Trial, probs: tuple[float, ...]) -> float:
    """That of the option that stands for yes; in a text, of the first candidate."""
    return probs[trial.values.index(1) if isinstance(trial.readout, ScoreLabels) else 0]
