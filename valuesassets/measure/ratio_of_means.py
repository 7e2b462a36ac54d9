"""Ratios of two means over the same things, with Fieller's intervals."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from valuesassets.measure.means import Array
from valuesassets.measure.resampling import ROUNDING

FEWEST = 12
"""Things below which a ratio has no interval. Where a third of all things are of another kind, (2/3)^n of samples have
none of these and no interval of them can hold the truth: 9 % of six things, 0.8 % of twelve."""


@dataclass(frozen=True)
class Ratio:
    """mean(over) / mean(under) with the ends of its interval.

    Attributes:
        value: NaN where the lower mean is not above 0.
        low, high: NaN where there is no interval.
        lack: why there is none, in words; None where there is one.
    """

    value: float
    low: float = np.nan
    high: float = np.nan
    lack: str | None = None


def ratio_of_means(over: Array, under: Array, level: float = 0.95, things: str = "questions") -> Ratio:
    """The ratio of two means, and the ratios r for which a t test of mean(over - r under) = 0 does not reject.

    A mean of ratios would give a thing whose denominator is near 0 all the weight. The interval leaves out 0 exactly
    where the t test of the numerator rejects at the same level; over ones it is the t interval of a mean. It is exact
    where over - r under is normal; skewed numerators cost some coverage (`make simulations`, ratios). Studentised
    resamples of the ratio are not: of six things of two kinds they contradict the numerator's test, and where the
    denominator is small they held .87 of ratios.

    Args:
        over, under: (n,) of each thing, no gaps.
        things: what they are, in the plural.

    Returns:
        No ends of fewer than `FEWEST` things; of things that all have the same ratio, which say nothing of others; nor
        where the denominator is not told from 0, since the interval would then have no end.

    Source: Fieller (1954), Some Problems in Interval Estimation, J. R. Stat. Soc. B 16(2), 175-185.

    >>> ratio_of_means(np.array([1.0, 3.0] * 6), np.full(12, 2.0))
    Ratio(value=1.0, low=0.668..., high=1.331..., lack=None)
    """
    n, top, bottom = over.size, float(over.mean()), float(under.mean())
    if not bottom > 0:
        return Ratio(np.nan, lack="the denominator is not above 0")
    value = top / bottom
    if n < FEWEST:
        return Ratio(value, lack=f"{n} {things} are too few, {FEWEST} are needed")
    rest = over - value * under
    if np.abs(rest).max() <= ROUNDING * max(np.abs(over).max(), abs(value) * np.abs(under).max()):
        return Ratio(value, lack=f"all {things} have the same ratio, which does not tell how others would differ")
    # roots of (top - r bottom)^2 = reach^2 var(over - r under), r = value + step
    reach = stats.t.ppf((1 + level) / 2, n - 1) ** 2 / n
    covariance = np.cov(rest, under)
    square = bottom**2 - reach * covariance[1, 1]
    if not square > 0:
        return Ratio(
            value, lack=f"over these {things} the denominator is not told from 0, so that it would have no end"
        )
    middle = -reach * covariance[0, 1] / square
    width = np.sqrt(middle**2 + reach * covariance[0, 0] / square)
    return Ratio(value, float(value + middle - width), float(value + middle + width))


def zero_mean_p(values: Array) -> float:
    """Two-sided p-value of the t test that a mean is 0: at most 1 - level exactly where `ratio_of_means` leaves out 0.

    Args:
        values: (n,) numerators, no gaps.

    Returns:
        NaN of fewer than two values; 1 where all are 0.

    >>> round(zero_mean_p(np.array([1.0, 2.0, 3.0])), 4)
    0.0742
    """
    n = values.size
    if n < 2:
        return np.nan
    mean, error = float(values.mean()), float(values.std(ddof=1)) / np.sqrt(n)
    if error <= ROUNDING * np.abs(values).max():
        return float(not np.abs(values).max() > ROUNDING)
    return float(2 * stats.t.sf(abs(mean) / error, n - 1))
