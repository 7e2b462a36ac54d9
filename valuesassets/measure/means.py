"""Means of values with gaps, weighted ones too, and how they vary between samples of the same people."""

import numpy as np
from numpy.typing import ArrayLike

from valuesassets.measure.arrays import Array

AT_ONCE = 500_000
"""Counts of respondents held in memory at a time."""


def mean_of_known(values: Array, axis: int = -1) -> Array:
    """Means over an axis without what is missing; NaN where nothing is known.

    >>> mean_of_known(np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]])).tolist()
    [2.0, nan]
    """
    known = np.isfinite(values)
    n = known.sum(axis=axis)
    total = np.where(known, values, 0).sum(axis=axis)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)[()]


def weighted_means(values: ArrayLike, weights: ArrayLike) -> Array:
    """(I,) mean of each column over the rows that have it; nan where none has.

    Args:
        values: (n, I), nan for a missing answer.
        weights: (n,) not negative.

    >>> weighted_means([[1.0, np.nan], [2.0, np.nan]], [3.0, 1.0]).tolist()
    [1.25, nan]
    """
    return _ratio(np.ones((1, len(np.asarray(weights)))), *_parts(values, weights))[0]


def resampled_weighted_means(values: ArrayLike, weights: ArrayLike, draws: int, random: np.random.Generator) -> Array:
    """(draws, I) the same means over as many rows drawn with replacement, each row with its weight and its gaps.

    Rows stay whole, so that what a respondent's answers have in common stays in; nan where no row drawn has an answer.

    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 6.
    """
    weighted, there = _parts(values, weights)
    n = len(weighted)
    step = max(1, AT_ONCE // n)
    found = []
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        picks = random.integers(0, n, size=(rows, n)) + n * np.arange(rows)[:, None]
        counts = np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n).astype(float)
        found.append(_ratio(counts, weighted, there))
    return np.concatenate(found)


def _parts(values: ArrayLike, weights: ArrayLike) -> tuple[Array, Array]:
    x, w = np.asarray(values, dtype=float), np.asarray(weights, dtype=float)[:, None]
    is_there = np.isfinite(x)
    return np.where(is_there, x, 0.0) * w, is_there * w


def _ratio(counts: Array, weighted: Array, there: Array) -> Array:
    both = counts @ np.hstack([weighted, there])
    above, below = np.split(both, 2, axis=1)
    return np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
