"""`worldwise/demand_choices`: choices of personas that are told to hold the values typical of their country."""

from collections.abc import Iterable, Sequence
from typing import Any

from valuesassets.instruments.worldwise.answers.choices import derive_choices
from valuesassets.instruments.worldwise.material.scenarios import Scenario
from valuesassets.instruments.worldwise.trials.trials import is_demand
from valuesassets.records.trials import Reading, Trial


def derive_demand_choices(
    scenarios: Sequence[Scenario],
    trials: Iterable[Trial],
    readings: Iterable[Reading],
    model_id: str,
    model: str,
    least_p_valid: float = 0.0,
) -> list[dict[str, Any]]:
    """Rows of `derive_choices`, of the trials with `demand` alone."""
    demanded = [trial for trial in trials if is_demand(trial.condition)]
    return derive_choices(scenarios, demanded, readings, model_id, model, least_p_valid)
