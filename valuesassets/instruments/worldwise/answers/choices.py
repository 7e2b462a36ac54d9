"""`worldwise/choices`: readings of dilemmas as probabilities of the high pole."""

from collections.abc import Iterable, Mapping, Sequence
from math import exp, log
from typing import Any

from valuesassets.instruments.worldwise.material.dimensions import ORDERS
from valuesassets.instruments.worldwise.material.scenarios import Scenario
from valuesassets.instruments.worldwise.trials.trials import IS_HIGH, culture_of
from valuesassets.records.errors import MissingData
from valuesassets.records.trials import Reading, Status, Trial

Row = dict[str, Any]
EXACT, TOP = "exact", "top"
"""Channels: all probabilities are known, or only bounds."""
LOW_P_VALID = "low_p_valid"
"""Status of a choice with too little probability on the options; its numbers are stored, but no analysis uses them."""
BY_OPTION, BY_POSITION = "option", "position"
"""Whether the preference follows the option or the position when both are exchanged."""


def derive_choices(
    scenarios: Sequence[Scenario],
    trials: Iterable[Trial],
    readings: Iterable[Reading],
    model_id: str,
    model: str,
    least_p_valid: float = 0.0,
) -> list[Row]:
    """Rows of `CHOICES`, one per persona, wording and dilemma: p_high = P(high) / P(valid) by order, and the mean.

    If one order could not be read, means are null and the other order's numbers are kept. A choice with a mean P_valid
    below `least_p_valid` has the status `low_p_valid`.

    Raises:
        MissingData: a trial has no reading, or a dilemma was not asked in both orders.
    """
    axes = {scenario.id: scenario.axis for scenario in scenarios}
    by_trial = {reading.trial_id: reading for reading in readings}
    trials_by_choice: dict[tuple[str | None, int, str], dict[str, Trial]] = {}
    for trial in trials:
        if trial.trial_id not in by_trial:
            raise MissingData(f"{model}: no reading of {trial.trial_id}; read the trials again")
        trials_by_choice.setdefault((trial.condition, trial.wording, trial.question_id), {})[trial.order] = trial
    rows = []
    for (condition, wording, scenario_id), orders in trials_by_choice.items():
        if missing := [order for order in ORDERS if order not in orders]:
            raise MissingData(f"{model}: {scenario_id} was not asked {missing[0]}; write the trials again")
        label = {"model_id": model_id, "model": model, "culture": culture_of(condition), "scenario_id": scenario_id}
        label |= {"axis": axes[scenario_id], "wording": wording}
        by_order = {order: (orders[order], by_trial[orders[order].trial_id]) for order in ORDERS}
        rows.append(label | _choice(by_order, least_p_valid))
    return rows


def _choice(by_order: Mapping[str, tuple[Trial, Reading]], least_p_valid: float) -> Row:
    """The numbers of one choice from its trial and reading in each order."""
    p_high = {order: _p_high(trial, reading) for order, (trial, reading) in by_order.items()}
    p_valid = {order: reading.p_valid for order, (_, reading) in by_order.items()}
    p_first = [
        p if p is None or trial.values[0] == IS_HIGH else 1 - p
        for p, (trial, _) in zip(p_high.values(), by_order.values(), strict=True)
    ]
    mean, mean_first = _mean(p_high.values()), _mean(p_first)
    most_valid = _mean(
        reading.p_valid if reading.p_valid_high is None else reading.p_valid_high for _, reading in by_order.values()
    )
    is_bounded = any(reading.label_probs_high is not None for _, reading in by_order.values())
    return {
        **{f"p_high_{order}": p_high[order] for order in ORDERS},
        "p_high": mean,
        **_log_odds(by_order.values()),
        **{f"p_valid_{order}": p_valid[order] for order in ORDERS},
        "p_valid": _mean(p_valid.values()),
        "position_bias": None if mean_first is None else mean_first - 0.5,
        "lean": None if mean is None else 2 * mean - 1,
        "channel": TOP if is_bounded else EXACT,
        **_status(by_order.values(), most_valid, least_p_valid),
    }


def _log_odds(pairs: Iterable[tuple[Trial, Reading]]) -> Row:
    """p_high by the mean log odds of both orders, the pull of the first option, and what the preference follows.

    All are empty if an order was not read, log odds also if an option has no probability.
    """
    nothing: Row = dict.fromkeys(("p_high_log_odds", "position_pull", "follows"))
    probs_by_place: dict[int, tuple[float, float]] = {}
    for trial, reading in pairs:
        if reading.label_probs is None or not reading.p_valid:
            return nothing
        place = trial.values.index(IS_HIGH)
        probs_by_place[place] = reading.label_probs[place], reading.label_probs[1 - place]
    if len(probs_by_place) < len(ORDERS):
        return nothing
    prefers = [high > low for high, low in probs_by_place.values()]
    row = nothing | {"follows": BY_OPTION if prefers[0] == prefers[1] else BY_POSITION}
    if not all(map(all, probs_by_place.values())):
        return row
    first, last = (log(high) - log(low) for high, low in (probs_by_place[0], probs_by_place[1]))
    return row | {"p_high_log_odds": 1 / (1 + exp(-(first + last) / 2)), "position_pull": (first - last) / 2}


def _p_high(trial: Trial, reading: Reading) -> float | None:
    if reading.label_probs is None or not reading.p_valid:
        return None
    return reading.label_probs[trial.values.index(IS_HIGH)] / sum(reading.label_probs)


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean; None if one value is missing, since a single order is biased."""
    numbers = list(values)
    present = [number for number in numbers if number is not None]
    return sum(present) / len(present) if len(present) == len(numbers) else None


def _status(pairs: Iterable[tuple[Trial, Reading]], p_valid: float | None, least_p_valid: float) -> Row:
    """Status and reason of the first order without a number; else whether the answer is an option at all."""
    for trial, reading in pairs:
        if _p_high(trial, reading) is None:
            status = Status.UNRESOLVED if reading.status is Status.OK else reading.status
            reason = f"{trial.trial_id}: {reading.reason or 'no probability on any option'}"
            return {"status": str(status), "reason": reason}
    if p_valid is not None and p_valid < least_p_valid:
        reason = f"P_valid is {p_valid:.2g}, {least_p_valid:g} is asked for: it answers something else than an option"
        return {"status": LOW_P_VALID, "reason": reason}
    return {"status": str(Status.OK), "reason": None}
