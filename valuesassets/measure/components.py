"""The axes of a map: two principal components of weighted answers with gaps, turned and pinned, and projectors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from valuesassets.measure.arrays import Array
from valuesassets.records.errors import MissingData


@dataclass(frozen=True)
class Components:
    """Two turned components as a linear map from items to scores.

    Attributes:
        means, sds: (I,) of each item, over those who answered it.
        loadings: (2, I) correlation of each item with each score.
        slopes: (2, I) change of a score per raw unit of an item; with `intercepts` scores have mean 0 and variance 1.
        intercepts: (2,).
        explained: (2,) share of the items' variance.
    """

    means: Array
    sds: Array
    loadings: Array
    slopes: Array
    intercepts: Array
    explained: Array


def fit_components(answers: ArrayLike, weights: ArrayLike, positive_first: int, negative_second: int) -> Components:
    """Principal components of the weighted pairwise correlations, varimax with Kaiser's normalisation.

    A missing answer takes part in no pair, and none is filled in: filling with the item's mean would shrink every
    correlation of that item. The first component is the one on which item `positive_first` weighs, together with
    `negative_second` on the second, most; their loadings are made positive and negative.

    Args:
        answers: (n, I) with nan for a missing answer.
        weights: (n,) not negative.
        positive_first, negative_second: columns of the two items that pin order and signs.

    Raises:
        MissingData: an item does not vary, or two items were never answered together.

    Source: Kaiser (1958), Psychometrika 23(3), 187-200; pairwise available cases: Little and Rubin (2019), Statistical
    Analysis with Missing Data, section 3.4.
    """
    x, w = np.asarray(answers, dtype=float), np.asarray(weights, dtype=float)
    is_there = np.isfinite(x)
    total = w @ is_there
    if np.any(total <= 0):
        raise MissingData(f"components: item {int(np.argmin(total))} has no answer with a weight; leave it out")
    means = w @ np.where(is_there, x, 0.0) / total
    centred = np.where(is_there, x - means, 0.0)
    sds = np.sqrt(w @ centred**2 / total)
    if np.any(sds <= 1e-12):
        raise MissingData(
            f"components: item {int(np.argmin(sds))} does not vary: everybody answers alike; leave it out"
        )
    correlations = pairwise_correlations(centred / sds, is_there, w)
    values, vectors = np.linalg.eigh(correlations)
    first_two, axes = values[[-1, -2]], vectors[:, [-1, -2]]
    turn = varimax_rotation(axes * np.sqrt(first_two))
    weights_of = (axes / np.sqrt(first_two)) @ turn
    loadings = (axes * np.sqrt(first_two)) @ turn
    strength = np.abs(loadings[[positive_first, negative_second]])
    order = [0, 1] if np.trace(strength) >= np.trace(strength[:, ::-1]) else [1, 0]
    signs = np.sign([loadings[positive_first, order[0]], -loadings[negative_second, order[1]]])
    loadings, weights_of = (part[:, order] * np.where(signs == 0, 1, signs) for part in (loadings, weights_of))
    slopes = (weights_of / sds[:, None]).T
    explained = (loadings**2).sum(axis=0) / x.shape[1]
    return Components(means, sds, loadings.T, slopes, -slopes @ means, explained)


def pairwise_correlations(values: Array, is_there: NDArray[np.bool_], weights: Array) -> Array:
    """(I, I) weighted correlations, each over those who answered both items, with the pair's own means and sds.

    Args:
        values: (n, I), 0 where there is no answer.
        is_there: (n, I) whether there is one.

    Raises:
        MissingData: two items were never answered together, or one does not vary where both were.
    """
    there = is_there.astype(float)
    weighted = values * weights[:, None]
    total = (there * weights[:, None]).T @ there
    if np.any(total <= 0):
        one, other = np.unravel_index(int(np.argmin(total)), total.shape)
        raise MissingData(f"components: items {one} and {other} were never answered together; leave one of them out")
    mean = weighted.T @ there / total
    variance = (weighted * values).T @ there / total - mean**2
    if np.any(variance <= 1e-12):
        one, other = np.unravel_index(int(np.argmin(variance)), variance.shape)
        raise MissingData(f"components: item {one} does not vary among those who answered item {other}")
    return (weighted.T @ values / total - mean * mean.T) / np.sqrt(variance * variance.T)


def varimax_rotation(loadings: Array) -> Array:
    """(2, 2) turn of two components that makes their squared loadings vary most, in closed form.

    Args:
        loadings: (I, 2); an item's loadings are brought to length 1 first (Kaiser's normalisation).

    Source: Kaiser (1958), equations for a pair of factors.
    """
    length = np.linalg.norm(loadings, axis=1, keepdims=True)
    x, y = (loadings / np.where(length > 0, length, 1)).T
    u, v = x**2 - y**2, 2 * x * y
    across = 2 * (u @ v) - 2 * u.sum() * v.sum() / len(x)
    along = u @ u - v @ v - (u.sum() ** 2 - v.sum() ** 2) / len(x)
    angle = np.arctan2(across, along) / 4
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def tucker_congruence(one: ArrayLike, other: ArrayLike) -> float:
    """Cosine between two sets of loadings, from -1 to 1; below .85 two axes are not alike.

    Source: Lorenzo-Seva and ten Berge (2006), Methodology 2(2), 57-64: .85 to .94 is fair similarity, more is equality.

    >>> round(tucker_congruence([1, 2], [2, 4]), 6), tucker_congruence([1, 0], [0, 3])
    (1.0, 0.0)
    """
    a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@dataclass(frozen=True)
class Projector:
    """Slopes and intercepts: the point of a mean is the mean of the points.

    Attributes:
        slopes: (2, I) change of each axis per raw unit of an indicator; 0 for one that the axes do without.
        intercepts: (2,).
        residual_sd: (2,) of fitted intercepts (n - 1), in map units: stated beside every point. None where the axes are
            those of the data themselves, so that nothing is left over.
    """

    slopes: Array
    intercepts: Array
    residual_sd: Array | None = None

    def place(self, means: ArrayLike) -> Array:
        """(..., 2) points of (..., I) indicator means; nan where a mean is."""
        return np.asarray(means, dtype=float) @ self.slopes.T + self.intercepts


def fit_intercepts(slopes: ArrayLike, means: ArrayLike, positions: ArrayLike) -> Projector:
    """A projector with given slopes whose intercepts bring `means` nearest to `positions` (least squares).

    Args:
        slopes: (2, I).
        means: (n, I) indicator means of n >= 2 complete countries.
        positions: (n, 2) where they are published.

    Raises:
        MissingData: a mean or position is missing, or there are fewer than two countries.
    """
    a, m, t = (np.asarray(part, dtype=float) for part in (slopes, means, positions))
    if m.shape[0] < 2 or not (np.all(np.isfinite(m)) and np.all(np.isfinite(t)) and np.all(np.isfinite(a))):
        raise MissingData(f"intercepts need two or more complete countries, found {m.shape[0]} with gaps or too few")
    offsets = t - m @ a.T
    return Projector(a, offsets.mean(axis=0), offsets.std(axis=0, ddof=1))
