"""Whether a model's ratings follow the answers or the places at which they stand, over all its prompts."""

from dataclasses import replace
from typing import Any

import pandas as pd

from valuesassets.answers.order_quality import Wording, describe_orders
from valuesassets.instruments.worldvaluesbench.answers.ratings_files import Distributions, Scores
from valuesassets.instruments.worldvaluesbench.tables import RATING_ORDERS
from valuesassets.measure.order_agreement import order_agreement
from valuesassets.records.frames import column
from valuesassets.records.settings.measuring import Thresholds

WORDS = Wording(
    verb="rates",
    things="ratings",
    changes="have another most probable answer once the scale is turned round",
    instead="read them with care",
    items="questions",
)
NOT_TOLD = "its file has no prob_forward and prob_reversed, so that nobody can tell whether its ratings follow position"


def rating_orders(model: str, given: Scores | Distributions, rules: Thresholds) -> dict[str, Any]:
    """A row of `RATING_ORDERS`: what a model's ratings follow, of all prompts of its file, and how often any answer is
    given at all.

    Compared are expected ratings: how prompts differ in one order and in the other. Questions are what agreement is
    over, since backgrounds in one question are no independent answers.
    """
    prompts = given.prompts if isinstance(given, Distributions) else pd.DataFrame()
    if not len(prompts):
        return dict.fromkeys(RATING_ORDERS.names) | {"model": model, "n_prompts": 0, "reason": f"{model}: {NOT_TOLD}"}
    low_end_first, low_end_last = (1 - column(prompts, name).to_numpy(float) for name in ("forward", "reversed"))
    found = order_agreement(low_end_first, low_end_last, list(prompts["question_id"]), centre=None)
    found = replace(found, changed=float(prompts["is_changed"].astype(bool).mean()))
    return {
        "model": model,
        "n_prompts": len(prompts),
        "n_low_p_valid": given.n_low_p_valid if isinstance(given, Distributions) else 0,
        "n_questions": found.n_items,
        "pull_unit": found.pull,
        **describe_orders(model, found, column(prompts, "p_valid").to_numpy(float), rules, WORDS),
    }
