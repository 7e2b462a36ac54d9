"""Whether item scores of models hold together, and whether by a trait or by a label: of scores made anywhere."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.measures.keying import preference_columns
from valuesassets.instruments.psych_tasks.measures.model_lines import lines_of
from valuesassets.instruments.psych_tasks.published.published_scores import alpha_columns
from valuesassets.records.frames import parts_of

PREFERENCE = ("rho", "p", "pi_bias", "pi_bias_low", "pi_bias_high", "verdict", "reason")


def scale_rows(scores: pd.DataFrame, level: float = 0.95) -> list[dict[str, Any]]:
    """Alpha over models of every experiment and category, of the scores as they are.

    Args:
        scores: as `score_files.read_scores` gives them.
    """
    found = []
    for (experiment, category), part in parts_of(scores.fillna({"category": ""}), ["experiment", "category"]):
        table = _models_by_items(part)
        columns = alpha_columns(table.to_numpy(dtype=float), level, lines_of(part, table.index))
        found.append({"experiment": experiment, "category": category or None} | columns)
    return found


def keying_rows(
    scores: pd.DataFrame, is_reversed: Mapping[tuple[str, str], bool], level: float = 0.95
) -> list[dict[str, Any]]:
    """rho and pi_bias of every experiment.

    Args:
        scores: as `score_files.read_scores` gives them, nothing recoded.
        is_reversed: as `score_files.read_keying` gives it.
    """
    found = []
    for (experiment,), part in parts_of(scores, ["experiment"]):
        table = _models_by_items(part)
        reverse = np.array([is_reversed[experiment, item] for item in table.columns])
        lines = lines_of(part, table.index)
        columns = preference_columns(table.to_numpy(dtype=float), reverse, level, lines)
        row = {"experiment": experiment, "models": len(table), "lines": len(set(lines))}
        found.append(row | {name: columns[name] for name in PREFERENCE})
    return found


def _models_by_items(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores of one scale, NaN where a model has none."""
    return scores.pivot(index="model", columns="item", values="score")
