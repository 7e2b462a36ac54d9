"""Ranked probability scores of answers, distances between groups' answers, and their noise floors.

A noise floor is the expected distance between a perfect model and the answers of a small sample of people.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

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


def w1_floor_unit(truth: Array, effective_n: ArrayLike, decoded: Array | None = None, n: ArrayLike = 1) -> Array:
    """(...) expected Wasserstein-1 distance, in scale units, between a sample of people and a perfect model of them.

    It is the mean over cut points of each share's mean absolute error, from the exact binomial distribution. A model
    that drew one rating per person has a sampling error too: then the error is that of a normal variable,
    sqrt(2 s / pi) with s = F(1 - F)/effective_n + M(1 - M)/n.

    Args:
        truth: (..., K-1) people's distribution functions, estimated as well as possible.
        effective_n: (...) people, after weighting.
        decoded: (..., K-1) distribution functions of a model whose ratings were sampled one by one.
        n: (...) number of sampled ratings.

    Source: de Moivre's mean deviation of a binomial variable: Diaconis and Zabell (1991), Statistical Science 6(3),
    284-302.

    >>> w1_floor_unit(np.array([0.5]), 25).round(4).item()
    0.0806
    """
    size = np.asarray(effective_n, dtype=float)[..., None]
    if decoded is None:
        return share_error(truth, size).mean(axis=-1)
    spread = truth * (1 - truth) / size + decoded * (1 - decoded) / np.asarray(n, dtype=float)[..., None]
    return np.sqrt(2 * np.maximum(spread, 0) / np.pi).mean(axis=-1)


def share_error(truth: Array, n: Array) -> Array:
    """(...) mean absolute error of a share among n people; n that is not an integer is interpolated.

    For one person it is 2 p (1 - p):

    >>> share_error(np.array([0.3]), np.array([1.0])).round(2).item()
    0.42
    """
    p = np.clip(truth, 0, 1)
    below = np.maximum(np.floor(n), 1)
    fraction = np.clip(n - below, 0, 1)
    ends = [np.sqrt(whole) * _mean_absolute_error(p, whole) for whole in (below, below + 1)]
    return ((1 - fraction) * ends[0] + fraction * ends[1]) / np.sqrt(n)


def _mean_absolute_error(p: Array, n: Array) -> Array:
    """E|X/n - p| for X binomial (n, p): 2 k (1 - p) P(X = k)/n with k the smallest integer above n p."""
    k = np.floor(n * p) + 1
    return 2 * k * (1 - p) * stats.binom.pmf(k, n, p) / n
