"""Tests and intervals of means of possibly skewed values, and intervals of proportions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.resampling import ROUNDING
from valuesassets.records.errors import MissingData

FEWEST, MORE_FOR_EACH = 30, 15
"""Fewest values for a test of their mean, and additional values for each further test in its family. Smaller samples
often lack the rare values that determine a skewed mean, and the smaller p has to be, the more skewness matters."""


@dataclass(frozen=True)
class MeanTest:
    """A mean with its interval, and the test of a mean of 0.

    Attributes:
        low, high: ends of the interval; NaN with a single value.
        p: two-sided; None, with a `reason`, where there are fewer values than a test needs.
    """

    mean: float
    low: float
    high: float
    p: float | None
    n: int
    reason: str | None


def fewest_for(n_tests: int) -> int:
    """Number of values that each of `n_tests` tests needs if they are corrected together.

    With shifted log-normal values of mean 0, the family-wise error rate of 1 to 16 tests is 5 to 7 % (80,000 samples).

    >>> [fewest_for(n) for n in (1, 2, 8)]
    [30, 45, 135]
    """
    return FEWEST + MORE_FOR_EACH * (n_tests - 1)


def mean_test(values: ArrayLike, level: float = 0.95, of: str = "values") -> MeanTest:
    """The mean of n independent values, its interval, and the p-value of a mean of 0.

    Both use Student's t and t corrected for skewness (Hall's transformation): the interval has the outer of the two
    ends on either side, and p is the larger one. t alone rejects too often where values are skewed, and the corrected t
    where they have heavy tails. Values are assumed to be independent with finite variance, but not symmetric.

    Args:
        values: (n,) finite, n >= 1.
        of: name of the values' units, for the reason.

    Raises:
        MissingData: there is no value.

    Source: Hall (1992), J. R. Stat. Soc. B 54(1), 221-228, eq. 2.2 (the transformation); Johnson (1978), J. Am. Stat.
    Assoc. 73(363), 536-544.

    >>> test = mean_test(np.arange(-20.0, 21.0))
    >>> test.mean, round(test.high, 2) == -round(test.low, 2), test.p
    (0.0, True, 1.0)
    """
    x = np.asarray(values, dtype=float)
    n = x.size
    if n == 0:
        raise MissingData("a test of a mean needs a value")
    mean, sd = float(x.mean()), float(x.std(ddof=1)) if n > 1 else np.nan
    few = f"{n} {of}, {FEWEST} or more are needed for a test of a mean that may be skewed" if n < FEWEST else None
    if n == 1:
        return MeanTest(mean, np.nan, np.nan, None, n, few)
    if sd <= ROUNDING * max(1.0, float(np.abs(x).max())):
        p = 1.0 if abs(mean) <= ROUNDING else 2.0 ** (1 - n)  # the p-value of a sign-flip test of n equal values
        return MeanTest(mean, mean, mean, None if few else p, n, few)
    skewness = float(((x - mean) ** 3).mean() / x.std() ** 3)
    size = np.sqrt(n)
    reach = stats.t.ppf((1 + level) / 2, n - 1)
    ends = [(mean - shift * sd) for quantile in (reach, -reach) for shift in _shifts(quantile / size, skewness, n)]
    p = min(1.0, 2 * float(stats.t.sf(lesser_t(x), n - 1)))
    return MeanTest(mean, float(min(ends)), float(max(ends)), None if few else p, n, few)


def skewed_mean_ends(values: Array, level: float = 0.95) -> tuple[Array, Array]:
    """Ends, (...) each, of the intervals of `mean_test` for means of (..., n) values; NaN values are left out.

    Returns:
        NaN where fewer than two values are there; the mean itself where all are equal.

    >>> [round(float(end), 3) for end in skewed_mean_ends(np.arange(-20.0, 21.0))]
    [-3.781, 3.781]
    """
    n, mean = np.isfinite(values).sum(axis=-1), mean_of_known(values)
    apart = values - np.expand_dims(mean, -1)
    size = np.maximum(n, 2)
    sd = np.sqrt(mean_of_known(apart**2) * n / (size - 1))
    spread = np.where(sd > ROUNDING, sd, 1) * np.sqrt((size - 1) / size)
    skewness = np.where(sd > ROUNDING, mean_of_known(apart**3) / spread**3, 0)
    reach = stats.t.ppf((1 + level) / 2, size - 1)
    by_end = [[mean - shift * sd for shift in _shifts_of(at / np.sqrt(size), skewness, size)] for at in (reach, -reach)]
    low, high = np.min(by_end[0], axis=0), np.max(by_end[1], axis=0)
    return np.where(n > 1, low, np.nan)[()], np.where(n > 1, high, np.nan)[()]


def _shifts_of(quantile: Array, skewness: Array, n: Array) -> tuple[Array, Array]:
    """As `_shifts`, of arrays (...)."""
    is_skewed = np.abs(skewness) >= 1e-6
    g = np.where(is_skewed, skewness, 1)
    inverse = 3 / g * (np.cbrt(1 + g * (quantile - g / (6 * n))) - 1)
    return quantile, np.where(is_skewed, inverse, quantile)


def lesser_t(values: Array) -> float:
    """Distance of a mean from 0 in standard errors: t or t corrected for skewness, whichever is smaller.

    Args:
        values: (n,) two or more; the result is infinite where all are equal and not 0.
    """
    n, mean, sd = values.size, float(values.mean()), float(values.std(ddof=1))
    if sd <= ROUNDING * float(np.abs(values).max()):
        return np.inf if mean else 0.0
    skewness = float(((values - mean) ** 3).mean() / values.std() ** 3)
    sign = 1.0 if mean >= 0 else -1.0
    return float(sign * np.sqrt(n) * (min if sign > 0 else max)(mean / sd, _transformed(mean / sd, skewness, n)))


def _transformed(standardised: float, skewness: float, n: int) -> float:
    """Hall's monotone cubic transformation of a mean in standard deviations, which removes most of its skewness."""
    u, g = standardised, skewness
    return u + g * u**2 / 3 + g**2 * u**3 / 27 + g / (6 * n)


