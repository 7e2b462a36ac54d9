"""Whether the differences between a model's cultures replicate in the other order, other wordings and other scenarios.

This needs no country scores and limits all else: answers that disagree with themselves cannot agree with people.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logit

from valuesassets.answers.order_quality import Wording, describe_orders
from valuesassets.comparing.reliability import LANGUAGE, PATTERN, over_conditions
from valuesassets.instruments.worldwise.answers.choices import LOW_P_VALID
from valuesassets.instruments.worldwise.answers.model_answers import (
    CHOICE,
    Answered,
    ByReadout,
    Frames,
    by_scenario,
    of_models,
    profiled,
)
from valuesassets.instruments.worldwise.material.dimensions import CONTROLS
from valuesassets.instruments.worldwise.measures.inference import REFUSED
from valuesassets.instruments.worldwise.tables import CHOICE_ORDERS, RELIABILITY
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.order_agreement import order_agreement
from valuesassets.measure.resampling import jackknife_ends, with_ends
from valuesassets.measure.variance_components import generalizability, variance_components
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, rows
from valuesassets.records.settings.measuring import Inference, Thresholds
from valuesassets.records.study import Study

FEWEST_CULTURES = 3
MEASURES = ORDER, WORDING, SCENARIO = ("order_agreement", "wording_agreement", "scenario_agreement")
KEYS = ("model", "readout", "culture", "other_culture", "axis", "kind", "form", "measure", "status", "reason")
COUNTS = ("n_scenarios", "n_compared", "n_cultures", "n_pairs")
"""Columns that keep their values when the numbers of a row are withheld: keys and sample sizes."""
CULTURE, WITHIN = frozenset({"culture"}), frozenset({"culture", "scenario"})


def derive_reliability(answered: Answered, study: Study, how: Inference) -> dict[str, pd.DataFrame]:
    """`readouts` and `orders` of all models."""
    rules = study.thresholds
    orders = CHOICE_ORDERS.frame(
        [choice_orders(model, each.choices, rules, how.level) for model, each in answered.items()]
    )
    readouts = of_models(answered, lambda model, each: rely_on_model(model, each.by_readout, rules.reliability, how))
    return {"readouts": readouts, "orders": orders}


def rely_on_model(model: str, answers: ByReadout, threshold: float, how: Inference) -> pd.DataFrame:
    """The table `reliability` of one model: a row per readout, reliable if all agreements measured reach the threshold.

    Agreement over orders and over wordings is the generalizability of the cultures' differences in the scenarios; that
    over scenarios is of the cultures' means on an axis, the mean over all split halves stepped up to full length
    (Cronbach 1951). Intervals are jackknife intervals over scenarios.
    """
    readouts = []
    for readout in profiled(answers):
        row: dict[str, Any] = {"model": model, "readout": readout, "threshold": threshold, "is_reliable": None}
        lacking = []
        for name, measure in {ORDER: _over_orders, WORDING: _over_wordings, SCENARIO: _over_scenarios}.items():
            try:
                estimate, left_out = measure(answers[readout])
                row |= with_ends(name, estimate, jackknife_ends(estimate, left_out, how.level))
            except MissingData as error:
                lacking.append(f"{name}: {error}")
        agreements = [row[name] for name in MEASURES if name in row]
        row |= {
            "is_reliable": min(agreements) >= threshold if agreements else None,
            "reason": "; ".join(lacking) or None,
        }
        readouts.append(row)
    return RELIABILITY.frame(readouts)


def give_way(measured: pd.DataFrame, reliability: Frames, is_ranking: bool = False) -> pd.DataFrame:
    """Profiles or rankings without the numbers of readouts that are not reliable; their rows say why.

    Args:
        reliability: `readouts`, and `orders` to check choices too.
        is_ranking: whether the numbers rank cultures; these are withheld also if reliability is unknown.
    """
    why = {}
    for row in reliability["readouts"].to_dict("records"):
        key, is_reliable = (row["model"], row["readout"]), row["is_reliable"]
        if pd.isna(is_reliable):
            why |= {key: f"whether it replicates is not known: {row['reason']}"} if is_ranking else {}
        elif not is_reliable:
            low = ", ".join(f"{name} {row[name]:.2f}" for name in MEASURES if row[name] < row["threshold"])
            why[key] = f"not reliable: {low}; {row['threshold']:g} is asked for"
    return withheld(measured, why | without_evidence(reliability))


def without_evidence(reliability: Frames) -> dict[tuple[str, str], str]:
    """Why the choices of a model show no preference, by model and readout, for those models of which this holds."""
    orders = reliability.get("orders", CHOICE_ORDERS.empty_frame())
    refused = rows(orders, orders["is_evidence"].isin([False]))
    return {(row["model"], CHOICE): row["reason"] for row in refused.to_dict("records")}


def withheld(measured: pd.DataFrame, why: Mapping[tuple[str, str], str]) -> pd.DataFrame:
    """The table without the numbers of some models and readouts, whose rows get the status `refused` and a reason.

    All rows of a table without a column `readout` are of choices.
    """
    result = measured.astype({"status": object, "reason": object})  # a column without any reason holds no text
    hidden = [name for name in result.columns if name not in (*KEYS, *COUNTS)]
    readouts = result.get("readout", CHOICE)
    for (model, readout), reason in why.items():
        is_withheld = (result["model"] == model) & (readouts == readout)
        result[hidden] = result[hidden].apply(lambda values, rows=is_withheld: values.mask(rows))
        result.loc[is_withheld, ["status", "reason"]] = [REFUSED, reason]
    return result


def culture_components(values: Array, axes: NDArray[np.str_]) -> tuple[float, float]:
    """Variance between cultures' means on an axis, and of their differences from scenario to scenario; (C, S) values.

    Both are means over the axes on which two cultures have two scenarios; NaN without any. They can be below 0 by
    chance.
    """
    components = np.array([_components(values[:, axes == name]) for name in dict.fromkeys(axes.tolist())]).reshape(
        -1, 2
    )
    between, within = mean_of_known(components, axis=0).tolist()
    return between, within


def _components(values: Array) -> tuple[float, float]:
    block = values[np.isfinite(values).any(axis=1)][:, np.isfinite(values).any(axis=0)]
    if min(block.shape) < 2:
        return np.nan, np.nan
    try:
        components = variance_components(block, ("culture", "scenario"))
    except MissingData:
        return np.nan, np.nan
    return components[CULTURE].item(), components[WITHIN].item()


def _over_orders(answers: pd.DataFrame) -> tuple[float, Array]:
    return _agreement(_by_condition(answers).mean(axis=1, keepdims=True), "order")


def _over_wordings(answers: pd.DataFrame) -> tuple[float, Array]:
    return _agreement(_by_condition(answers).mean(axis=0, keepdims=True), "wording")


def _agreement(values: Array, condition: str) -> tuple[float, Array]:
    """Generalizability of (O, W, C, S) values over the dimension that is not 1; and without each scenario."""
    if max(values.shape[:2]) < 2:
        raise MissingData(f"asked in one {condition}")
    shared = np.isfinite(values).all(axis=(0, 1)).sum(axis=0) >= FEWEST_CULTURES
    if shared.sum() < 2:
        raise MissingData(
            f"{shared.sum()} scenarios were answered as {FEWEST_CULTURES} or more cultures in each {condition}, "
            "two are needed"
        )
    wanted, kept = [LANGUAGE, PATTERN], values[..., shared]
    left_out = [over_conditions(np.delete(kept, scenario, axis=-1), wanted).item() for scenario in range(shared.sum())]
    return over_conditions(kept, wanted).item(), np.array(left_out)


def _over_scenarios(answers: pd.DataFrame) -> tuple[float, Array]:
    means = by_scenario(_of_cultures(answers))
    is_known = np.isfinite(means.values).any(axis=0)
    values, axes = means.values[:, is_known], means.axes[is_known]
    if len(values) < FEWEST_CULTURES or axes.size < FEWEST_CULTURES:
        raise MissingData(
            f"{len(values)} cultures and {axes.size} scenarios with answers, {FEWEST_CULTURES} of each are needed"
        )
    estimate = _consistency(values, axes)
    if not np.isfinite(estimate):
        raise MissingData("no axis has two scenarios that were answered as two cultures")
    left_out = np.array([_consistency(np.delete(values, s, axis=1), np.delete(axes, s)) for s in range(axes.size)])
    return estimate, left_out[np.isfinite(left_out)]


def _consistency(values: Array, axes: NDArray[np.str_]) -> float:
    between, within = culture_components(values, axes)
    if not np.isfinite(between):
        return np.nan
    n = round(axes.size / np.unique(axes).size)
    return generalizability({CULTURE: np.array([between]), WITHIN: np.array([within])}, [CULTURE], {WITHIN: n}).item()


def _of_cultures(answers: pd.DataFrame) -> pd.DataFrame:
    return rows(answers, ~answers["culture"].isin(CONTROLS))


def _by_condition(answers: pd.DataFrame) -> Array:
    """(O, W, C, S) means over draws; NaN where missing."""
    of_cultures = _of_cultures(answers)
    if of_cultures.empty:
        raise MissingData("nothing was answered as a culture")
    means = of_cultures.groupby(["order", "wording", "culture", "scenario_id"], sort=False)["value"].mean()
    levels = [means.index.get_level_values(name).unique() for name in means.index.names]
    whole = means.reindex(pd.MultiIndex.from_product(levels))
    return whole.to_numpy(dtype=float).reshape([len(level) for level in levels])


WORDS = Wording(
    verb="chooses",
    things="choices",
    changes="prefer the other option once both are exchanged",
    instead="read p_high_log_odds: p_high is shrunk",
    items="dilemmas",
)


def choice_orders(model: str, choices: pd.DataFrame, rules: Thresholds, level: float = 0.95) -> dict[str, Any]:
    """A row of `CHOICE_ORDERS`: whether the choices follow options or positions, and how often the answer is an option.

    Agreement is over dilemmas, since personas in one dilemma are not independent.
    """
    numbers = {name: column(choices, name).to_numpy(float) for name in ("p_high_log_odds", "position_pull", "p_valid")}
    leans, pulls = logit(numbers["p_high_log_odds"]), numbers["position_pull"]
    agreement = order_agreement(leans + pulls, leans - pulls, list(choices["scenario_id"]), level)
    return {
        "model": model,
        "n_choices": len(choices),
        "n_read": agreement.n,
        "n_low_p_valid": len(rows(choices, choices["status"] == LOW_P_VALID)),
        "n_scenarios": agreement.n_items,
        "position_pull": agreement.pull,
        "pull_share": agreement.pull_share,
        **describe_orders(model, agreement, numbers["p_valid"], rules, WORDS),
    }
