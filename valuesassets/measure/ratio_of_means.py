"""Ratios of two means over the same units, with intervals that invert a test, like Fieller's."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from valuesassets.measure.arrays import Array
from valuesassets.measure.resampling import ROUNDING
from valuesassets.measure.skewed_means import lesser_t

FEWEST = 20
"""Fewest units for an interval. Where a third of the population is of another kind, (2/3)^n of all samples contain none
of it, and their intervals cannot cover the truth: 9 % of samples of six units, 0.8 % of twelve. With exponentially
distributed numerators the coverage of a nominal 95 % interval is .92 for twelve units and .95 for twenty."""
FARTHEST = 30
"""Maximum number of times that the width of an interval is doubled to find its end."""


@dataclass(frozen=True)
class Ratio:
    """mean(over) / mean(under) with the ends of its interval.

    Attributes:
        value: NaN where the denominator is not positive.
        low, high: NaN where there is no interval.
        lack: why there is no interval, in words; None where there is one.
    """

    value: float
    low: float = np.nan
    high: float = np.nan
    lack: str | None = None


def ratio_of_means(over: Array, under: Array, level: float = 0.95, things: str = "questions") -> Ratio:
    """The ratio of two means, with the interval of ratios r for which a mean of over - r under of 0 is not rejected.

    A mean of ratios would give units with a denominator near 0 all the weight. The test is Student's t and t corrected
    for skewness, and rejects where both do (`lesser_t`); with t alone the interval would be Fieller's. The interval
    excludes 0 exactly where `zero_mean_p` of the numerators rejects at the same level. A studentised bootstrap of the
    ratio does not have this property, and its coverage was .87 where the denominator was small.

    Args:
        over, under: (n,) numerator and denominator of each unit, no gaps.
        things: name of the units, in the plural.

    Returns:
        The interval is missing with fewer than `FEWEST` units, where all units have the same ratio, and where the
        denominator does not differ from 0, so that the interval would be infinite.

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
    residuals = over - value * under
    if np.abs(residuals).max() <= ROUNDING * max(np.abs(over).max(), abs(value) * np.abs(under).max()):
        return Ratio(value, lack=f"all {things} have the same ratio, which does not tell how others would differ")
    without_end = f"over these {things} the denominator is not told from 0, so that it would have no end"
    # roots of (top - r bottom)^2 = reach^2 var(over - r under), r = value + step
    quantile = float(stats.t.ppf((1 + level) / 2, n - 1))
    reach = quantile**2 / n
    covariance = np.cov(residuals, under)
    square = bottom**2 - reach * covariance[1, 1]
    if not square > 0:
        return Ratio(value, lack=without_end)
    middle = -reach * covariance[0, 1] / square
    width = np.sqrt(middle**2 + reach * covariance[0, 0] / square)
    ends = [_end(over, under, value, float(value + middle + sign * width), quantile) for sign in (-1, 1)]
    low, high = ends
    return Ratio(value, lack=without_end) if low is None or high is None else Ratio(value, low, high)


def _end(over: Array, under: Array, value: float, start: float, quantile: float) -> float | None:
    """The ratio r, outwards from the end of Fieller's interval, at which the test begins to reject; None if none."""

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
    """Two-sided p-value of a mean of 0: at most 1 - level exactly where `ratio_of_means` excludes 0.

    With fewer than `FEWEST` values, for which there is no interval and skewness cannot be estimated, it is that of t.

    Args:
        values: (n,) numerators, no gaps.

    Returns:
        NaN with fewer than two values; 1 where all are 0.

    >>> round(zero_mean_p(np.array([1.0, 2.0, 3.0])), 4)
    0.0742
    """
    n = values.size
    if n < 2:
        return np.nan
    if float(values.std(ddof=1)) / np.sqrt(n) <= ROUNDING * np.abs(values).max():
        return float(not np.abs(values).max() > ROUNDING)
    if n < FEWEST:
        test: Any = stats.ttest_1samp(values, 0)
        return float(test.pvalue)
    return min(1.0, float(2 * stats.t.sf(lesser_t(values), n - 1)))
