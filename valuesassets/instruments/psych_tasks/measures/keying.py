"""`psych_tasks/keying`: does a model answer by the item's content, or by a preference for labels?"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.material.transcripts import REVERSED
from valuesassets.instruments.psych_tasks.measures.model_lines import lines_of
from valuesassets.instruments.psych_tasks.published.published_scores import ScoredScale
from valuesassets.measure.keying import keyed_means, label_preference, trait_and_bias
from valuesassets.measure.resampling import with_ends
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import parts_of, rows

LABEL, TRAIT, OPEN = "label preference", "trait", "not told apart"
"""Verdicts, as they are stored."""
MODELS = ["model", "line", "experiment", "scale", "forward_mean", "reverse_mean", "trait", "bias"]
MODELS += ["trait_lean", "bias_lean", "reason"]
SCALES = ["experiment", "scale", "models", "lines", "items", "rho", "rho_low", "rho_high", "p", "pi_bias"]
SCALES += ["pi_bias_low", "pi_bias_high", "verdict", "reason"]


def derive_keying(
    frame: pd.DataFrame, scales: Mapping[str, ScoredScale], level: float = 0.95
) -> dict[str, pd.DataFrame]:
    """Tables `models` (trait and bias of each) and `scales` (rho, pi_bias, verdict); missing ones have a `reason`.

    A label means the other end of the trait where the item is reverse-keyed, or where the scale is shown reversed, but
    not where both are so. F and R are therefore means over items and presentations, and in a scale without
    reverse-keyed items the presentations distinguish trait and preference.

    Args:
        frame: `model`, `experiment`, `scale`, `item`, `expected` (on the labels as they were shown, nothing recoded),
            `presentation` (empty where there is one); optionally `lean` (slope of log-probabilities along the labels,
            nats) and `line` of the model (each its own if left out). Rows of one item and presentation, such as draws,
            are averaged.
        scales: by name.
    """
    model_rows: list[dict[str, Any]] = []
    scale_rows: list[dict[str, Any]] = []
    for (experiment, name), part in parts_of(rows(frame, frame["scale"].isin(list(scales))), ["experiment", "scale"]):
        where, scale = {"experiment": experiment, "scale": name}, scales[name]
        part = part.assign(presentation=part["presentation"] == REVERSED)
        table = _by_item(part, "expected")
        leans = _by_item(part, "lean") if "lean" in part else pd.DataFrame()
        leans = leans.reindex(index=table.index, columns=table.columns).to_numpy(dtype=float)
        items, presentations = (table.columns.get_level_values(each) for each in ("item", "presentation"))
        is_reverse = np.asarray(items.isin(list(scale.reversed))) != np.asarray(presentations, dtype=bool)
        midpoint = (scale.low + scale.high) / 2
        lines = lines_of(part, table.index)
        values = table.to_numpy(dtype=float)
        for model, line, of_model, lean in zip(table.index, lines, values, leans, strict=True):
            row = {"model": model, "line": line} | where | _of_model(of_model, is_reverse, midpoint)
            model_rows.append(row | _leans(lean, is_reverse))
        size = {"models": len(table), "lines": len(set(lines)), "items": items.nunique()}
        scale_rows.append(where | size | preference_columns(values, is_reverse, level, lines))
    return {
        "models": pd.DataFrame(model_rows, columns=pd.Index(MODELS)),
        "scales": pd.DataFrame(scale_rows, columns=pd.Index(SCALES)),
    }


def preference_columns(
    values: np.ndarray, is_reverse: np.ndarray, level: float = 0.95, lines: Sequence[str] | None = None
) -> dict[str, Any]:
    """rho and pi_bias of (models, items) answers, their intervals and a verdict; or only a `reason`.

    A verdict needs both the interval and the rank test over lines of models.
    """
    try:
        preference = label_preference(*keyed_means(values, is_reverse), level, lines)
    except MissingData as error:
        names = ("rho", "rho_low", "rho_high", "p", "pi_bias", "pi_bias_low", "pi_bias_high", "verdict")
        return dict.fromkeys(names) | {"reason": str(error)}
    ends = with_ends("rho", preference.rho, (preference.rho_low, preference.rho_high))
    ends |= with_ends("pi_bias", preference.pi_bias, (preference.pi_bias_low, preference.pi_bias_high))
    is_sure = preference.p <= 1 - level
    verdict = LABEL if is_sure and preference.rho_low > 0 else TRAIT if is_sure and preference.rho_high < 0 else OPEN
    return ends | {"p": preference.p, "verdict": verdict, "reason": None}


def _of_model(values: np.ndarray, is_reverse: np.ndarray, midpoint: float) -> dict[str, Any]:
    try:
        forward, reverse = keyed_means(values[None], is_reverse)
    except MissingData as error:
        return {"reason": str(error)}
    trait, bias = trait_and_bias(forward, reverse, midpoint)
    means = {"forward_mean": forward, "reverse_mean": reverse, "trait": trait, "bias": bias}
    return {name: value.item() for name, value in means.items()} | {"reason": None}


def _leans(leans: np.ndarray, is_reverse: np.ndarray) -> dict[str, Any]:
    """Trait and bias in log-odds; nothing where a lean is missing or all items are keyed alike."""
    if not np.isfinite(leans).all() or is_reverse.all() or not is_reverse.any():
        return {}
    trait, bias = trait_and_bias(*keyed_means(leans[None], is_reverse), 0.0)
    return {"trait_lean": trait.item(), "bias_lean": bias.item()}


def _by_item(part: pd.DataFrame, values: str) -> pd.DataFrame:
    """(models, items by presentation) means of rows."""
    return part.astype({values: float}).pivot_table(
        index="model", columns=["item", "presentation"], values=values, sort=False, observed=True
    )
