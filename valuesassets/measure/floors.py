"""What a perfect model's distance would be: few people answer, and a sample lies off what it was drawn from."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from valuesassets.measure.arrays import Array


def w1_floor_unit(truth: Array, effective_n: ArrayLike, decoded: Array | None = None, n: ArrayLike = 1) -> Array:
    """(...) expected Wasserstein-1 distance, in scale units, of answers from a perfect model of who gave them.

    The mean over cut points of each share's mean absolute error, exactly as few people make it. A model that gave one
    rating for each person has an error of its own: then it is sqrt(2 s / pi), as of a normal variable, with
    s = F(1 - F)/effective_n + M(1 - M)/n.

    Args:
        truth: (..., K-1) people's distribution functions, as near to the truth as is known.
        effective_n: (...) people, after weighting.
        decoded: (..., K-1) distribution functions of a model whose ratings were drawn one by one.
        n: (...) how many ratings were drawn.

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
    """(...) mean absolute error of a share of n people; of a number that is not whole, between those beside it.

    Of one person it is 2 p (1 - p):

    >>> share_error(np.array([0.3]), np.array([1.0])).round(2).item()
    0.42
    """
    p = np.clip(truth, 0, 1)
    below = np.maximum(np.floor(n), 1)
    part = np.clip(n - below, 0, 1)
    ends = [np.sqrt(whole) * _of_whole(p, whole) for whole in (below, below + 1)]
    return ((1 - part) * ends[0] + part * ends[1]) / np.sqrt(n)


def _of_whole(p: Array, n: Array) -> Array:
    """E|X/n - p| of X of binomial (n, p): 2 k (1 - p) P(X = k)/n with k the least whole number above n p."""
    k = np.floor(n * p) + 1
    return 2 * k * (1 - p) * stats.binom.pmf(k, n, p) / n
