"""Reliability of models' item scores of any origin, and whether it comes from a trait or from a label preference."""

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
    """Alpha over models of every experiment and category, from scores of `score_files.read_scores` as they are."""
    alphas = []
    for (experiment, category), part in parts_of(scores.fillna({"category": ""}), ["experiment", "category"]):
        table = _models_by_items(part)
        columns = alpha_columns(table.to_numpy(dtype=float), level, lines_of(part, table.index))
        alphas.append({"experiment": experiment, "category": category or None} | columns)
    return alphas


def keying_rows(
    scores: pd.DataFrame, is_reversed: Mapping[tuple[str, str], bool], level: float = 0.95
) -> list[dict[str, Any]]:
    """rho and pi_bias of every experiment.

    Args:
        scores: the result of `score_files.read_scores`, nothing recoded.
        is_reversed: the result of `score_files.read_keying`.
    """
    preferences = []
    for (experiment,), part in parts_of(scores, ["experiment"]):
        table = _models_by_items(part)
        reverse = np.array([is_reversed[experiment, item] for item in table.columns])
        lines = lines_of(part, table.index)
        columns = preference_columns(table.to_numpy(dtype=float), reverse, level, lines)
        row = {"experiment": experiment, "models": len(table), "lines": len(set(lines))}
        preferences.append(row | {name: columns[name] for name in PREFERENCE})
    return preferences


def _models_by_items(scores: pd.DataFrame) -> pd.DataFrame:
    """(models, items) scores of one scale, NaN where a model has none."""
    return scores.pivot(index="model", columns="item", values="score")
