"""Distances between the cells of two crossed factors, such as languages by countries named, corrected for sampling.

A cell is a unit (such as a language) under a condition (such as a country named) with one or more sampled vectors. All
distances come from inner products of cell means, so permutations never use the vectors again.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from valuesassets.measure.arrays import Array

AT_ONCE = 200_000
"""Pairs of cells that are looked up at once, few enough for a processor's cache."""


def means_and_noise(vectors: ArrayLike, cells: NDArray[np.intp], n_cells: int) -> tuple[Array, Array, NDArray[np.intp]]:
    """Mean vector (n_cells, D) of each cell, its sampling noise (n_cells,), and its number of samples (n_cells,).

    The noise is tr(S) / (2 n) with S the covariance of the cell's n samples: the expected contribution of the mean's
    sampling variance to half a squared distance. It is 0 for a cell with one sample.

    Args:
        vectors: (n, D) samples.
        cells: (n,) cell of each, 0 to n_cells - 1; every cell has one or more.

    >>> means, noise, n = means_and_noise([[0.0], [2.0], [5.0]], np.array([0, 0, 1]), 2)
    >>> means.ravel().tolist(), noise.tolist()
    ([1.0, 5.0], [0.5, 0.0])
    """
    order = np.argsort(cells, kind="stable")
    samples, cell_of = np.asarray(vectors, dtype=float)[order], np.asarray(cells)[order]
    n = np.bincount(cell_of, minlength=n_cells)
    means = np.add.reduceat(samples, np.searchsorted(cell_of, np.arange(n_cells)), axis=0) / n[:, None]
    samples -= means[cell_of]
    squares = np.bincount(cell_of, weights=np.einsum("nd,nd->n", samples, samples), minlength=n_cells)
    return means, squares / np.maximum(n - 1, 1) / (2 * n), n


def unbiased_distances(means: ArrayLike, noise: ArrayLike) -> Array:
    """(K, K) ||a - b||^2 / 2 minus the noise of both: unbiased for the expected vectors, so it can be negative.

    Args:
        means: (K, D) mean vectors.
        noise: (K,) tr(S) / (2 n) of each, as `means_and_noise` returns it; 0 for no correction.

    Source: Szekely and Rizzo (2013), J. Stat. Plan. Inference 143(8), 1249-1272 (distances between independent
    samples), for squared Euclidean distances.

    >>> unbiased_distances([[0.0], [2.0]], [0.5, 0.25]).tolist()
    [[0.0, 1.25], [1.25, 0.0]]
    """
    x, correction = np.asarray(means, dtype=float), np.asarray(noise, dtype=float)
    products = x @ x.T
    lengths = np.diag(products) / 2 - correction
    distances = lengths[:, None] + lengths[None, :] - products
    np.fill_diagonal(distances, 0.0)
    return distances


def mean_over_pairs(distances: Array) -> Array:
    """(...) mean over unordered pairs of (..., L, L) symmetric distances.

    >>> float(mean_over_pairs(np.array([[0.0, 1.0], [1.0, 0.0]])))
    1.0
    """
    n = distances.shape[-1]
    return (distances.sum(axis=(-2, -1)) - np.einsum("...ii->...", distances)) / (n * (n - 1))


@dataclass(frozen=True, eq=False)
class Crossed:
    """Distances between L units under K conditions.

    Attributes:
        same: (K, L, L) between units under the same condition.
        other: (L, L) mean between units under different conditions of the same stratum, in both directions; the
            diagonal compares a unit with itself. NaN where no stratum has two conditions.
        own: (L, K, K) between conditions, within each unit.
        difference: mean over pairs of units of `other` - `same`, over conditions that share their stratum with another.
        by_chance: (draws,) the difference with conditions permuted within unit and stratum.
    """

    same: Array
    other: Array
    own: Array
    difference: float
    by_chance: Array


def cross_distances(
    means: Array, noise: Array, strata: NDArray[np.intp], draws: int = 0, random: np.random.Generator | None = None
) -> Crossed:
    """All distances between the cells of two crossed factors, and whether units agree more under the same condition.

    Args:
        means: (L, K, D) mean vectors.
        noise: (L, K) their noise.
        strata: (K,) conditions of the same stratum are exchangeable; a condition with a stratum below 0 is with none.
        draws: number of permutations of conditions, drawn with `random`.
    """
    n, k = noise.shape
    every = unbiased_distances(means.reshape(n * k, -1), noise.ravel())
    by_cell = every.reshape(n, k, n, k)
    same = np.ascontiguousarray(np.einsum("lcmc->clm", by_cell))
    own = np.ascontiguousarray(np.einsum("lclk->lck", by_cell))
    is_partner = (strata[:, None] == strata[None, :]) & (strata[:, None] >= 0) & ~np.eye(k, dtype=bool)
    has_partner = np.flatnonzero(is_partner.any(axis=1))
    if not has_partner.size:
        return Crossed(same, np.full((n, n), np.nan), own, np.nan, np.full(draws, np.nan))
    weights = is_partner / is_partner.sum()
    other = np.einsum("lcmd,cd->lm", by_cell, weights, optimize=True)
    # Every arrangement of conditions has the same sum of distances over all pairs of conditions.
    mean_same = mean_over_pairs(same[has_partner]).mean()
    total = mean_over_pairs(other) * is_partner.sum() + mean_same * has_partner.size
    by_chance = np.empty(draws)
    if draws and random is not None:
        by_chance = _matched_means(every, n, strata, has_partner, draws, random)
    differences = (total - by_chance * has_partner.size) / is_partner.sum() - by_chance
    return Crossed(same, other, own, float(mean_over_pairs(other) - mean_same), differences)


def _matched_means(
    every: Array, n: int, strata: NDArray[np.intp], partners: NDArray[np.intp], draws: int, random: np.random.Generator
) -> Array:
    """(draws,) mean distance between units under matching conditions after permuting each unit's conditions."""
    k = len(strata)
    places = np.empty((draws, n, partners.size), dtype=np.int32)
    kinds = strata[partners]
    for stratum in np.unique(kinds):
        members = np.flatnonzero(kinds == stratum)
        conditions = np.tile(partners[members].astype(np.int32), (draws, n, 1))
        places[:, :, members] = random.permuted(conditions, axis=2)
    places += (np.arange(n, dtype=np.int32) * k)[:, None]
    first, second = np.triu_indices(n, 1)
    flat, width = every.ravel(), np.int32(n * k)
    mean_distances = np.empty(draws)
    step = max(1, AT_ONCE // (first.size * partners.size))
    for start in range(0, draws, step):
        part = places[start : start + step]
        pairs = (part * width)[:, first] + part[:, second]
        mean_distances[start : start + step] = np.take(flat, pairs.reshape(len(part), -1)).mean(axis=1)
    return mean_distances
