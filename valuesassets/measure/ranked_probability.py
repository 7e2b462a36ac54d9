"""Ranked probability scores of answers, and squared distances between groups' answers, corrected for sampling."""

import numpy as np

from valuesassets.measure.arrays import Array
from valuesassets.measure.between_groups import GroupMeans


def answers_at_most(answers: Array, n_answers: int) -> Array:
    """(n, K-1) step functions of answers 0 to K - 1: 1 where the answer is at most k = 0 to K - 2; NaN for NaN."""
    steps = (answers[:, None] <= np.arange(n_answers - 1)).astype(float)
    steps[np.isnan(answers)] = np.nan
    return steps


def probability_at_most(probs: Array) -> Array:
    """(..., K-1) distribution functions at all answers but the last, where they are always 1."""
    return np.cumsum(probs, axis=-1)[..., :-1]


def ranked_probability_unit(model: Array, answers: Array) -> Array:
    """(n,) ranked probability scores, from 0 (certain and right) to 1 (certain, and wrong by the whole scale).

    Args:
        model, answers: (n, K-1) distribution functions; those of answers are step functions.

    Source: Epstein (1969), J. Appl. Meteorol. 8(6), 985-987; proper: Gneiting and Raftery (2007), J. Am. Stat. Assoc.
    102(477), section 4.2. Divided by K - 1.

    >>> ranked_probability_unit(np.array([[0.5, 0.5]]), np.array([[1.0, 1.0]])).item()
    0.25
    """
    return np.mean((model - answers) ** 2, axis=-1)


def cramer_unit(means: GroupMeans) -> Array:
    """(G,) unbiased squared Cramer distances between people's and a model's answers by group; can be negative.

    sum over cut points of [(F - M)^2 - v(Y - M, Y - M)] / (K-1). |difference of means| <= W1 <= square root of the
    quantity that is estimated. NaN in groups of fewer than two people.

    Args:
        means: group means of distribution functions at the K - 1 cut points; the sides are people and the model.

    Source: Szekely and Rizzo (2013), J. Stat. Plan. Inference 143(8), 1249-1272 (half the squared energy distance).
    """
    squares = np.sum((means.a - means.b) ** 2, axis=1) - means.noise_of_difference
    return squares / means.a.shape[1]


def w1_unit(means: GroupMeans) -> Array:
    """(G,) Wasserstein-1 distances between both sides' answers in each group, in scale units.

    Args:
        means: group means of distribution functions at the K - 1 cut points.
    """
    return np.abs(means.a - means.b).mean(axis=1)
