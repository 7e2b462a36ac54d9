"""A regression slope over items that come in batteries: items of one battery are correlated, batteries are not.

The slope is linear in the values. Its weights depend on the regressors alone, so that they are computed once and serve
all replicates, wordings and simulated values.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from valuesassets.measure.arrays import Array
from valuesassets.records.errors import MissingData

WITHIN_BATTERY = 0.3
"""Working correlation of two items of one battery."""
LEAST_OWN = 1e-6
"""Share of a regressor's variation that the other regressors must leave to it."""


@dataclass(frozen=True, eq=False)
class SlopeWeights:
    """Weights of a slope on its first regressor.

    Attributes:
        whole: (I,) weights; the slope of values d is their inner product.
        without: (G, I) weights of the slope without each battery, 0 at its items.
        battery: (I,) index of each item's battery.
        correlation: (I, I) working correlation of items.
    """

    whole: Array
    without: Array
    battery: NDArray[np.intp]
    correlation: Array

    @property
    def effective_batteries(self) -> float:
        """(sum q)^2 / sum q^2, q being the squared weights of a battery: how many batteries carry the slope."""
        q = np.bincount(self.battery, weights=self.whole**2)
        return float(q.sum() ** 2 / np.sum(q**2))

    @cached_property
    def _apart(self) -> Array:
        """(G, I) weights of what leaving out each battery does to the slope, scaled so that `variance` is unbiased.

        The squares of a plain jackknife are too large: by 13 % where 11 batteries count, by 23 % where six do.
        """
        apart = self.without - self.whole
        expected = np.einsum("gi,ij,gj->", apart, self.correlation, apart, optimize=True)
        return apart * np.sqrt(self.whole @ self.correlation @ self.whole / expected)

    def variance(self, values: Array) -> Array:
        """(...,) variance of the slope of (..., I) values, from leaving out one battery at a time.

        It is unbiased where the working correlation holds, and does not rest on it: a battery whose values move
        together more than others makes it larger.

        Source: Bell and McCaffrey (2002), Survey Methodology 28(2), 169-181 (jackknife over clusters, and why its bias
        is removed under a working correlation).
        """
        return np.sum((values @ self._apart.T) ** 2, axis=-1)


def slope_weights(regressors: Array, batteries: ArrayLike, within: float = WITHIN_BATTERY) -> SlopeWeights:
    """Weights of the slope on the first regressor, by generalised least squares.

    Args:
        regressors: (I, P) the regressor of interest, then those that are adjusted for.
        batteries: (I,) labels, two or more; items of one battery are correlated by `within`.

    Raises:
        MissingData: the first regressor does not vary beyond the others.
    """
    scaled = _scaled(regressors)
    battery = np.unique(np.asarray(batteries).astype(str), return_inverse=True)[1]
    member = battery == np.arange(battery.max() + 1)[:, None]
    correlation = np.where(member[battery], within, 0.0) + (1 - within) * np.eye(len(battery))
    weighted = scaled.T @ np.linalg.inv(correlation)
    by_battery = np.einsum("pi,gi,iq->gpq", weighted, member.astype(float), scaled, optimize=True)
    squares, size = by_battery.sum(axis=0), np.sqrt(np.mean(regressors[:, 0] ** 2))
    whole = np.linalg.pinv(squares, hermitian=True)[0] @ weighted
    left = np.linalg.pinv(squares - by_battery, hermitian=True)[:, 0] @ weighted
    return SlopeWeights(whole / size, np.where(member, 0.0, left) / size, battery, correlation)


def _scaled(regressors: Array) -> Array:
    """(I, P) regressors of mean square 1.

    Raises:
        MissingData: the first does not vary beyond the others.
    """
    sizes = np.sqrt(np.mean(regressors**2, axis=0))
    scaled = regressors / np.where(sizes > 0, sizes, 1.0)
    first, others = scaled[:, 0], scaled[:, 1:]
    left = first - others @ np.linalg.lstsq(others, first, rcond=None)[0]
    if not np.mean(left**2) > LEAST_OWN:
        raise MissingData("the direction does not vary over questions beyond response style")
    return scaled
