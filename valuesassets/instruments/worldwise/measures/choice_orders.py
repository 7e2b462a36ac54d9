"""Whether a model's choices follow the options or their positions, over all dilemmas."""

from typing import Any

import pandas as pd
from scipy.special import logit

from valuesassets.answers.order_quality import Wording, describe_orders
from valuesassets.instruments.worldwise.answers.choices import LOW_P_VALID
from valuesassets.measure.order_agreement import order_agreement
from valuesassets.records.frames import column, rows
from valuesassets.records.settings.measuring import Thresholds

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

    Args:
        choices: rows of `CHOICES` of one model, all conditions together.
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
