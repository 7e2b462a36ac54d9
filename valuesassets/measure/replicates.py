"""Means over replicates, such as trainings with other seeds, that may have drawn on one pool."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from valuesassets.measure.resampling import ROUNDING
from valuesassets.records.errors import MissingData


@dataclass(frozen=True)
class ReplicateMean:
    """A mean over replicates with the ends of its interval, and the test of a mean of 0.

    Attributes:
        p: two-sided, Student's t with one degree of freedom less than there are replicates.
    """

    mean: float
    low: float
    high: float
    p: float


def variance_of_mean(values: ArrayLike, share: float | None = None) -> float:
    """Variance of the mean of k replicates: S^2 / k, or S^2 (1/k + f / (1 - f)) where each used a share f of one pool.

    Replicates that use shares of one pool have a part in common: their differences show only 1 - f of the variance
    that other pools would give.

    Args:
        values: (k,) two or more.
        share: of the pool that each replicate used; None where replicates are independent.

    Raises:
        MissingData: there are fewer than two replicates, or the share is not between 0 and 1.

    Source: Nadeau and Bengio (2003), Machine Learning 52(3), 239-281, section 3 (corrected resampled t).

    >>> variance_of_mean([0.0, 2.0]), variance_of_mean([0.0, 2.0], share=0.5)
    (1.0, 3.0)
    """
    x = np.asarray(values, dtype=float)
    if x.size < 2:
        raise MissingData(f"{x.size} replicate, two or more are needed to tell how trainings differ")
    if share is not None and not 0 < share < 1:
        raise MissingData(f"a share of {share:g} of one pool, more than 0 and less than 1 was expected")
    pool = 0.0 if share is None else share / (1 - share)
    return float(x.var(ddof=1) * (1 / x.size + pool))


def mean_over_replicates(values: ArrayLike, share: float | None = None, level: float = 0.95) -> ReplicateMean:
    """The mean over replicates, its interval, and the p-value of a mean of 0; see `variance_of_mean`.

    Args:
        values: (k,) one finite value of each replicate, k >= 2.
        share: of one pool that each replicate used; None where replicates are independent.

    Raises:
        MissingData: there are fewer than two replicates, a value is missing, or the share is not between 0 and 1.

    >>> round(mean_over_replicates([0.5, 1.5]).p, 3)
    0.295
    """
    x = np.asarray(values, dtype=float)
    if not np.isfinite(x).all():
        raise MissingData("a replicate without a value; leave it out")
    mean, error, df = float(x.mean()), np.sqrt(variance_of_mean(x, share)), x.size - 1
    if error <= ROUNDING * max(1.0, float(np.abs(x).max())):
        return ReplicateMean(mean, mean, mean, 1.0 if abs(mean) <= ROUNDING else 0.0)
    reach = error * float(stats.t.ppf((1 + level) / 2, df))
    return ReplicateMean(mean, mean - reach, mean + reach, float(2 * stats.t.sf(abs(mean) / error, df)))
