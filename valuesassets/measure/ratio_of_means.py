"""Ratios of two means over the same things, with intervals that invert a test of their numerator, as Fieller's do."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from valuesassets.measure.arrays import Array
from valuesassets.measure.resampling import ROUNDING
from valuesassets.measure.skewed_means import lesser_t

FEWEST = 20
"""Things below which a ratio has no interval. Where a third of all things are of another kind, (2/3)^n of samples have
none of these and no interval of them can hold the truth: 9 % of six things, 0.8 % of twelve. And where numerators have
an exponential tail, intervals of twelve things hold the truth in .92 of samples, of twenty in .95."""
FARTHEST = 30
"""How often the reach of an interval is doubled to find its end."""


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
    """The ratio of two means, and the ratios r for which a test that the mean of over - r under is 0 does not reject.

    A mean of ratios would give a thing whose denominator is near 0 all the weight. The test is by t and by t with its
    skewness taken off, and rejects where both do (`lesser_t`); by t alone the interval would be Fieller's. It leaves
    out 0 exactly where `zero_mean_p` of the numerators rejects at the same level. Studentised resamples of the ratio
    do not: of six things of two kinds they contradict the numerator's test, and where the denominator is small they
    held .87 of ratios.

    Args:
        over, under: (n,) of each thing, no gaps.
        things: what they are, in the plural.

    Returns:
        No ends of fewer than `FEWEST` things; of things that all have the same ratio, which say nothing of others; nor
        where the denominator is not told from 0, since the interval would then have no end.

    Source: Fieller (1954), Some Problems in Interval Estimation, J. R. Stat. Soc. B 16(2), 175-185; Hall (1992), J. R.
    Stat. Soc. B 54(1), 221-228.

    >>> ratio_of_means(np.array([1.0, 3.0] * 10), np.full(20, 2.0))
    Ratio(value=1.0, low=0.759..., high=1.240..., lack=None)
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
    without_end = f"over these {things} the denominator is not told from 0, so that it would have no end"
    # roots of (top - r bottom)^2 = reach^2 var(over - r under), r = value + step
    quantile = float(stats.t.ppf((1 + level) / 2, n - 1))
    reach = quantile**2 / n
    covariance = np.cov(rest, under)
    square = bottom**2 - reach * covariance[1, 1]
    if not square > 0:
        return Ratio(value, lack=without_end)
    middle = -reach * covariance[0, 1] / square
    width = np.sqrt(middle**2 + reach * covariance[0, 0] / square)
    ends = [_end(over, under, value, float(value + middle + way * width), quantile) for way in (-1, 1)]
    low, high = ends
    return Ratio(value, lack=without_end) if low is None or high is None else Ratio(value, low, high)


def _end(over: Array, under: Array, value: float, start: float, quantile: float) -> float | None:
    """Where the test of over - r under begins to reject, from Fieller's end on; None where it never does."""

    def beyond(ratio: float) -> float:
        return lesser_t(over - ratio * under) - quantile

    if beyond(start) >= 0:
        return start
    near, step = start, start - value
    for _ in range(FARTHEST):
        far = near + step
        if beyond(far) >= 0:
            return float(brentq(beyond, near, far))  # type: ignore[arg-type]
        near, step = far, 2 * step
    return None


def zero_mean_p(values: Array) -> float:
    """Two-sided p-value that a mean is 0: at most 1 - level exactly where `ratio_of_means` leaves out 0.

    Of fewer than `FEWEST` values, which have no interval and tell little of their skewness, it is that of t alone.

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
    if float(values.std(ddof=1)) / np.sqrt(n) <= ROUNDING * np.abs(values).max():
        return float(not np.abs(values).max() > ROUNDING)
    if n < FEWEST:
        found: Any = stats.ttest_1samp(values, 0)
        return float(found.pvalue)
    return min(1.0, float(2 * stats.t.sf(lesser_t(values), n - 1)))
