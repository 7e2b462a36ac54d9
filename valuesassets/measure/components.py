"""The axes of a cultural map: two rotated principal components of weighted, incomplete answers, and projectors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from valuesassets.measure.arrays import Array
from valuesassets.records.errors import MissingData


@dataclass(frozen=True)
class Components:
    """Two rotated components as a linear map from items to scores.

    Attributes:
        means, sds: (I,) of each item, over the people who answered it.
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

    Missing answers are left out pairwise and never imputed: imputing the item's mean would shrink every correlation of
    that item. The order of the two components is the one in which the loadings of `positive_first` on the first and of
    `negative_second` on the second are largest; signs are chosen so that these loadings are positive and negative.

    Args:
        answers: (n, I) with nan for a missing answer.
        weights: (n,) not negative.
        positive_first, negative_second: columns of the two items that determine the order and the signs.

    Raises:
        MissingData: an item does not vary, or two items were never answered together.

    Source: Kaiser (1958), Psychometrika 23(3), 187-200; pairwise available cases: Little and Rubin (2019), Statistical
    Analysis with Missing Data, section 3.4.
    """
    x, w = np.asarray(answers, dtype=float), np.asarray(weights, dtype=float)
    is_present = np.isfinite(x)
    total = w @ is_present
    if np.any(total <= 0):
        raise MissingData(f"components: item {int(np.argmin(total))} has no answer with a weight; leave it out")
    means = w @ np.where(is_present, x, 0.0) / total
    centred = np.where(is_present, x - means, 0.0)
    sds = np.sqrt(w @ centred**2 / total)
    if np.any(sds <= 1e-12):
        raise MissingData(
            f"components: item {int(np.argmin(sds))} does not vary: everybody answers alike; leave it out"
        )
    correlations = pairwise_correlations(centred / sds, is_present, w)
    values, vectors = np.linalg.eigh(correlations)
    first_two, axes = values[[-1, -2]], vectors[:, [-1, -2]]
    rotation = varimax_rotation(axes * np.sqrt(first_two))
    score_weights = (axes / np.sqrt(first_two)) @ rotation
    loadings = (axes * np.sqrt(first_two)) @ rotation
    strength = np.abs(loadings[[positive_first, negative_second]])
    order = [0, 1] if np.trace(strength) >= np.trace(strength[:, ::-1]) else [1, 0]
    signs = np.sign([loadings[positive_first, order[0]], -loadings[negative_second, order[1]]])
    loadings, score_weights = (part[:, order] * np.where(signs == 0, 1, signs) for part in (loadings, score_weights))
    slopes = (score_weights / sds[:, None]).T
    explained = (loadings**2).sum(axis=0) / x.shape[1]
    return Components(means, sds, loadings.T, slopes, -slopes @ means, explained)


def pairwise_correlations(values: Array, is_present: NDArray[np.bool_], weights: Array) -> Array:
    """(I, I) weighted pairwise correlations: means and sds are those of the people who answered both items.

    Args:
        values: (n, I), 0 where there is no answer.
        is_present: (n, I) whether there is an answer.

    Raises:
        MissingData: nobody answered both items of a pair, or an item does not vary among those who answered both.
    """
    present = is_present.astype(float)
    weighted = values * weights[:, None]
    total = (present * weights[:, None]).T @ present
    if np.any(total <= 0):
        first, second = np.unravel_index(int(np.argmin(total)), total.shape)
        raise MissingData(f"components: items {first} and {second} were never answered together; leave one of them out")
    mean = weighted.T @ present / total
    variance = (weighted * values).T @ present / total - mean**2
    if np.any(variance <= 1e-12):
        first, second = np.unravel_index(int(np.argmin(variance)), variance.shape)
        raise MissingData(f"components: item {first} does not vary among those who answered item {second}")
    return (weighted.T @ values / total - mean * mean.T) / np.sqrt(variance * variance.T)


def varimax_rotation(loadings: Array) -> Array:
    """(2, 2) varimax rotation of two components (largest variance of squared loadings), in closed form.

    Args:
        loadings: (I, 2); each item's loadings are first scaled to length 1 (Kaiser's normalisation).

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
    """Tucker's congruence: cosine between two sets of loadings, -1 to 1; below .85 two axes are not similar.

    Source: Lorenzo-Seva and ten Berge (2006), Methodology 2(2), 57-64: .85 to .94 is fair similarity, more is equality.

    >>> round(tucker_congruence([1, 2], [2, 4]), 6), tucker_congruence([1, 0], [0, 3])
    (1.0, 0.0)
    """
    a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@dataclass(frozen=True)
class Projector:
    """A linear map from indicators to map coordinates: the point of a mean answer is the mean of the points.

    Attributes:
        slopes: (2, I) change of each axis per raw unit of an indicator; 0 for an indicator that the axes do not use.
        intercepts: (2,).
        residual_sd: (2,) residual standard deviation of the fitted intercepts (n - 1), in map units, reported beside
            every point. None where the axes were computed from the data themselves, without residuals.
    """

    slopes: Array
    intercepts: Array
    residual_sd: Array | None = None

    def place(self, means: ArrayLike) -> Array:
        """(..., 2) points of (..., I) indicator means; NaN where a mean is NaN."""
        return np.asarray(means, dtype=float) @ self.slopes.T + self.intercepts


def fit_intercepts(slopes: ArrayLike, means: ArrayLike, positions: ArrayLike) -> Projector:
    """A projector with given slopes and the intercepts that map `means` to `positions` with least squared error.

    Args:
        slopes: (2, I).
        means: (n, I) indicator means of n >= 2 complete countries.
        positions: (n, 2) their published positions.

    Raises:
        MissingData: a mean or position is missing, or there are fewer than two countries.
    """
    a, m, t = (np.asarray(part, dtype=float) for part in (slopes, means, positions))
    if m.shape[0] < 2 or not (np.all(np.isfinite(m)) and np.all(np.isfinite(t)) and np.all(np.isfinite(a))):
        raise MissingData(f"intercepts need two or more complete countries, found {m.shape[0]} with gaps or too few")
    offsets = t - m @ a.T
    return Projector(a, offsets.mean(axis=0), offsets.std(axis=0, ddof=1))
