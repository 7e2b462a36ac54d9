"""`worldwise/choices`: readings of dilemmas as probabilities of the high pole, and what stands beside them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from valuesassets.instruments.worldwise.dimensions import ORDERS
from valuesassets.instruments.worldwise.scenarios import Scenario
from valuesassets.instruments.worldwise.trials import IS_HIGH, culture_of
from valuesassets.records.errors import MissingData
from valuesassets.records.trials import Reading, Status, Trial

Row = dict[str, Any]
EXACT, TOP = "exact", "top"
"""Channels: all probabilities are known, or bounds of them."""


def derive_choices(
    scenarios: Sequence[Scenario], trials: Iterable[Trial], readings: Iterable[Reading], model_id: str, model: str
) -> list[Row]:
    """Rows of `CHOICES`, a row per persona, wording and dilemma: p_high = P(high) / P(valid) by order, and their mean.

    Where one order could not be read the other's numbers stand, and means are null; nothing missing becomes a number.
    Trials with `demand` are asked beside, and have a table of their own.

    Raises:
        MissingData: a trial has no reading, or a dilemma was not asked in both orders.
    """
    axes = {scenario.id: scenario.axis for scenario in scenarios}
    by_trial = {reading.trial_id: reading for reading in readings}
    asked: dict[tuple[str | None, int, str], dict[str, Trial]] = {}
    for trial in trials:
        if trial.trial_id not in by_trial:
            raise MissingData(f"{model}: no reading of {trial.trial_id}; read the trials again")
        asked.setdefault((trial.condition, trial.wording, trial.question_id), {})[trial.order] = trial
    rows = []
    for (condition, wording, scenario_id), orders in asked.items():
        if lacking := [order for order in ORDERS if order not in orders]:
            raise MissingData(f"{model}: {scenario_id} was not asked {lacking[0]}; write the trials again")
        label = {"model_id": model_id, "model": model, "culture": culture_of(condition), "scenario_id": scenario_id}
        label |= {"axis": axes[scenario_id], "wording": wording}
        rows.append(label | _choice({order: (orders[order], by_trial[orders[order].trial_id]) for order in ORDERS}))
    return rows


def _choice(asked: Mapping[str, tuple[Trial, Reading]]) -> Row:
    """The numbers of a dilemma of its trial and reading in each order."""
    p_high = {order: _p_high(trial, reading) for order, (trial, reading) in asked.items()}
    p_valid = {order: reading.p_valid for order, (_, reading) in asked.items()}
    first = [
        p if p is None or trial.values[0] == IS_HIGH else 1 - p
        for p, (trial, _) in zip(p_high.values(), asked.values(), strict=True)
    ]
    mean, mean_first = _mean(p_high.values()), _mean(first)
    is_bounded = any(reading.label_probs_high is not None for _, reading in asked.values())
    return {
        **{f"p_high_{order}": p_high[order] for order in ORDERS},
        "p_high": mean,
        **{f"p_valid_{order}": p_valid[order] for order in ORDERS},
        "p_valid": _mean(p_valid.values()),
        "position_bias": None if mean_first is None else mean_first - 0.5,
        "lean": None if mean is None else 2 * mean - 1,
        "channel": TOP if is_bounded else EXACT,
        **_status(asked.values()),
    }


def _p_high(trial: Trial, reading: Reading) -> float | None:
    if reading.label_probs is None or not reading.p_valid:
        return None
    return reading.label_probs[trial.values.index(IS_HIGH)] / sum(reading.label_probs)


def _mean(found: Iterable[float | None]) -> float | None:
    """The mean of all; None where one is missing, since an order by itself is biased."""
    numbers = list(found)
    known = [number for number in numbers if number is not None]
    return sum(known) / len(known) if len(known) == len(numbers) else None


def _status(asked: Iterable[tuple[Trial, Reading]]) -> Row:
    """Status and reason: those of the first order that gave no number."""
    for trial, reading in asked:
        if _p_high(trial, reading) is None:
            status = Status.UNRESOLVED if reading.status is Status.OK else reading.status
            reason = f"{trial.trial_id}: {reading.reason or 'no probability on any option'}"
            return {"status": str(status), "reason": reason}
    return {"status": str(Status.OK), "reason": None}