def _shifts(quantile: float, skewness: float, n: int) -> Array:
    """(2,) distance of a quantile from the mean in standard deviations: by t, and by Hall's inverse transformation."""
    if abs(skewness) < 1e-6:
        return np.array([quantile, quantile])
    inverse = 3 / skewness * (np.cbrt(1 + skewness * (quantile - skewness / (6 * n))) - 1)
    return np.array([quantile, inverse])


def wilson_interval(counted: ArrayLike, n: ArrayLike, level: float = 0.95) -> tuple[Array, Array]:
    """Wilson intervals of the proportions counted / n: low and high ends, (...) each in [0, 1]; NaN where n is 0.

    Unlike the normal interval (p plus and minus a multiple of its standard error), it has a width where p is 0 or 1.

    Args:
        counted, n: (...) whole numbers, 0 <= counted <= n.

    Source: Wilson (1927), J. Am. Stat. Assoc. 22(158), 209-212; Brown, Cai and DasGupta (2001), Statistical Science
    16(2), 101-133.

    >>> [round(float(end), 3) for end in wilson_interval(0, 10)]
    [0.0, 0.278]
    """
    k, size = np.asarray(counted, dtype=float), np.asarray(n, dtype=float)
    z = stats.norm.ppf((1 + level) / 2)
    at_least_one = np.maximum(size, 1)
    share = k / at_least_one
    middle = share + z**2 / (2 * at_least_one)
    reach = z * np.sqrt(share * (1 - share) / at_least_one + z**2 / (4 * at_least_one**2))
    scale = 1 + z**2 / at_least_one
    low, high = (np.clip((middle + sign * reach) / scale, 0, 1) for sign in (-1, 1))
    return np.where(size > 0, low, np.nan)[()], np.where(size > 0, high, np.nan)[()]
