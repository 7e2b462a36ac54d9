"""Means, entropies and orders of answers that are shares of draws, and what drawing does to them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from valuesassets.measure.arrays import Array

PSEUDO_DRAWS = 2.0
"""Draws that are added to each order, spread evenly over the options, where shares of 0 would be taken for certain."""
EXCHANGES = 999
"""Random exchanges of draws between two orders, behind a p-value."""


def mean_variance_of(shares: Array, n: Array, unit: Array) -> Array:
    """Variance due to drawing, (...), of the mean of `n` draws, in squared scale units; unbiased, NaN for n below 2.

    Args:
        shares: (..., K) shares among the draws.
        n: (...) number of draws; infinite where probabilities were read.
        unit: (..., K) positions of the options on [0, 1].

    >>> mean_variance_of(np.array([0.5, 0.5]), np.array(26), np.array([0.0, 1.0])).item()
    0.01
    """
    mean = np.einsum("...k,...k->...", shares, unit)
    variance = np.einsum("...k,...k->...", shares, unit**2) - mean**2
    size = np.asarray(n, dtype=float)
    return np.where(np.isnan(variance) | (size < 2), np.nan, np.maximum(variance, 0) / np.maximum(size - 1, 1))


def with_pseudo_draws(shares: Array, n: Array, n_options: ArrayLike) -> Array:
    """(..., K) shares after `PSEUDO_DRAWS` further draws that are spread evenly over the options.

    Args:
        n: (...) number of draws; shares of infinitely many do not change.
        n_options: (...) options of the scale.
    """
    weight = PSEUDO_DRAWS / (np.asarray(n, dtype=float) + PSEUDO_DRAWS)
    return shares + weight[..., None] * (1 / np.asarray(n_options, dtype=float)[..., None] - shares)


def mean_interval(counts: Array, unit: Array, level: float = 0.95) -> tuple[float, float]:
    """Ends of the interval, over draws, of a mean answer averaged over orders, in scale units.

    `PSEUDO_DRAWS` are added to each order. Without them the interval of an order in which all draws agree would be a
    point. The ends are Student's, with as many degrees of freedom as draws less orders.

    Args:
        counts: (V, K) draws of each option in each order.
        unit: (K,) positions of the options on [0, 1].

    Source: for a share, Agresti and Coull (1998), The American Statistician 52(2), 119-126 (four, with z at 95 %).

    >>> [round(end, 2) for end in mean_interval(np.array([[20, 20], [20, 20]]), np.array([0.0, 1.0]))]
    [0.39, 0.61]
    """
    n = counts.sum(axis=1)
    shares = with_pseudo_draws(counts / n[:, None], n, counts.shape[1])
    means = shares @ unit
    variances = (shares @ unit**2 - means**2) / (n + PSEUDO_DRAWS)
    reach = stats.t.ppf((1 + level) / 2, n.sum() - n.size) * np.sqrt(variances.sum()) / n.size
    return float(max(means.mean() - reach, 0)), float(min(means.mean() + reach, 1))


def entropy_bits_by_drawing(shares: Array, n: Array) -> Array:
    """What drawing takes from an entropy, (...), in bits: (options drawn - 1) / (2 n ln 2).

    Args:
        shares: (..., K) shares among all draws.
        n: (...) number of draws; nothing is taken from an entropy of infinitely many.

    Source: Miller (1955), Note on the bias of information estimates.

    >>> entropy_bits_by_drawing(np.array([0.5, 0.5, 0]), np.array(50)).round(4).item()
    0.0144
    """
    return np.maximum((shares > 0).sum(axis=-1) - 1, 0) / (2 * np.log(2) * np.asarray(n, dtype=float))


def exchanged_p(first: NDArray[np.int64], second: NDArray[np.int64], random: np.random.Generator) -> float:
    """p-value of the largest difference between the shares of two orders, by exchanging draws between them.

    Args:
        first, second: (K,) draws of each option in the two orders.

    >>> exchanged_p(np.array([20, 0]), np.array([0, 20]), np.random.default_rng(0))
    0.001
    """
    n_first, n_second = int(first.sum()), int(second.sum())
    both = first + second
    exchanged = random.multivariate_hypergeometric(both, n_first, size=EXCHANGES)
    differences = np.abs(exchanged / n_first - (both - exchanged) / n_second).max(axis=1)
    observed = np.abs(first / n_first - second / n_second).max()
    return float((1 + np.count_nonzero(differences >= observed - 1e-12)) / (1 + EXCHANGES))
