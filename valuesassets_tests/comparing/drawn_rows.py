"""Usable answers of which some are shares of draws, for tests of what analyses make of them."""

import numpy as np
import pandas as pd

from valuesassets.answers import drawn_columns
from valuesassets.answers.drawn_columns import COUNTS
from valuesassets.measure.drawn_answers import mean_variance_of
from valuesassets.measure.drawn_distances import cramer_noise_of, half_squares_noise_of
from valuesassets.records.questions import ResponseType

KEYS = ["model", "language", "question_id"]
SIDES = ("forward", "reversed")


def drawn_rows(answers, n, models, seed=0):
    """The rows with `n` draws of each answer in each order, for these families; exact for all others."""
    random, parts = np.random.default_rng(seed), []
    for (model, *_), part in answers.groupby([*KEYS, *(["wording"] * ("wording" in answers))], sort=False):
        exact = dict.fromkeys(COUNTS, 0) | {"draw_noise": np.nan, "cramer_noise": np.nan}
        parts.append(_drawn(part.copy(), n, random) if model in models else part.assign(**exact))
    return pd.concat(parts)


def _drawn(part, n, random):
    sides = part[[f"prob_{side}" for side in SIDES]].to_numpy().T
    shares = np.array([random.multinomial(n, side / side.sum() * (1 - 1e-12)) for side in sides]) / n
    part[[f"prob_{side}" for side in SIDES]], part["prob"] = shares.T, shares.mean(axis=0)
    places = part["analysis_value" if "analysis_value" in part else "response_value"].to_numpy(float)
    order = np.argsort(places)
    unit, sorted_shares = (places[order] - places.min()) / np.ptp(places), shares[:, order]
    is_ordinal = ResponseType(part["response_type"].iloc[0]).is_ordinal
    noise = cramer_noise_of(sorted_shares, n, unit) if is_ordinal else half_squares_noise_of(shares, n)
    of_mean = mean_variance_of(sorted_shares, n, unit).sum() / 4 if is_ordinal else np.nan
    counts = {"n_drawn": 2 * n, "n_read": 2 * n, "n_read_forward": n, "n_read_reversed": n}
    assert set(counts) == set(drawn_columns.COUNTS)
    return part.assign(**counts, draw_noise=of_mean, cramer_noise=noise.sum() / 4)
