"""Confidence intervals of proportions."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from valuesassets.measure.arrays import Array


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
