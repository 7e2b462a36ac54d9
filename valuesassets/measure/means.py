"""Means and weighted means of incomplete values, and their bootstrap over respondents."""

import numpy as np
from numpy.typing import ArrayLike

from valuesassets.measure.arrays import Array

AT_ONCE = 500_000
"""Maximum number of respondents' counts in memory at once."""


def mean_of_known(values: Array, axis: int = -1) -> Array:
    """Means over an axis that leave out missing values; NaN where all are missing.

    >>> mean_of_known(np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]])).tolist()
    [2.0, nan]
    """
    is_present = np.isfinite(values)
    n = is_present.sum(axis=axis)
    total = np.where(is_present, values, 0).sum(axis=axis)
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)[()]


def weighted_means(values: ArrayLike, weights: ArrayLike) -> Array:
    """(I,) weighted mean of each column over the rows that have it; NaN where none has.

    Args:
        values: (n, I), NaN for a missing answer.
        weights: (n,) not negative.

    >>> weighted_means([[1.0, np.nan], [2.0, np.nan]], [3.0, 1.0]).tolist()
    [1.25, nan]
    """
    return _ratio(np.ones((1, len(np.asarray(weights)))), *_parts(values, weights))[0]


def resampled_weighted_means(values: ArrayLike, weights: ArrayLike, draws: int, random: np.random.Generator) -> Array:
    """(draws, I) bootstrap of `weighted_means`: rows are drawn with replacement, with their weights and gaps.

    Whole rows are drawn, so that correlations between a respondent's answers are kept; NaN where no drawn row has an
    answer.

    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 6.
    """
    weighted, weights_present = _parts(values, weights)
    n = len(weighted)
    step = max(1, AT_ONCE // n)
    means = []
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        picks = random.integers(0, n, size=(rows, n)) + n * np.arange(rows)[:, None]
        counts = np.bincount(picks.ravel(), minlength=rows * n).reshape(rows, n).astype(float)
        means.append(_ratio(counts, weighted, weights_present))
    return np.concatenate(means)


def _parts(values: ArrayLike, weights: ArrayLike) -> tuple[Array, Array]:
    x, w = np.asarray(values, dtype=float), np.asarray(weights, dtype=float)[:, None]
    is_present = np.isfinite(x)
    return np.where(is_present, x, 0.0) * w, is_present * w


def _ratio(counts: Array, weighted: Array, weights_present: Array) -> Array:
    both = counts @ np.hstack([weighted, weights_present])
    sums, totals = np.split(both, 2, axis=1)
    return np.divide(sums, totals, out=np.full_like(sums, np.nan), where=totals > 0)
