"""What is looked at before a model's ratings are believed: how many are missing, and whether groups leak into them."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Probe, Rated
from valuesassets.measure.between_groups import sums_by
from valuesassets.measure.seeding import seeded

MOST_UNUSABLE = 0.02
"""Share of a file's ratings that may be missing or off the scale."""
LEAST_P = 0.01
"""Ratings without attributes whose p-value is at most this depend on the group."""
MOST_PEOPLE = 500
"""People of a question that the permutations look at: more of them would find nothing that these do not."""


def check_usable(probe: Probe) -> pd.DataFrame:
    """How many ratings are missing or off the scale, by model and with or without attributes.

    Columns `model, attributes (with|without), n, n_missing, n_out_of_scale, share, passes`.
    """
    rows = []
    for side in ("with", "without"):
        for name in dict.fromkeys(name for asked in probe.questions for name in _side(asked, side)):
            found = [rated for asked in probe.questions if (rated := _side(asked, side).get(name))]
            n, n_missing, n_off = (
                sum(each) for each in zip(*((len(r.probs), r.n_missing, r.n_off_scale) for r in found), strict=True)
            )
            share = (n_missing + n_off) / n
            row = {"model": name, "attributes": side, "n": n, "n_missing": n_missing, "n_out_of_scale": n_off}
            rows.append(row | {"share": share, "passes": share < MOST_UNUSABLE})
    columns = ["model", "attributes", "n", "n_missing", "n_out_of_scale", "share", "passes"]
    return pd.DataFrame(rows, columns=pd.Index(columns))


def check_independent_of_groups(probe: Probe, draws: int = 999, seed: int = 0) -> pd.DataFrame:
    """Whether ratings that were asked for without attributes are independent of the group of whom they stand for.

    The share of variance between groups, pooled over questions (each question's ratings to unit variance), against
    permutations of the ratings over people within a question. One answer for all cannot depend on anything: p is 1.

    Columns `model, share_between, p_value, n_draws, passes`.
    """
    names = dict.fromkeys(name for asked in probe.questions for name in asked.without)
    rows = []
    for name in names:
        share, p_value = _independence(probe, name, draws, seed)
        row = {"model": name, "share_between": share, "p_value": p_value, "n_draws": draws}
        rows.append(row | {"passes": p_value > LEAST_P})
    return pd.DataFrame(rows, columns=pd.Index(["model", "share_between", "p_value", "n_draws", "passes"]))


def _independence(probe: Probe, name: str, draws: int, seed: int) -> tuple[float, float]:
    total, weight = np.zeros(draws + 1), 0
    for asked in probe.questions:
        if name not in asked.without:
            continue
        random = seeded(seed, "independence", name, asked.question.id)
        groups, ratings = _ratings_of(asked, asked.without[name], random)
        if ratings.size < 2 or not ratings.std() > 1e-9:
            continue
        z = (ratings - ratings.mean()) / ratings.std()
        orders = np.argsort(random.random((draws, z.size)), axis=1)
        drawn = np.concatenate([z[None], z[orders]])  # the ratings as they are come first
        n_groups = int(groups.max()) + 1
        sizes = np.bincount(groups, minlength=n_groups)
        sums = sums_by(groups, n_groups, drawn.T)  # (G, 1 + draws)
        there = sizes > 0
        total += np.sum(sums[there] ** 2 / sizes[there, None], axis=0)
        weight += z.size
    if not weight:
        return 0.0, 1.0
    by_chance = float(total[1:].mean()) if draws else 0.0  # of 46 groups of 5, chance alone has a fifth of the variance
    share = (float(total[0]) - by_chance) / (weight - by_chance)
    return share, float(np.mean(total >= total[0] - 1e-9))


def _ratings_of(asked: AskedQuestion, rated: Rated, random: np.random.Generator) -> tuple[np.ndarray, Floats]:
    """Groups and expected ratings of the people of one question who have one, a sample of them where they are many."""
    known = np.flatnonzero(np.isfinite(rated.probs[:, 0]))
    if known.size > MOST_PEOPLE:
        known = np.sort(random.permutation(known)[:MOST_PEOPLE])
    return asked.groups[known], rated.probs[known] @ np.arange(rated.probs.shape[1], dtype=float)


def _side(asked: AskedQuestion, side: str) -> Mapping[str, Rated]:
    return asked.with_attributes if side == "with" else asked.without
