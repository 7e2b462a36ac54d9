"""`calibration`: what was planted into a reference model against what was read back, question by question.

Two channels: the scorer's probabilities, and answers that the model wrote, parsed as text. For the second the error
that the draw alone makes is stated beside, and allowed for.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.measure.distances import Distribution, distribution, tvd, uniform_like, wasserstein1_unit
from valuesassets.measure.sampling_error import allowed_mean, simulate_sampling_error
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import parts_of
from valuesassets.records.questions import ResponseType
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.tables import TABLES

ERRORS = ["w1_unit_error", "p_valid_error", "position_bias_error"]
SAMPLED = [f"sampled_{error}" for error in ERRORS]
"""The errors of answers drawn and parsed."""
AVERAGED = "averaged_w1_unit_error"
"""Of answers averaged over the orders: small as a mean, its 95th percentile tells masses averaged from shares."""
DRAWN = [f"drawn_{error}" for error in ERRORS]
"""The part of `SAMPLED` that the draw alone is expected to make; its standard deviation stands in `<name>_sd`."""
CELL = ["model", "language"]
QUESTION = [*CELL, "question_id", "wording"]
STRONG_BIAS, REAL_MASS = 0.15, 0.10
"""From where on a planted position bias counts as strong, and mass on both ends of a ten-point scale as real."""


def compare_with_plants(probe: pd.DataFrame, plants: pd.DataFrame, sampled: pd.DataFrame | None = None) -> pd.DataFrame:
    """Planted against recovered: one row per (cell, question, wording).

    Args:
        probe: rows of `PROBE_DISTRIBUTIONS`; of reference families.
        plants: as `planted_answers` gives them; other questions than those probed may be there.
        sampled: as `derive_sampled_distributions` gives them; without, that channel is null.

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
    return pd.DataFrame(rows, columns=pd.Index(TABLES["calibration"].names))


def summarise_recovery(comparison: pd.DataFrame, phantom: Phantom) -> pd.DataFrame:
    """Mean and 95th percentile of each error per cell and response type ("all": the cell), and the verdict.

    Recovered means: every question was read, and the mean errors are within the study's limits, as is the 95th
    percentile of a cell's averaged answers' error; those of the sampled channel, where there is one, within the limit
    and what the draw alone can do. A cell is recovered when each of its response types is.
    """
    rows = []
    for (model, language), cell in parts_of(comparison, CELL):
        whole, kinds = _summary(cell, phantom), {}
        for (kind,), part in parts_of(cell, ["response_type"]):
            kinds[kind] = _summary(part, phantom)
        off = [f"{kind}: {found['reason']}" for kind, found in kinds.items() if not found["is_recovered"]]
        tail, limit = whole[f"{AVERAGED}_p95"], phantom.largest_tail
        # Of a cell alone: of two or three questions a percentile would say nothing.
        uneven = [f"95th percentile of {AVERAGED} {tail:.3f} is above {limit:g}"] if tail > limit else []
        reasons = [*([whole["reason"]] if whole["reason"] else []), *uneven, *off]
        whole |= {"is_recovered": not reasons, "reason": "; ".join(map(str, reasons)) or None}
        for kind, found in {"all": whole, **kinds}.items():
            rows.append({"model": model, "language": language, "response_type": kind} | found)
    return pd.DataFrame(rows)


