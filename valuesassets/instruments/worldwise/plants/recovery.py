"""`worldwise/recovery`: what was planted in reference models beside what choices and reasons recover."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldwise.answers.model_answers import Answered, ModelAnswers, of_models
from valuesassets.instruments.worldwise.answers.reasons import ADVOCATE, DECIDE, OK, REFUSED
from valuesassets.instruments.worldwise.material.dimensions import HIGH
from valuesassets.instruments.worldwise.material.scenarios import Scenario, read_scenarios
from valuesassets.instruments.worldwise.plants.plants import planted_lean, refused_share, written_lean
from valuesassets.instruments.worldwise.tables import PLANTED, RECOVERY
from valuesassets.records.frames import column, rows, rows_where
from valuesassets.records.settings.worldwise import Worldwise
from valuesassets.records.study import Study

MEAN, LARGEST = 0.02, 0.05
"""Allowed errors of shares, in the mean and in the 95th percentile, besides the sampling error of draws."""
LEAST_R = 0.95
"""Least correlation of positions with planted leans, both means of a condition on an axis."""
GAP = 0.07
"""Allowed error of the gap of an axis, in P(high)."""
LEAST_VALID = 0.5
"""Least share of valid axes; with fewer, reasons have not been tested."""
CELL = ["culture", "scenario_id"]
LEANING = ("values", "no-signal")
"""Plants of families whose choices and texts follow planted leans."""


def derive_recovery(answered: Answered, study: Study) -> dict[str, pd.DataFrame]:
    """`measures` of all models that were trained to lean."""
    scenarios = read_scenarios(Worldwise.of(study).scenarios)
    references = {name for name, family in study.families.items() if family.kind == "reference"}
    leaning = {name for name in references if study.families[name].plants in LEANING}
    trained = {model: answers for model, answers in answered.items() if model in leaning}

    def recovered(model: str, answers: ModelAnswers) -> pd.DataFrame:
        planted = planted_rows(study, model, dict.fromkeys(answers.choices["culture"]), scenarios)
        return recover_model(model, planted, answers)

    return {"measures": of_models(trained, recovered) if trained else RECOVERY.empty_frame()}


def planted_rows(study: Study, family: str, cultures: Iterable[str], scenarios: Sequence[Scenario]) -> pd.DataFrame:
    """Rows of `PLANTED`: P(high) of a family's choices and texts, in each dilemma as each culture or control."""
    return PLANTED.frame(
        [
            {
                "culture": culture,
                "scenario_id": scenario.id,
                "axis": scenario.axis,
                "p_high_choice": (1 + planted_lean(study, family, culture, scenario)) / 2,
                "p_high_reason": (1 + written_lean(study, family, culture, scenario)) / 2,
                "refused": refused_share(study, family, culture),
            }
            for culture in cultures
            for scenario in scenarios
        ]
    )


def recover_model(model: str, planted: pd.DataFrame, answers: ModelAnswers) -> pd.DataFrame:
    """Rows of `RECOVERY` of one model: each measure with its bounds, and whether it is within them.

    Decisions are shares of the answers read, over both orders; positions are means over all forms. Bounds of what is
    drawn allow for sampling error. A model that leans like everybody has no r of positions, which would be noise.
    """
    choices, reasons, projections = answers.choices, answers.reasons, answers.projections
    written = rows(reasons, reasons["form"] != ADVOCATE)
    decided = rows_where(written, form=DECIDE, status=OK)
    own = rows(projections, projections["is_own_axis"].astype(bool) & (projections["form"] != ADVOCATE))
    placed = rows_where(own, status=OK)
    table = planted.merge(choices[[*CELL, "p_high"]], on=CELL, how="left", validate="1:1")
    for name, part, values in (
        ("decided", decided, decided["decision"] == HIGH),
        ("position", placed, placed["position"]),
        ("refusals", written, written["status"] == REFUSED),
    ):
        table = table.merge(_by_cell(name, part, values), on=CELL, how="left")
    measured = [
        *_errors("choices", column(table, "p_high"), column(table, "p_high_choice")),
        *_errors("decisions", *(column(table, name) for name in ("decided", "p_high_reason", "n_decided"))),
        *_errors("refusals", *(column(table, name) for name in ("refusals", "refused", "n_refusals"))),
        _valid_axes(own),
        *_positions(table, own),
        *_gaps(table),
    ]
    return RECOVERY.frame([{"model": model} | row for row in measured])


