"""Ratios of two means over the same things, with intervals from resamples of the things."""

import numpy as np

from valuesassets.measure.means import Array
from valuesassets.measure.resampling import interval_ends


def ratio_of_means(over: Array, under: Array, counts: Array, level: float = 0.95) -> tuple[float, float, float]:
    """mean(over) / mean(under) and the ends of its interval; NaN where resamples do not tell it from infinity.

    A mean of ratios would give a thing whose denominator is near 0 all the weight.

    Args:
        over, under: (n,) of each thing.
        counts: (draws, n) resamples of the things, as `resample_counts` gives them.

    Returns:
        The ratio, NaN where the lower mean is not above 0, and its ends; no ends where the denominator is not above 0
        in more resamples than one end may leave out.

    >>> ratio_of_means(np.array([1.0, 3.0]), np.array([2.0, 2.0]), np.ones((3, 2)))[0]
    1.0
    """
    below = float(under.mean())
    if not below > 0:
        return np.nan, np.nan, np.nan
    value = float(over.mean()) / below
    tops, bottoms = counts @ over, counts @ under
    is_lost = ~(bottoms > 0)
    if is_lost.mean() > (1 - level) / 2:
        return value, np.nan, np.nan
    drawn = np.where(is_lost, np.nan, tops / np.where(is_lost, 1, bottoms))
    low, high = interval_ends(drawn, over.size, level)
    return value, float(low), float(high)
