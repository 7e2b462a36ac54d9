"""`quality_report`: which answers pass the quality rules. All others are left out of every analysis.

A question's P_valid in a cell is the mean over its orders and wordings. Cells with a low median are flagged. Cells that
their preflight excluded are missing, even if they have readings. A question is dropped if it is unreliable in more than
the study's share of readable cells (neither missing nor flagged), because a failure in one unreadable cell says nothing
about other languages. If none of its cells is readable, all its cells count. For all other questions, unreliable and
unread cells are missing. `rule` names the setting of the study file that decided.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.answers.drawn_columns import COUNTS
from valuesassets.answers.probe_distributions import is_biased
from valuesassets.measure.arrays import Array
from valuesassets.records.errors import MissingData
from valuesassets.records.settings.measuring import Thresholds

READING = ["model", "language", "question_id"]
NOISE = ("draw_noise", "cramer_noise")
"""Columns of what drawing adds to an answer; half of it is left in the mean of two wordings."""


@dataclass(frozen=True)
class QualityReport:
    """The verdicts on the study's cells, on its questions, and on each question in each cell."""

    cells: pd.DataFrame
    questions: pd.DataFrame
    readings: pd.DataFrame

    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables by name."""
        return dict(vars(self))


def report_quality(
    probe: pd.DataFrame,
    cells_wanted: Sequence[tuple[str, str]],
    thresholds: Thresholds,
    left_out: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> QualityReport:
    """The quality report of the available part of the grid; other cells are listed as missing.

    Args:
        probe: rows of `PROBE_DISTRIBUTIONS`, all cells together; may be empty.
        cells_wanted: (model, language) of the study.
        left_out: reasons why cells of the study are not asked.
    """
    cells = pd.Series([*zip(probe["model"], probe["language"], strict=True)], probe.index, object)
    is_left_out = cells.isin([*left_out])
    readings = _readings(probe.loc[~is_left_out], thresholds)
    questions = _questions(readings, thresholds)
    is_dropped = readings["question_id"].isin(questions.loc[questions["is_dropped"], "question_id"])
    dropped = is_dropped & readings["standing"].isin(["usable", "unreliable"])
    readings.loc[dropped, ["standing", "reason", "rule"]] = "dropped", "unreliable in too many cells", "dropped_share"
    readings["is_usable"] = readings["standing"] == "usable"
    by_cell = dict(iter(readings.groupby(["model", "language"])))
    rows = [_cell(cell, by_cell.get(cell), thresholds, left_out.get(cell)) for cell in cells_wanted]
    return QualityReport(pd.DataFrame(rows), questions, readings)


def usable_answers(probe: pd.DataFrame, quality: QualityReport, by_wording: bool = False) -> pd.DataFrame:
    """The answers that analyses use, averaged over wordings; probabilities sum to 1 per cell and question.

    Args:
        by_wording: whether to keep wordings separate, in a column `wording`.

    Returns:
        Columns model, model_type, language, question_id, response_type, is_converted, response_value, analysis_value,
        prob (averaged over orders), prob_forward, prob_reversed, p_valid; where some model shows intervals only, also
        prob_low and prob_high, the ends of prob, equal where it is exact; where some model's answers are drawn, also
        numbers of draws, and the noise of prob.

    Raises:
        MissingData: no reading is usable.
    """
    usable = quality.readings.loc[quality.readings["is_usable"].astype(bool), READING]
    if usable.empty:
        raise MissingData(
            f"none of {len(quality.readings)} readings is usable (see quality_report); there is nothing to analyse"
        )
    answers = probe.loc[probe["status"] == "ok"].merge(usable, on=READING)
    answers = answers.rename(columns={"prob_averaged": "prob"})
    groups = ["model", "model_type", "language", "question_id", "response_type", "is_converted", "response_value"]
    groups += ["analysis_value"] * ("analysis_value" in answers) + ["wording"] * by_wording
    numbers = ["prob", "prob_forward", "prob_reversed", "p_valid"]
    if "prob_low" in answers and answers["prob_low"].notna().any():
        numbers += (ends := ["prob_low", "prob_high"])
        answers[ends] = answers[ends].astype(float).where(answers[ends].notna(), answers[["prob"] * 2].to_numpy())
    numbers += (noise := [name for name in NOISE if name in answers])
    numbers += (counts := [name for name in COUNTS if name in answers])
    answers[numbers] = answers[numbers].astype(float)
    by_answer = answers.groupby(groups, sort=False, dropna=False)[numbers]
    means = pd.DataFrame(by_answer.mean())
    if noise or counts:
        n = by_answer.size()
        means[noise], means[counts] = means[noise].div(n, axis=0), means[counts].mul(n, axis=0)
    return means.reset_index()


def _readings(probe: pd.DataFrame, thresholds: Thresholds) -> pd.DataFrame:
    numbers = ["p_valid", "p_valid_forward", "p_valid_reversed", "position_bias_magnitude", "resolution_mass"]
    by_wording = probe.drop_duplicates([*READING, "wording"]).astype(dict.fromkeys(numbers, float))
    of_status = by_wording.assign(status=by_wording["status"].where(by_wording["status"] != "ok", ""))
    groups = of_status.groupby([*READING, "response_type", "is_converted"], sort=False)
    # A question counts as unread if none of its wordings was read.
    readings = groups[numbers].mean().reset_index()
    readings["status"] = groups["status"].min().to_numpy()
    readings["reason"] = groups["reason"].first().to_numpy()
    low = readings["p_valid"] < thresholds.p_valid_question
    vague = readings["resolution_mass"] < thresholds.resolution_mass
    readings["standing"] = readings["status"].where(readings["status"] != "", "usable")
    readings["rule"] = pd.Series(None, readings.index, object)
    for fault, standing, reason, rule in (
        (vague, "unresolved", f"resolution mass below {thresholds.resolution_mass:g}", "resolution_mass"),
        (low, "unreliable", f"P_valid below {thresholds.p_valid_question:g}", "p_valid_question"),
    ):
        readings.loc[fault & (readings["status"] == ""), ["standing", "reason", "rule"]] = standing, reason, rule
    readings.loc[readings["standing"] == "usable", "reason"] = None
    readings["is_position_biased"] = is_biased(readings.assign(**_least_p(groups)), thresholds)
    columns = [*READING, "response_type", "is_converted", *numbers, "standing", "is_position_biased", "reason", "rule"]
    return readings.loc[:, columns]


def _least_p(groups: Any) -> dict[str, Array]:
    """The p-value of position bias in any wording, Bonferroni; none where no answer is drawn."""
    if "position_bias_p" not in groups.obj:
        return {}
    p = groups["position_bias_p"].agg(lambda each: each.astype(float).min() * each.notna().sum())
    return {"position_bias_p": p.to_numpy(dtype=float)}


def _questions(readings: pd.DataFrame, thresholds: Thresholds) -> pd.DataFrame:
    medians = pd.Series(readings.groupby(["model", "language"])["p_valid"].transform("median"))
    is_low, is_readable = readings["p_valid"] < thresholds.p_valid_question, medians >= thresholds.p_valid_cell
    readings = readings.assign(is_low=is_low, is_readable=is_readable)
    groups = readings.groupby("question_id", sort=False)
    questions = groups.agg(
        response_type=("response_type", "first"),
        n_cells=("is_low", "size"),
        n_readable=("is_readable", "sum"),
        n_unreliable=("is_low", "sum"),
        median_p_valid=("p_valid", "median"),
    ).reset_index()
    decides = readings["is_readable"] | ~groups["is_readable"].transform("any")
    deciding = readings.loc[decides].groupby("question_id", sort=False)["is_low"]
    questions["share_unreliable"] = deciding.mean().reindex(questions["question_id"]).to_numpy(float)
    questions["is_dropped"] = questions["share_unreliable"] > thresholds.dropped_share
    low, most = deciding.sum().reindex(questions["question_id"]), f"P_valid below {thresholds.p_valid_question:g}"
    which = questions["n_readable"].map(lambda n: f"{n} readable cells" if n else "")
    which = which.where(which != "", questions["n_cells"].map(lambda n: f"{n} cells, none of them readable"))
    questions["reason"] = [
        f"{most} in {n} of {cells}" if dropped else None
        for n, cells, dropped in zip(low, which, questions["is_dropped"], strict=True)
    ]
    questions["rule"] = pd.Series(None, questions.index, object).mask(questions["is_dropped"], "dropped_share")
    return questions


def _cell(
    cell: tuple[str, str], readings: pd.DataFrame | None, thresholds: Thresholds, left_out: str | None
) -> dict[str, object]:
    label: dict[str, object] = {"model": cell[0], "language": cell[1]}
    if readings is None:
        counts = dict.fromkeys(["n_questions", "n_usable", "n_unreliable", "n_unreadable"], 0)
        shares = ["median_p_valid", "share_above_threshold", "mean_position_bias", "share_position_biased"]
        empty = counts | dict.fromkeys(shares, np.nan)
        is_missing = {"is_flagged": False, "is_missing": True, "reason": left_out or "not probed yet"}
        return label | empty | is_missing | {"rule": "preflight" if left_out else None}
    readable = readings.loc[readings["p_valid"].notna()]
    has_read = len(readable) > 0
    median = float(readable["p_valid"].median()) if has_read else np.nan
    is_flagged = not median >= thresholds.p_valid_cell
    low = f"median P_valid {median:.2f} is below {thresholds.p_valid_cell:g}" if has_read else "no question was read"
    return label | {
        "n_questions": len(readings),
        "n_usable": int(readings["is_usable"].sum()),
        "n_unreliable": int((readable["p_valid"] < thresholds.p_valid_question).sum()),
        "n_unreadable": len(readings) - len(readable),
        "median_p_valid": median,
        "share_above_threshold": float((readings["p_valid"] >= thresholds.p_valid_question).mean()),
        "mean_position_bias": float(readable["position_bias_magnitude"].mean()) if has_read else np.nan,
        "share_position_biased": float(readable["is_position_biased"].mean()) if has_read else np.nan,
        "is_flagged": is_flagged,
        "is_missing": False,
        "reason": low if is_flagged else None,
        "rule": "p_valid_cell" if is_flagged else None,
    }
