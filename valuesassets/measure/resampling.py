"""Intervals and p-values by resampling. Every draw comes from a seed that the caller names."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from valuesassets.records.errors import MissingData


@dataclass(frozen=True)
class Interval:
    """An estimate with the two ends of its interval."""

    estimate: float
    low: float
    high: float
    level: float
    source_of_variation: str
    """What was resampled: items, respondents, orders, languages."""


def bootstrap_interval(
    sample: ArrayLike,
    seed: int,
    source_of_variation: str,
    statistic: Callable[[NDArray[np.float64]], float] = lambda drawn: float(drawn.mean()),
    level: float = 0.95,
    draws: int = 1000,
) -> Interval:
    """Percentile bootstrap interval of a statistic of `sample`.

    Args:
        sample: (n,) or (n, columns), n >= 2; rows are drawn with replacement.
        level: coverage aimed at, in (0, 1).

    Raises:
        MissingData: fewer than two rows: nothing varies, so there is no interval.

    Source: Efron and Tibshirani (1993), An Introduction to the Bootstrap, section 13.3.
    """
    rows = np.asarray(sample, dtype=float)
    if rows.shape[0] < 2:
        raise MissingData(f"an interval over {source_of_variation} needs two or more of them, found {rows.shape[0]}")
    random = np.random.default_rng(seed)
    picks = random.integers(0, rows.shape[0], size=(draws, rows.shape[0]))
    drawn = np.array([statistic(rows[pick]) for pick in picks])
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(statistic(rows)), float(low), float(high), level, source_of_variation)


def permutation_p(observed: float, permuted: ArrayLike) -> float:
    """One-sided p-value (1 + count) / (1 + B): how often chance gives at least what was observed. Never 0.

    Args:
        permuted: (B,) the statistic under permuted labels, B >= 1.

    Raises:
        MissingData: no permutation at all.

    Source: Phipson and Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9(1), 39.

    >>> permutation_p(2.0, [0.0, 1.0, 2.0])
    0.5
    """
    chance = np.asarray(permuted, dtype=float)
    if chance.size == 0:
        raise MissingData("a permutation p-value needs at least one permutation")
    return float((1 + np.count_nonzero(chance >= observed)) / (1 + chance.size))


def sign_test_p(differences: ArrayLike) -> float:
    """Two-sided p-value that positive and negative differences are equally likely; zeros are left out.

    Raises:
        MissingData: no difference other than zero.
    """
    values = np.asarray(differences, dtype=float)
    positive, negative = int(np.count_nonzero(values > 0)), int(np.count_nonzero(values < 0))
    if positive + negative == 0:
        raise MissingData("a sign test needs a difference other than zero")
    return float(stats.binomtest(positive, positive + negative, 0.5).pvalue)
