"""`psych_tasks/layout_effect`: whether a model's answers depend on the layout of transcripts."""

from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.measures.prediction import corrected, person_scores, scored_marks
from valuesassets.instruments.psych_tasks.tables import LAYOUT_EFFECTS
from valuesassets.measure.log_score import gain
from valuesassets.records.errors import MissingData
from valuesassets.records.settings.measuring import Inference


def derive_layout_effect(marks: pd.DataFrame, inference: Inference) -> dict[str, pd.DataFrame]:
    """Table `effects`: each layout against the first, over the marks of both; p-values corrected over all rows.

    Args:
        marks: rows of `answer_distributions/marks` with `model` and `task`.

    Raises:
        MissingData: no model was asked in two layouts.
    """
    effects: list[dict[str, Any]] = []
    for (model, task, history), part in scored_marks(marks).groupby(["model", "task", "history"], sort=False):  # type: ignore[misc]
        by_layout = dict(iter(part.groupby("layout", sort=False)))
        first, *others = by_layout
        for layout in others:
            row = {"model": model, "task": task, "history": history, "layout": layout, "against": first}
            effects.append(row | _compare(by_layout[layout], by_layout[first], inference.level))
    if not effects:
        raise MissingData(
            "every model was asked in one layout; name another as psych_tasks.layout (marked, plain), or ask a chat "
            "model as two families, one with prompting.style = 'chat'"
        )
    return {"effects": corrected(LAYOUT_EFFECTS.frame(effects), (), inference)}


def _compare(layout: pd.DataFrame, first: pd.DataFrame, level: float) -> dict[str, Any]:
    both = layout.merge(first, on=["person", "mark", "draw"], suffixes=("", "_other"))
    try:
        others = person_scores(both.assign(log_share=both["log_share_other"]))
        difference = gain(person_scores(both), others, level)
    except MissingData as error:
        return {"reason": str(error)}
    return {
        "n_participants": difference.n,
        "n_marks": len(both),
        "log_score_difference": difference.mean,
        "low": difference.low,
        "high": difference.high,
        "p": difference.p,
        "reason": difference.reason,
        "p_valid_difference": float(np.mean(both["p_valid"] - both["p_valid_other"])),
        "share_other_likeliest": float(np.mean(both["likeliest"].to_numpy() != both["likeliest_other"].to_numpy())),
    }
