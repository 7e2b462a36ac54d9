"""`survey/calibration`: what was planted into a reference model against what was read back, question by question."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import pandas as pd

from valuesassets.instruments.survey.analysis_scale import base_id, is_ordinal, on_analysis_scale
from valuesassets.instruments.survey.cell_answers import parts_of
from valuesassets.measure.distances import tvd, wasserstein1_unit
from valuesassets.measure.summaries import uniform_like
from valuesassets.records.errors import MissingData
from valuesassets.records.study import Phantom
from valuesassets.records.trials import Trial

ERRORS = ["w1_unit_error", "p_valid_error", "position_bias_error"]
QUESTION = ["model", "language", "question_id"]


def find_identical_prompts(trials: Iterable[Trial]) -> list[tuple[str, ...]]:
    """Groups of trial ids that show the same prompt: no model can tell them apart."""
    by_prompt: dict[str, list[str]] = defaultdict(list)
    for trial in trials:
        by_prompt[trial.prompt].append(trial.trial_id)
    return [tuple(names) for names in by_prompt.values() if len(names) > 1]


def compare_with_plants(probe: pd.DataFrame, plants: pd.DataFrame) -> pd.DataFrame:
    """Planted against recovered: one row per (cell, question, wording).

    Args:
        probe: rows of `PROBE_DISTRIBUTIONS`; of reference families.
        plants: as `planted_answers` gives them; other questions than those probed may be there.

    Returns:
        model, language, question_id, response_type, wording, the errors (`w1_unit_error`: mean over both orders of W1,
        of total variation for categorical questions; `p_valid_error`, `position_bias_error`: absolute), the planted
        and recovered P_valid and position bias, `w1_unit_to_uniform` of the plant, status and reason. Errors are null
        where a question could not be read.

    Raises:
        MissingData: nothing is planted for a question that was probed.
    """
    planted = dict(parts_of(plants, QUESTION))
    rows = []
    for (*question, wording), recovered in parts_of(probe, [*QUESTION, "wording"]):
        plant = planted.get(tuple(question))
        if plant is None:
            raise MissingData(f"{'/'.join(question)}: nothing is planted; was it asked of a reference family?")
        rows.append(
            dict(zip(QUESTION, question, strict=True)) | {"wording": int(wording)} | _compared(recovered, plant)
        )
    return pd.DataFrame(rows)


def summarise_recovery(comparison: pd.DataFrame, phantom: Phantom) -> pd.DataFrame:
    """Mean and 95th percentile of each error per cell and response type ("all": the cell), and the verdict.

    Recovered means: every question was read, and the mean errors are within the study's limits.
    """
    rows = []
    for (model, language), cell in parts_of(comparison, ["model", "language"]):
        for kind, part in [("all", cell), *((kind, part) for (kind,), part in parts_of(cell, ["response_type"]))]:
            rows.append({"model": model, "language": language, "response_type": kind} | _summary(part, phantom))
    return pd.DataFrame(rows)


def _compared(recovered: pd.DataFrame, plant: pd.DataFrame) -> dict[str, object]:
    first, wanted = recovered.iloc[0], plant.iloc[0]
    distance = wasserstein1_unit if is_ordinal(wanted["response_type"]) else tvd
    question_id = str(wanted["question_id"])
    uniform = on_analysis_scale(question_id, plant["response_value"], plant["prob_averaged"])
    row: dict[str, object] = {
        "response_type": wanted["response_type"],
        **dict.fromkeys(ERRORS, np.nan),
        "w1_unit_to_uniform": distance(uniform, uniform_like(uniform)),
        "planted_p_valid": float(wanted["p_valid"]),
        "recovered_p_valid": np.nan,
        "planted_position_bias": float(wanted["position_bias_magnitude"]),
        "recovered_position_bias": np.nan,
        "status": first["status"],
        "reason": first["reason"],
    }
    if first["status"] != "ok":
        return row
    found, due = recovered.set_index("response_value"), plant.set_index("response_value")
    if sorted(found.index) != sorted(due.index):
        raise MissingData(f"{question_id}: planted for answers {sorted(due.index)}, read for {sorted(found.index)}")
    orders = [
        distance(
            on_analysis_scale(base_id(question_id), found.index, found[order].astype(float)),
            on_analysis_scale(base_id(question_id), due.index, due[order]),
        )
        for order in ("prob_forward", "prob_reversed")
    ]
    sides = [abs(float(first[side]) - float(wanted[side])) for side in ("p_valid_forward", "p_valid_reversed")]
    bias = float(first["position_bias_magnitude"])
    return row | {
        "w1_unit_error": float(np.mean(orders)),
        "p_valid_error": float(np.mean(sides)),
        "position_bias_error": abs(bias - float(wanted["position_bias_magnitude"])),
        "recovered_p_valid": float(first["p_valid"]),
        "recovered_position_bias": bias,
    }


def _summary(part: pd.DataFrame, phantom: Phantom) -> dict[str, object]:
    limits = dict(
        zip(ERRORS, (phantom.max_w1_unit, phantom.max_p_valid_error, phantom.max_position_bias_error), strict=True)
    )
    read = part[part["status"] == "ok"]
    n_unreadable = len(part) - len(read)
    summary: dict[str, object] = {"n": len(part), "n_unreadable": n_unreadable}
    faults = [f"{n_unreadable} of {len(part)} questions could not be read"] if n_unreadable else []
    for error, limit in limits.items():
        mean = float(read[error].mean()) if len(read) else np.nan
        summary[f"{error}_mean"] = mean
        summary[f"{error}_p95"] = float(np.quantile(read[error], 0.95)) if len(read) else np.nan
        if len(read) and not mean <= limit:
            faults.append(f"mean {error} {mean:.3f} is above {limit:g}")
    return summary | {"is_recovered": not faults, "reason": "; ".join(faults) or None}
