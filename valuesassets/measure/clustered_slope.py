"""A regression slope over items that come in batteries: items of one battery are correlated, batteries are not.

The slope is linear in the values. Its weights depend on the regressors alone, so that they are computed once and serve
all replicates, wordings and simulated values.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

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
        residual: (I, I) matrix that takes all regressors out of values.
    """

    whole: Array
    without: Array
    battery: Array
    residual: Array

    @property
    def effective_batteries(self) -> float:
        """(sum q)^2 / sum q^2, q being the squared weights of a battery: how many batteries carry the slope."""
        q = np.bincount(self.battery, weights=self.whole**2)
        return float(q.sum() ** 2 / np.sum(q**2))

    def variance(self, values: Array) -> Array:
        """(...,) jackknife variance of the slope of (..., I) values, which leaves out one battery at a time.

        Source: Bell and McCaffrey (2002), Survey Methodology 28(2), 169-181 (jackknife over clusters).
        """
        n = len(self.without)
        apart = values @ (self.without - self.whole).T
        return (n - 1) / n * np.sum(apart**2, axis=-1)


def slope_weights(regressors: Array, batteries: ArrayLike, within: float = WITHIN_BATTERY) -> SlopeWeights:
    """Weights of the slope on the first regressor, by generalised least squares.

    Args:
        regressors: (I, P) the regressor of interest, then those that are adjusted for.
        batteries: (I,) labels; items of one battery are correlated by `within`.

    Raises:
        MissingData: the first regressor does not vary beyond the others.
    """
    scaled = _scaled(regressors)
    battery: Any = np.unique(np.asarray(batteries).astype(str), return_inverse=True)[1]
    n = battery.max() + 1
    member = battery == np.arange(n)[:, None]
    inverse = _inverse(battery, member.sum(axis=1), within)
    weighted = scaled.T @ inverse
    by_battery = np.einsum("pi,gi,iq->gpq", weighted, member.astype(float), scaled, optimize=True)
    squares = by_battery.sum(axis=0)
    rows = np.linalg.pinv(squares, hermitian=True) @ weighted
    left = np.linalg.pinv(squares - by_battery, hermitian=True)[:, 0] @ weighted
    size = np.sqrt(np.mean(regressors[:, 0] ** 2))
    residual = np.eye(len(battery)) - scaled @ rows
    return SlopeWeights(rows[0] / size, np.where(member, 0.0, left) / size, battery, residual)


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


def _inverse(battery: Array, sizes: Array, within: float) -> Array:
    """(I, I) inverse of the working correlation: 1 on the diagonal, `within` inside batteries, 0 between them."""
    shrink = within / (1 - within + within * sizes)
    same = battery[:, None] == battery[None, :]
    return (np.eye(len(battery)) - same * shrink[battery][:, None]) / (1 - within)