def _by_cell(name: str, answers: pd.DataFrame, values: Any) -> pd.DataFrame:
    """The mean of a value for each dilemma and culture, and `n_<name>`, the number of answers behind it."""
    grouped = answers.assign(value=values).groupby(CELL)["value"]
    return pd.DataFrame({name: grouped.mean(), f"n_{name}": grouped.size()}).reset_index()


def _errors(measure: str, recovered: pd.Series, planted: pd.Series, n: pd.Series | None = None) -> list[dict[str, Any]]:
    """Mean and 95th percentile of the errors of shares; n is the number of answers of each share that was drawn."""
    off = (recovered - planted).abs().to_numpy(float)
    sampling = np.zeros(len(off))
    if n is not None:
        sampling = np.sqrt(planted * (1 - planted) / n).fillna(0.0).to_numpy(float)
    # A normal deviate is .8 away in the mean, with standard deviation .6; of n the 95th percentile is 1.96, with
    # standard deviation sqrt(.05 * .95 / n) over its density .117. Three standard deviations leave no alarm to chance.
    root = np.sqrt(max(len(off), 1))
    mean, largest = 0.8 + 3 * 0.6 / root, 1.96 + 3 * np.sqrt(0.05 * 0.95) / 0.117 / root
    bounds = (MEAN + mean * sampling.mean(), LARGEST + largest * sampling.max(initial=0))
    missing = int(np.isnan(off).sum())
    values = (np.nan, np.nan) if missing else (off.mean(), np.quantile(off, 0.95))
    reason = f"{missing} of {len(off)} dilemmas have none" if missing else None
    return [
        _row(f"{measure}, {name}", None, len(off), value, reason, most=bound)
        for name, value, bound in zip(("mean error", "95th percentile of errors"), values, bounds, strict=True)
    ]


def _valid_axes(own: pd.DataFrame) -> dict[str, Any]:
    """The share of axes that have positions."""
    parts = {str(axis): part for axis, part in own.groupby("axis", sort=False)}
    refused = {axis: part for axis, part in parts.items() if not (part["status"] == OK).any()}
    share = 1 - len(refused) / len(parts) if parts else 0.0
    why = "; ".join(f"{axis}: {column(part, 'reason').iloc[0]}" for axis, part in refused.items())
    return _row("axes with positions, share", None, len(parts), share, why or None, least=LEAST_VALID)


def _positions(table: pd.DataFrame, own: pd.DataFrame) -> list[dict[str, Any]]:
    """Correlation of positions with planted leans, and valid axes without positions."""
    lost = rows(own, own["reason"].fillna("").str.contains("advocates"))
    n_lost, why = int(lost["axis"].nunique()), next(iter(lost["reason"]), None)
    row = _row("valid axes without positions", None, int(own["axis"].nunique()), float(n_lost), why, most=0.0)
    by_scenario = table.groupby("scenario_id")["p_high_reason"].nunique()
    if by_scenario.max() == 1 and (table["p_high_reason"] == table["p_high_choice"]).all():
        return [row]
    placed = rows(table, table["position"].notna())
    means = pd.DataFrame(placed.groupby(["culture", "axis"])[["position", "p_high_reason"]].mean())
    r = float(column(means, "position").corr(column(means, "p_high_reason"))) if len(means) > 2 else float("nan")
    reason = None if np.isfinite(r) else "too few axes have positions, or all are alike"
    return [_row("positions, r with what was planted", None, len(means), r, reason, least=LEAST_R), row]


def _gaps(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Errors of the gap between writing and choosing on each axis, in P(high)."""
    planted = table["p_high_reason"] - table["p_high_choice"]
    written = {"decision": table["decided"], "position": (table["position"] + 1) / 2}
    errors = {
        (name, str(axis)): part.dropna()
        for name, p_high in written.items()
        for axis, part in (p_high - table["p_high"] - planted).groupby(table["axis"], sort=False)
    }
    return [
        _row(f"gap of {name} and choice, off by", axis, len(part), abs(float(part.mean())), None, most=GAP)
        for (name, axis), part in errors.items()
        if len(part)
    ]


def _row(
    measure: str,
    axis: str | None,
    n: int,
    value: float,
    reason: str | None,
    least: float | None = None,
    most: float | None = None,
) -> dict[str, Any]:
    is_within = bool((least is None or value >= least) and (most is None or value <= most))
    row = {"measure": measure, "axis": axis, "n": n, "value": value, "least": least, "most": most}
    return row | {"is_within": is_within, "reason": reason}
