"""`probe_distributions`: answer distributions per question, their P_valid and position bias."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.answers.drawn_columns import count_columns, drawn_numbers, has_draws, why_few
from valuesassets.answers.estimators import estimate_columns, estimate_items
from valuesassets.answers.orders import averaged_orders
from valuesassets.measure.arrays import Array
from valuesassets.records.errors import MissingData
from valuesassets.records.intervals import bound_shares
from valuesassets.records.questions import ResponseType
from valuesassets.records.settings.measuring import Thresholds
from valuesassets.records.trials import Reading, Status, Trial, main_trials

Row = dict[str, Any]
BIAS = "position_bias_magnitude"
BIASED_BELOW = 0.01
"""p-value of drawn answers below which they may count as biased towards a position."""


@dataclass(frozen=True)
class Cell:
    """One model in one language: the labels of its rows."""

    model_id: str
    model_type: str
    model: str
    language: str


def derive_probe_distributions(
    trials: Sequence[Trial],
    readings: Sequence[Reading],
    cell: Cell,
    response_types: Mapping[str, str],
    converted: frozenset[str] = frozenset(),
    estimators: Sequence[str] = (),
    analysis_value: Callable[[str, int], int] = lambda _, value: value,
    with_draws: bool | None = None,
) -> list[Row]:
    """Rows of `PROBE_DISTRIBUTIONS`: orders are mapped to the original scale and averaged (see `averaged_orders`).

    A question of which an order has too few drawn answers that are an option is unresolved.

    Args:
        response_types: response type by question id.
        converted: ids of list items that were asked as statements.
        estimators: alternative estimates that are stored beside the main answer (docs/estimators.md).
        analysis_value: position of an answer code on the analysis scale, by asked question id and code.
        with_draws: whether to add the columns of draws, as for a study with drawn families; where readings are of
            draws, if left out.

    Raises:
        MissingData: a trial has no reading.
    """
    by_trial = {reading.trial_id: reading for reading in readings}
    lacking = [trial.trial_id for trial in trials if trial.trial_id not in by_trial]
    if lacking:
        raise MissingData(f"{cell.model}/{cell.language}: no reading of {lacking[0]} (and {len(lacking) - 1} more)")
    groups: dict[tuple[str, int], list[Trial]] = {}
    for trial in main_trials(trials):
        groups.setdefault((trial.asked_id, trial.wording), []).append(trial)
    estimated = estimate_items(trials, by_trial, estimators)
    is_counted = has_draws(readings) if with_draws is None else with_draws
    rows = []
    for (asked_id, wording), orders in groups.items():
        question_id = orders[0].question_id
        label = vars(cell) | {
            "question_id": asked_id,
            "response_type": response_types[question_id],
            "wording": wording,
            "is_converted": question_id in converted,
        }
        answered = _answer_rows(orders, by_trial)
        if is_counted:
            drawn = count_columns(orders, by_trial)
            if answered[0]["status"] == Status.OK:
                is_ordinal = ResponseType(response_types[question_id]).is_ordinal
                places = [analysis_value(asked_id, row["response_value"]) for row in answered] if is_ordinal else None
                drawn |= drawn_numbers(
                    orders, by_trial, _averaged(orders), places, cell.model, cell.language, asked_id, wording
                )
            label |= drawn
        estimates = estimate_columns(answered, estimated.get((asked_id, wording)))
        rows += [
            label | row | more | {"analysis_value": analysis_value(asked_id, row["response_value"])}
            for row, more in zip(answered, estimates, strict=True)
        ]
    return rows


def doubtful_questions(once: pd.DataFrame, rules: Thresholds) -> dict[str, list[Row]]:
    """The doubtful questions of a cell, by the check that they fail: unread, rarely answered, or position-biased.

    Args:
        once: one row per (question, wording).
    """

    def rows(fails: pd.Series, *more: str) -> list[Row]:
        return once.loc[fails, ["question_id", "wording", *more]].to_dict("records")

    low, median = rows(once["p_valid"] < rules.p_valid_question, "p_valid"), once["p_valid"].median()
    if not median >= rules.p_valid_cell:
        low.insert(0, {"question_id": "(median of the cell)", "wording": "", "p_valid": median})
    return {
        "every_question_is_read": rows(once["status"] != "ok", "status", "reason"),
        "p_valid_is_sufficient": low,
        "position_bias_is_small": rows(is_biased(once, rules), BIAS),
    }


def is_biased(once: pd.DataFrame, rules: Thresholds) -> pd.Series:
    """Whether an option's probabilities differ between orders by more than the threshold.

    Shares of draws differ by chance too: they count where exchanging draws between orders shows that they do differ.

    Args:
        once: one row per question.
    """
    is_large = once[BIAS] > rules.position_bias
    if "position_bias_p" not in once:
        return is_large
    return is_large & ~(once["position_bias_p"].astype(float) >= BIASED_BELOW)


NUMBERS = (
    *("prob_forward", "prob_reversed", "prob_averaged", "p_valid_forward", "p_valid_reversed", "p_valid"),
    *("position_bias_magnitude", "resolution_mass", "prob_low", "prob_high"),
)
"""Columns that are null where a question could not be read in every order."""


NO_BOUNDS: Row = {"prob_low": None, "prob_high": None}


def _answer_rows(orders: Sequence[Trial], by_trial: Mapping[str, Reading]) -> list[Row]:
    values = sorted(orders[0].values)
    probs: dict[str, Array] = {}
    p_valid: dict[str, float] = {}
    resolution = []
    for trial in orders:
        reading = by_trial[trial.trial_id]
        few = why_few(reading)
        if reading.label_probs is None or not reading.p_valid or few is not None:
            status = Status.UNRESOLVED if reading.status is Status.OK else reading.status
            reason = f"{trial.trial_id}: {few or reading.reason or 'no probability on any answer'}"
            unread = dict.fromkeys(NUMBERS) | {"status": str(status), "reason": reason}
            return [unread | {"response_value": value} for value in values]
        mass = np.asarray(reading.label_probs)[np.argsort(trial.values)]
        probs[trial.order] = mass / mass.sum()
        p_valid[trial.order] = reading.p_valid
        if reading.resolution_mass is not None:
            resolution.append(reading.resolution_mass)
    forward, backward = probs["forward"], probs["reversed"]
    over = _averaged(orders)
    averaged = np.mean([probs[order] for order in over], axis=0)
    bounds = _bounds(orders, by_trial, over)
    shared = {
        "p_valid_forward": p_valid["forward"],
        "p_valid_reversed": p_valid["reversed"],
        "p_valid": float(np.mean([p_valid[order] for order in over])),
        "position_bias_magnitude": float(np.max(np.abs(forward - backward))),
        "resolution_mass": float(np.mean(resolution)) if resolution else None,
        "status": str(Status.OK),
        "reason": None,
    }
    columns = {"prob_forward": forward, "prob_reversed": backward, "prob_averaged": averaged} | bounds
    return [
        NO_BOUNDS | shared | {"response_value": value} | {name: float(column[k]) for name, column in columns.items()}
        for k, value in enumerate(values)
    ]


def _averaged(orders: Sequence[Trial]) -> Sequence[str]:
    """The orders over which the answers to a question are averaged."""
    return averaged_orders({trial.order: trial.values for trial in orders})


def _bounds(orders: Sequence[Trial], by_trial: Mapping[str, Reading], over: Sequence[str]) -> dict[str, Array]:
    """Bounds of the averaged probabilities, by increasing codes; empty where every order was read exactly."""
    ends = []
    for trial in orders:
        reading = by_trial[trial.trial_id]
        if trial.order not in over or reading.label_probs is None or reading.p_valid is None:
            continue
        high = reading.label_probs_high or reading.label_probs
        shares = bound_shares(reading.label_probs, high, reading.p_valid, reading.p_valid_high or reading.p_valid)
        ends.append(np.array([shares[position] for position in np.argsort(trial.values)]))
    if all(by_trial[trial.trial_id].label_probs_high is None for trial in orders):
        return {}
    low, high = np.mean(ends, axis=0).T
    return {"prob_low": low, "prob_high": high}