def describe_hardness(comparison: pd.DataFrame) -> pd.DataFrame:
    """How hard the plants were, per response type ("all": every question): an easy plant proves little.

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
    if first["status"] != "ok":
        return row
    return row | {
        **dict(zip(ERRORS, _errors(recovered, plant), strict=True)),
        AVERAGED: _distance(recovered, plant, "prob_averaged"),
        "recovered_p_valid": float(first["p_valid"]),
        "recovered_position_bias": float(first["position_bias_magnitude"]),
    }


def _sampled(drawn: pd.DataFrame | None, plant: pd.DataFrame, question: tuple[str, ...]) -> dict[str, object]:
    """The second channel of one question; n alone where it was not sampled, or where no answer was an option."""
    if drawn is None:
        return {"n_sampled": 0}
    wanted, found, n = plant.iloc[0], drawn.iloc[0], int(drawn["n"].iloc[0])
    if np.isnan(_numbers(drawn, "prob_averaged")).any():
        return {"n_sampled": n}
    chance = simulate_sampling_error(
        plant[["prob_forward", "prob_reversed"]].to_numpy(dtype=float).T,
        (float(wanted["p_valid_forward"]), float(wanted["p_valid_reversed"])),
        _numbers(plant, "analysis_value") if _is_ordinal(plant) else None,
        n,
        seeded("sampling error", *question),
    )
    by_chance = (chance.distance, chance.p_valid, chance.position_bias)
    return {
        **dict(zip(SAMPLED, _errors(drawn, plant), strict=True)),
        **{name: each.mean for name, each in zip(DRAWN, by_chance, strict=True)},
        **{f"{name}_sd": each.sd for name, each in zip(DRAWN, by_chance, strict=True)},
        "sampled_p_valid": float(found["p_valid"]),
        "sampled_position_bias": float(found["position_bias_magnitude"]),
        "n_sampled": n,
    }


def _errors(recovered: pd.DataFrame, plant: pd.DataFrame) -> tuple[float, float, float]:
    """Of the answers, of P_valid and of the position bias."""
    first, wanted = recovered.iloc[0], plant.iloc[0]
    answers = [_distance(recovered, plant, order) for order in ("prob_forward", "prob_reversed")]
    sides = [abs(float(first[side]) - float(wanted[side])) for side in ("p_valid_forward", "p_valid_reversed")]
    bias = abs(float(first["position_bias_magnitude"]) - float(wanted["position_bias_magnitude"]))
    return float(np.mean(answers)), float(np.mean(sides)), bias


def _distance(recovered: pd.DataFrame, plant: pd.DataFrame, column: str) -> float:
    """W1 in scale units, total variation for categorical questions; null where nothing is planted in the column."""
    read, asked = recovered["response_value"].tolist(), plant["response_value"].tolist()
    if sorted(read) != sorted(asked):
        question = plant.iloc[0]["question_id"]
        raise MissingData(f"{question}: planted for answers {sorted(asked)}, read for {sorted(read)}")
    due = _numbers(plant, column)
    if np.isnan(due).any():
        return np.nan
    found = _numbers(recovered, column)[[read.index(code) for code in asked]]
    places = plant["analysis_value"]
    return _distance_of(plant)(distribution(places, found), distribution(places, due))


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
        "could not be read": n_unreadable,
        "were not sampled": int((~is_sampled).sum()) if is_sampled.any() else 0,
        "got no sampled answer that is an option": n_silent,
    }
    faults = [f"{count} of {len(part)} questions {what}" for what, count in counted.items() if count]
    for error, sampled, drawn, limit in zip(ERRORS, SAMPLED, DRAWN, phantom.limits, strict=True):
        bound = limit + allowed_mean(part[drawn], part[f"{drawn}_sd"])
        for name, most in ((error, limit), (sampled, bound)):
            mean, p95 = _mean_and_p95(part, name)
            summary |= {f"{name}_mean": mean, f"{name}_p95": p95}
            faults += [f"mean {name} {mean:.3f} is above {most:.3g}"] if mean > most else []
        summary[f"{sampled}_bound"] = bound
    summary[f"{AVERAGED}_p95"] = _mean_and_p95(part, AVERAGED)[1]
    return summary | {"is_recovered": not faults, "reason": "; ".join(faults) or None}


def _numbers(part: pd.DataFrame, name: str) -> NDArray[np.float64]:
    return np.asarray(part[name], dtype=float)


def _mean_and_p95(part: pd.DataFrame, name: str) -> tuple[float, float]:
    """Mean and 95th percentile of what is not null; null where all is."""
    found = _numbers(part, name)
    has_any = np.isfinite(found).any()
    return (float(np.nanmean(found)), float(np.nanquantile(found, 0.95))) if has_any else (np.nan, np.nan)


def calibration_tables(comparison: pd.DataFrame, phantom: Phantom) -> dict[str, pd.DataFrame]:
    """Planted beside recovered answers (`comparison`), their summary (`recovery`), and how hard the plants were."""
    recovery, hardness = summarise_recovery(comparison, phantom), describe_hardness(comparison)
    return {"comparison": comparison, "recovery": recovery, "hardness": hardness}
