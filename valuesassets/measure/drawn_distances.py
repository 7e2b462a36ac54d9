"""Squared Cramér distances between answers of which some are shares of draws, without what drawing adds.

Shares of few draws lie further from any answer than the probabilities that they estimate. Of a squared Cramér distance
this excess is known exactly: it is subtracted, so that the mean over repeated draws is the distance of the
probabilities. Estimates may therefore be below 0. As in `distances`, the last axis of an array runs over the options.
"""

import numpy as np

from valuesassets.measure.arrays import Array


def cramer_unit2_of(p: Array, q: Array, unit: Array) -> Array:
    """Squared Cramér distances, (...), in [0, 1]: squared differences of distribution functions over scale units.

    Args:
        p, q: (..., K) probabilities, each summing to 1 along the last axis; they broadcast.
        unit: (..., K) positions of the options on [0, 1], never decreasing.

    Source: Cramér (1928), Skand. Aktuarietidskr. 11, 141-180; Rizzo and Szekely (2016), WIREs Comput. Stat. 8(1), 27-38
    (half the energy distance).

    >>> cramer_unit2_of(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), np.array([0, 0.5, 1])).item()
    0.5
    """
    return np.einsum("...k,...k->...", np.cumsum(p - q, axis=-1)[..., :-1] ** 2, np.diff(unit))


def half_squares_of(p: Array, q: Array) -> Array:
    """Half the squared differences of shares, (...), in [0, 1]: the squared distance on a scale without an order.

    With two options it is their squared Cramér distance.
    """
    return ((p - q) ** 2).sum(axis=-1) / 2


def cramer_noise_of(shares: Array, n: Array, unit: Array) -> Array:
    """Expected addition of drawing, (...), to a squared Cramér distance from the shares of `n` draws; unbiased.

    Args:
        shares: (..., K) shares among the draws.
        n: (...) number of draws; the addition is 0 for infinity, and NaN below 2, where it is unknown.

    >>> cramer_noise_of(np.array([0.5, 0.5]), np.array(26), np.array([0.0, 1.0])).item()
    0.01
    """
    below = np.cumsum(shares, axis=-1)[..., :-1]
    return _of_sample(np.einsum("...k,...k->...", below * (1 - below), np.diff(unit)), n)


def half_squares_noise_of(shares: Array, n: Array) -> Array:
    """The same for half the squared differences of shares."""
    return _of_sample((shares * (1 - shares)).sum(axis=-1) / 2, n)


def _of_sample(variance: Array, n: Array) -> Array:
    """A variance within the draws over n - 1."""
    size = np.asarray(n, dtype=float)
    return np.where(np.isnan(variance) | (size < 2), np.nan, variance / np.maximum(size - 1, 1))
