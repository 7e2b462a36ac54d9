"""Checks of a model's ratings: missing ones, dependence on groups without attributes, and agreement of orders."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.answers.order_quality import Wording, describe_orders
from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Probe, Rated
from valuesassets.instruments.worldvaluesbench.answers.ratings_files import Distributions, Scores
from valuesassets.instruments.worldvaluesbench.tables import RATING_ORDERS
from valuesassets.measure.between_groups import sums_by
from valuesassets.measure.order_agreement import order_agreement
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import column
from valuesassets.records.settings.measuring import Thresholds

MOST_UNUSABLE = 0.02
"""The largest share of a file's ratings that may be missing or off the scale."""
LEAST_P = 0.01
"""The largest p-value at which ratings without attributes depend on the group."""
MOST_PEOPLE = 500
"""The most people of a question in permutations, which are enough for the test."""


def check_usable(probe: Probe) -> pd.DataFrame:
    """Numbers of missing ratings and of ratings off the scale, by model and with or without attributes.

    Columns `model, attributes (with|without), n, n_missing, n_out_of_scale, share, passes`.
    """
    rows = []
    for side, attribute in (("with", "with_attributes"), ("without", "without")):
        models: list[Mapping[str, Rated]] = [getattr(item, attribute) for item in probe.questions]
        for name in dict.fromkeys(name for by_model in models for name in by_model):
            ratings = [by_model[name] for by_model in models if name in by_model]
            n, n_missing, n_off = counts_of(ratings)
            share = (n_missing + n_off) / n
            row = {"model": name, "attributes": side, "n": n, "n_missing": n_missing, "n_out_of_scale": n_off}
            rows.append(row | {"share": share, "passes": share < MOST_UNUSABLE})
    names = ["model", "attributes", "n", "n_missing", "n_out_of_scale", "share", "passes"]
    return pd.DataFrame(rows, columns=pd.Index(names))


def check_independent_of_groups(probe: Probe, draws: int = 999, seed: int = 0) -> pd.DataFrame:
    """Whether ratings without attributes are independent of the person's group.

    The test statistic is the share of variance between groups over all questions, with unit variance in each, and its
    permutations exchange ratings of people within a question. With one answer for everybody p is 1.

    Columns `model, share_between, p_value, n_draws, passes`.
    """
    rows = []
    for name in dict.fromkeys(name for item in probe.questions for name in item.without):
        share, p_value = _independence(probe, name, draws, seed)
        row = {"model": name, "share_between": share, "p_value": p_value, "n_draws": draws}
        rows.append(row | {"passes": p_value > LEAST_P})
    return pd.DataFrame(rows, columns=pd.Index(["model", "share_between", "p_value", "n_draws", "passes"]))


def _independence(probe: Probe, name: str, draws: int, seed: int) -> tuple[float, float]:
    total, weight = np.zeros(draws + 1), 0
    for item in probe.questions:
        if name not in item.without:
            continue
        random = seeded(seed, "independence", name, item.question.id)
        groups, ratings = _ratings_of(item, item.without[name], random)
        if ratings.size < 2 or not ratings.std() > 1e-9:
            continue
        z = (ratings - ratings.mean()) / ratings.std()
        orders = np.argsort(random.random((draws, z.size)), axis=1)
        drawn = np.concatenate([z[None], z[orders]])  # the actual ratings come first
        n_groups = int(groups.max()) + 1
        sizes = np.bincount(groups, minlength=n_groups)
        sums = sums_by(groups, n_groups, drawn.T)  # (G, 1 + draws)
        is_present = sizes > 0
        total += np.sum(sums[is_present] ** 2 / sizes[is_present, None], axis=0)
        weight += z.size
    if not weight:
        return 0.0, 1.0
    by_chance = float(total[1:].mean()) if draws else 0.0  # with 46 groups of 5, chance has a fifth of the variance
    share = (float(total[0]) - by_chance) / (weight - by_chance)
    return share, float(np.mean(total >= total[0] - 1e-9))


def _ratings_of(item: AskedQuestion, rated: Rated, random: np.random.Generator) -> tuple[np.ndarray, Floats]:
    """Groups and expected ratings of people with a rating of one question, or of a sample of them if they are many."""
    places = np.flatnonzero(np.isfinite(rated.probs[:, 0]))
    if places.size > MOST_PEOPLE:
        places = np.sort(random.permutation(places)[:MOST_PEOPLE])
    return item.groups[places], rated.probs[places] @ np.arange(rated.probs.shape[1], dtype=float)


def counts_of(ratings: Collection[Rated]) -> list[int]:
    """Numbers of ratings, of missing ones, and of those off the scale."""
    return [sum(counts) for counts in zip(*((len(r.probs), r.n_missing, r.n_off_scale) for r in ratings), strict=True)]


WORDS = Wording(
    verb="rates",
    things="ratings",
    changes="have another most probable answer once the scale is turned round",
    instead="read them with care",
    items="questions",
)
NO_ORDERS = (
    "its file has no prob_forward and prob_reversed, so that nobody can tell whether its ratings follow position"
)


def rating_orders(model: str, ratings: Scores | Distributions, rules: Thresholds) -> dict[str, Any]:
    """A row of `RATING_ORDERS`: agreement of a model's expected ratings between orders, and P_valid, of all prompts.

    Agreement is over questions, because answers to one question for several backgrounds are not independent.
    """
    prompts = ratings.prompts if isinstance(ratings, Distributions) else pd.DataFrame()
    if not len(prompts):
        return dict.fromkeys(RATING_ORDERS.names) | {"model": model, "n_prompts": 0, "reason": f"{model}: {NO_ORDERS}"}
    low_end_first, low_end_last = (1 - column(prompts, name).to_numpy(float) for name in ("forward", "reversed"))
    agreement = order_agreement(low_end_first, low_end_last, list(prompts["question_id"]), centre=None)
    agreement = replace(agreement, changed=float(prompts["is_changed"].astype(bool).mean()))
    return {
        "model": model,
        "n_prompts": len(prompts),
        "n_low_p_valid": ratings.n_low_p_valid if isinstance(ratings, Distributions) else 0,
        "n_questions": agreement.n_items,
        "pull_unit": agreement.pull,
        **describe_orders(model, agreement, column(prompts, "p_valid").to_numpy(float), rules, WORDS),
    }
