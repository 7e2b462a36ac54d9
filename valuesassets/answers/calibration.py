"""`calibration`: planted and recovered answers of reference models, question by question.

Answers are recovered by two channels: the scorer's probabilities, and sampled answers that are parsed as text. The
sampling error of the second channel is reported and allowed for.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binom

from valuesassets.measure.arrays import Array
from valuesassets.measure.distances import Distribution, distribution, tvd, uniform_like, wasserstein1_unit
from valuesassets.measure.sampling_error import ALLOWED_SDS, SamplingError, allowed_mean, simulate_sampling_error
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import parts_of
from valuesassets.records.questions import ResponseType
from valuesassets.records.settings.draws import LEAST_OPTIONS
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.tables import TABLES

ERRORS = ["w1_unit_error", "p_valid_error", "position_bias_error"]
SAMPLED = [f"sampled_{error}" for error in ERRORS]
"""Columns of the errors of sampled answers."""
AVERAGED = "averaged_w1_unit_error"
"""Column of the error of answers averaged over orders; its 95th percentile reveals masses averaged as if shares."""
DRAWN = [f"drawn_{error}" for error in ERRORS]
"""Columns of the expected sampling error in `SAMPLED`; its standard deviation is in `<name>_sd`."""
BY_DRAWS = [f"by_draws_{error}" for error in (*ERRORS, AVERAGED)]
"""Columns of the error expected of an answer that is a share of draws; its standard deviation is in `<name>_sd`."""
UNRESOLVED = "by_draws_unresolved"
"""Column of the probability that drawing leaves a question unresolved."""
CELL = ["model", "language"]
QUESTION = [*CELL, "question_id", "wording"]
STRONG_BIAS, REAL_MASS = 0.15, 0.10
"""A planted position bias is strong, and mass on both ends of a ten-point scale substantial, from these values on."""


def compare_with_plants(probe: pd.DataFrame, plants: pd.DataFrame, sampled: pd.DataFrame | None = None) -> pd.DataFrame:
    """Planted against recovered: one row per (cell, question, wording).

    Args:
        probe: rows of `PROBE_DISTRIBUTIONS` of reference families.
        plants: as `planted_answers` returns them; may contain questions that were not probed.
        sampled: as `derive_sampled_distributions` returns them; without them that channel is null.

    Returns:
        Rows of `calibration`; errors are null where a question could not be read.

    Raises:
        MissingData: nothing is planted for a question that was probed.
    """
    planted, drawn = (dict(parts_of(frame, QUESTION)) if frame is not None else {} for frame in (plants, sampled))
    rows = []
    for question, recovered in parts_of(probe, QUESTION):
        plant = planted.get(question)
        if plant is None:
            raise MissingData(f"{'/'.join(question)}: nothing is planted; was it asked of a reference family?")
        rows.append(
            dict(zip(QUESTION, question, strict=True))
            | {"wording": int(question[-1])}
            | _compared(recovered, plant)
            | _sampled(drawn.get(question), plant, question)
        )
    return TABLES["calibration"].frame(rows)


def summarise_recovery(comparison: pd.DataFrame, phantom: Phantom) -> pd.DataFrame:
    """Mean and 95th percentile of each error per cell and response type ("all": the cell), and the verdict.

    Answers are recovered if every question was read, the mean errors are within the study's limits, and so is the 95th
    percentile of the error of a cell's averaged answers. For the sampled channel the allowed sampling error is added to
    the limit, and to all limits where the answers themselves are shares of draws. A cell is recovered if all its
    response types are.
    """
    rows = []
    for (model, language), cell in parts_of(comparison, CELL):
        whole, kinds = _summary(cell, phantom), {}
        for (kind,), part in parts_of(cell, ["response_type"]):
            kinds[kind] = _summary(part, phantom)
        off = [f"{kind}: {summary['reason']}" for kind, summary in kinds.items() if not summary["is_recovered"]]
        tail, limit = whole[f"{AVERAGED}_p95"], phantom.largest_tail + _tail_of_draws(cell)
        # For cells only: a percentile of two or three questions is meaningless.
        uneven = [f"95th percentile of {AVERAGED} {tail:.3f} is above {limit:.3g}"] if tail > limit else []
        reasons = [*([whole["reason"]] if whole["reason"] else []), *uneven, *off]
        whole |= {"is_recovered": not reasons, "reason": "; ".join(map(str, reasons)) or None}
        for kind, summary in {"all": whole, **kinds}.items():
            rows.append({"model": model, "language": language, "response_type": kind} | summary)
    return pd.DataFrame(rows)


def describe_hardness(comparison: pd.DataFrame) -> pd.DataFrame:
    """Difficulty of the plants, per response type ("all": every question): recovering easy plants proves little.

    Returns:
        response_type, n, `w1_unit_to_uniform_mean` (total variation for categorical questions),
        `position_bias_share_strong` (share planted with `STRONG_BIAS` or more), `p_valid_min`, `p_valid_max`,
        `both_ends_share` (ten-point scales: share with `REAL_MASS` or more on both `1` and `10`).
    """
    parts = [("all", comparison), *((kind, part) for (kind,), part in parts_of(comparison, ["response_type"]))]
    return pd.DataFrame([{"response_type": kind} | _hardness(kind, part) for kind, part in parts])


def _hardness(kind: str, part: pd.DataFrame) -> dict[str, object]:
    tens = part[part["response_type"] == "likert10"]
    return {
        "n": len(part),
        "w1_unit_to_uniform_mean": float(part["w1_unit_to_uniform"].mean()),
        "position_bias_share_strong": float((part["planted_position_bias"] >= STRONG_BIAS).mean()),
        "p_valid_min": float(part["planted_p_valid"].min()),
        "p_valid_max": float(part["planted_p_valid"].max()),
        "both_ends_share": float((tens["planted_ends"] >= REAL_MASS).mean()) if kind in ("all", "likert10") else np.nan,
    }


def _compared(recovered: pd.DataFrame, plant: pd.DataFrame) -> dict[str, object]:
    first, wanted = recovered.iloc[0], plant.iloc[0]
    both = (plant["prob_forward"] + plant["prob_reversed"]) / 2
    averaged = distribution(plant["analysis_value"], both)
    is_end = plant["response_value"].isin([plant["response_value"].min(), plant["response_value"].max()])
    row: dict[str, object] = {
        "response_type": wanted["response_type"],
        "w1_unit_to_uniform": _distance_of(plant)(averaged, uniform_like(averaged)),
        "planted_ends": float(both[is_end].min()),
        "planted_p_valid": float(wanted["p_valid"]),
        "planted_position_bias": float(wanted["position_bias_magnitude"]),
        "status": first["status"],
        "reason": first["reason"],
    }
    row |= _unresolved_by_drawing(recovered, wanted)
    if first["status"] != "ok":
        return row
    return row | {
        **dict(zip(ERRORS, _errors(recovered, plant), strict=True)),
        AVERAGED: _distance(recovered, plant, "prob_averaged"),
        **_by_draws(recovered, plant),
        "recovered_p_valid": float(first["p_valid"]),
        "recovered_position_bias": float(first["position_bias_magnitude"]),
    }


def _n_drawn(recovered: pd.DataFrame) -> int:
    """The answers drawn in each of two orders; 0 where probabilities were read."""
    return 0 if "n_drawn" not in recovered else int(recovered["n_drawn"].iloc[0]) // 2


def _unresolved_by_drawing(recovered: pd.DataFrame, wanted: pd.Series) -> dict[str, float]:
    """The probability that too few draws of an order are an option; none where probabilities were read."""
    if not (n := _n_drawn(recovered)):
        return {}
    enough = [binom.sf(LEAST_OPTIONS - 1, n, float(wanted[f"p_valid_{side}"])) for side in ("forward", "reversed")]
    return {UNRESOLVED: float(1 - np.prod(enough))}


def _by_draws(recovered: pd.DataFrame, plant: pd.DataFrame) -> dict[str, float]:
    """What drawing does to the errors of a question whose answers are shares of draws; none where they were read."""
    if not (n := _n_drawn(recovered)):
        return {}
    error = _sampling_error(plant, n, *(str(plant[name].iloc[0]) for name in QUESTION))
    by_chance = (error.distance, error.p_valid, error.position_bias, error.averaged)
    means = {name: each.mean for name, each in zip(BY_DRAWS, by_chance, strict=True)}
    return means | {f"{name}_sd": each.sd for name, each in zip(BY_DRAWS, by_chance, strict=True)}


def _sampling_error(plant: pd.DataFrame, n: int, *question: str) -> SamplingError:
    """The errors of `n` answers in each order that are drawn from what was planted."""
    wanted = plant.iloc[0]
    return simulate_sampling_error(
        plant[["prob_forward", "prob_reversed"]].to_numpy(dtype=float).T,
        (float(wanted["p_valid_forward"]), float(wanted["p_valid_reversed"])),
        _numbers(plant, "analysis_value") if _is_ordinal(plant) else None,
        n,
        seeded("sampling error", *question),
    )


def _sampled(drawn: pd.DataFrame | None, plant: pd.DataFrame, question: tuple[str, ...]) -> dict[str, object]:
    """The sampled channel of one question; n alone where it was not sampled, or where no answer was an option."""
    if drawn is None:
        return {"n_sampled": 0}
    first, n = drawn.iloc[0], int(drawn["n"].iloc[0])
    if np.isnan(_numbers(drawn, "prob_averaged")).any():
        return {"n_sampled": n}
    chance = _sampling_error(plant, n, *question)
    by_chance = (chance.distance, chance.p_valid, chance.position_bias)
    return {
        **dict(zip(SAMPLED, _errors(drawn, plant), strict=True)),
        **{name: each.mean for name, each in zip(DRAWN, by_chance, strict=True)},
        **{f"{name}_sd": each.sd for name, each in zip(DRAWN, by_chance, strict=True)},
        "sampled_p_valid": float(first["p_valid"]),
        "sampled_position_bias": float(first["position_bias_magnitude"]),
        "n_sampled": n,
    }


def _errors(recovered: pd.DataFrame, plant: pd.DataFrame) -> tuple[float, float, float]:
    """Errors of the answers, of P_valid and of the position bias."""
    first, wanted = recovered.iloc[0], plant.iloc[0]
    answers = [_distance(recovered, plant, order) for order in ("prob_forward", "prob_reversed")]
    sides = [abs(float(first[side]) - float(wanted[side])) for side in ("p_valid_forward", "p_valid_reversed")]
    bias = abs(float(first["position_bias_magnitude"]) - float(wanted["position_bias_magnitude"]))
    return float(np.mean(answers)), float(np.mean(sides)), bias


def _distance(recovered: pd.DataFrame, plant: pd.DataFrame, column: str) -> float:
    """W1 in scale units, or total variation for categorical questions; NaN where the plant has no such column."""
    codes_read, codes_planted = recovered["response_value"].tolist(), plant["response_value"].tolist()
    if sorted(codes_read) != sorted(codes_planted):
        question = plant.iloc[0]["question_id"]
        raise MissingData(f"{question}: planted for answers {sorted(codes_planted)}, read for {sorted(codes_read)}")
    planted_probs = _numbers(plant, column)
    if np.isnan(planted_probs).any():
        return np.nan
    recovered_probs = _numbers(recovered, column)[[codes_read.index(code) for code in codes_planted]]
    places = plant["analysis_value"]
    return _distance_of(plant)(distribution(places, recovered_probs), distribution(places, planted_probs))


def _is_ordinal(plant: pd.DataFrame) -> bool:
    return ResponseType(plant["response_type"].iloc[0]).is_ordinal


def _distance_of(plant: pd.DataFrame) -> Callable[[Distribution, Distribution], float]:
    return wasserstein1_unit if _is_ordinal(plant) else tvd


def _summary(part: pd.DataFrame, phantom: Phantom) -> dict[str, Any]:
    n_unreadable = int((part["status"] != "ok").sum())
    is_sampled = np.asarray(part["n_sampled"]) > 0
    n_silent = int((is_sampled & np.isnan(_numbers(part, "sampled_p_valid"))).sum())
    summary: dict[str, Any] = {"n": len(part), "n_unreadable": n_unreadable, "n_sampled": int(is_sampled.sum())}
    counted = {
        "could not be read": n_unreadable if n_unreadable > _unresolved_at_most(part) else 0,
        "were not sampled": int((~is_sampled).sum()) if is_sampled.any() else 0,
        "got no sampled answer that is an option": n_silent,
    }
    faults = [f"{count} of {len(part)} questions {what}" for what, count in counted.items() if count]
    for error, sampled, drawn, limit in zip(ERRORS, SAMPLED, DRAWN, phantom.limits, strict=True):
        bound = limit + allowed_mean(part[drawn], part[f"{drawn}_sd"])
        for name, most in ((error, limit + _mean_of_draws(part, error)), (sampled, bound)):
            mean, p95 = _mean_and_p95(part, name)
            summary |= {f"{name}_mean": mean, f"{name}_p95": p95}
            faults += [f"mean {name} {mean:.3f} is above {most:.3g}"] if mean > most else []
        summary[f"{sampled}_bound"] = bound
    summary[f"{AVERAGED}_p95"] = _mean_and_p95(part, AVERAGED)[1]
    return summary | {"is_recovered": not faults, "reason": "; ".join(faults) or None}


def _unresolved_at_most(part: pd.DataFrame) -> float:
    """The most unresolved questions that are attributed to drawing; 0 where no answer is a share of draws."""
    if UNRESOLVED not in part:
        return 0.0
    p = np.nan_to_num(_numbers(part, UNRESOLVED))
    return float(p.sum() + ALLOWED_SDS * np.sqrt((p * (1 - p)).sum()))


def _mean_of_draws(part: pd.DataFrame, error: str) -> float:
    """What drawing may add to a mean error; 0 where no answer is a share of draws."""
    name = f"by_draws_{error}"
    return float(np.nan_to_num(allowed_mean(part[name], part[f"{name}_sd"]))) if name in part else 0.0


def _tail_of_draws(cell: pd.DataFrame) -> float:
    """What drawing may add to the 95th percentile of the errors of averaged answers; 0 likewise."""
    name = f"by_draws_{AVERAGED}"
    if name not in cell:
        return 0.0
    most = _numbers(cell, name) + ALLOWED_SDS * _numbers(cell, f"{name}_sd")
    return float(np.nanquantile(most, 0.95)) if np.isfinite(most).any() else 0.0


def _numbers(part: pd.DataFrame, name: str) -> Array:
    return np.asarray(part[name], dtype=float)


def _mean_and_p95(part: pd.DataFrame, name: str) -> tuple[float, float]:
    """Mean and 95th percentile of the values that are not NaN; NaN where all are."""
    values = _numbers(part, name)
    has_any = np.isfinite(values).any()
    return (float(np.nanmean(values)), float(np.nanquantile(values, 0.95))) if has_any else (np.nan, np.nan)


def calibration_tables(comparison: pd.DataFrame, phantom: Phantom) -> dict[str, pd.DataFrame]:
    """Planted and recovered answers (`comparison`), their summary (`recovery`), and the difficulty of the plants."""
    recovery, hardness = summarise_recovery(comparison, phantom), describe_hardness(comparison)
    return {"comparison": comparison, "recovery": recovery, "hardness": hardness}
