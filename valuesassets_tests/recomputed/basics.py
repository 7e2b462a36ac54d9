"""Distances, means and tests in their textbook form."""

import itertools
import math

import numpy as np
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, wasserstein_distance

DRAWS = 8000
"""Our own draws."""


def mean_of(values: np.ndarray, axis: int = -1) -> np.ndarray:
    """Means without what is missing; NaN where all is."""
    masked = np.ma.masked_invalid(values)
    return np.ma.filled(masked.mean(axis=axis).astype(float), np.nan)


def jsd(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(...) Jensen-Shannon distances, root of the divergence in bits, of (..., K); NaN where an answer is missing."""
    p, q = np.broadcast_arrays(p, q)
    known = np.isfinite(p + q).all(axis=-1)
    found = np.full(known.shape, np.nan)
    found[known] = np.nan_to_num(jensenshannon(p[known], q[known], base=2, axis=-1))  # of equal answers scipy gives NaN
    return found


def entropy_bits(p: np.ndarray) -> np.ndarray:
    """(...) Shannon entropies of (..., K)."""
    return np.where(np.isfinite(p).all(axis=-1), entropy(np.nan_to_num(p, nan=1.0), base=2, axis=-1), np.nan)


def w1(places: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(..., I) earth mover's distances of (..., I, K) on (I, K) places, brought to a range of 1; NaN where missing."""
    p, q = np.broadcast_arrays(p, q)
    found = np.full(p.shape[:-1], np.nan)
    for at in zip(*np.nonzero(np.isfinite(p + q).all(axis=-1)), strict=True):
        own = places[at[-1]]
        own = own[np.isfinite(own)]
        if own.size:
            a, b = p[at][: own.size], q[at][: own.size]
            found[at] = wasserstein_distance(own, own, a, b) / (own.max() - own.min())
    return found


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's adjusted p-values by their definition: the largest, among smaller or equal p, of (m - rank) p."""
    m, order = len(p), np.argsort(p, kind="stable")
    found = np.empty(m)
    for rank, place in enumerate(order):
        found[place] = min(1.0, max((m - k) * p[order[k]] for k in range(rank + 1)))
    return found


def drawn_items(n: int, random: np.random.Generator, draws: int = DRAWS) -> np.ndarray:
    """(draws, n) how often each of n things stands in samples of n with replacement."""
    picked = random.integers(0, n, (draws, n))
    return np.stack([np.bincount(each, minlength=n) for each in picked]).astype(float)


def drawn_means(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """(draws, ...) means of (..., n) values in samples, without what is missing."""
    known = np.isfinite(values)
    sums, sizes = (
        np.tensordot(counts, each, axes=(1, -1)) for each in (np.where(known, values, 0), known.astype(float))
    )
    return np.divide(sums, sizes, out=np.full(sums.shape, np.nan), where=sizes > 0)


def orders_of(n: int) -> np.ndarray:
    """(n!, n) every order of n things, the given one first."""
    return np.array(list(itertools.permutations(range(n))))


def shuffled(n: int, draws: int, random: np.random.Generator, strata: np.ndarray | None = None) -> np.ndarray:
    """(draws, n) random orders, within strata where they are given."""
    found = np.tile(np.arange(n), (draws, 1))
    for stratum in [np.arange(n)] if strata is None else [np.flatnonzero(strata == each) for each in np.unique(strata)]:
        keys = random.random((draws, stratum.size))
        found[:, stratum] = stratum[np.argsort(keys, axis=1)]
    return found


def at_least(chance: np.ndarray, observed: float) -> float:
    """Share of labellings whose statistic is as large as what was observed, but for rounding."""
    return float(np.mean(chance >= observed - 1e-12 * max(1.0, abs(observed))))


def sign_test(differences: np.ndarray) -> float:
    """Two-sided p of as many differences above and below 0, from binomial coefficients."""
    above, below = int((differences > 0).sum()), int((differences < 0).sum())
    n, least = above + below, min(above, below)
    if n == 0:
        return math.nan
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(least + 1)) / 2**n) if above != below else 1.0
