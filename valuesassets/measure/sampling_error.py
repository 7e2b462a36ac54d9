"""How far answers that were counted in a sample lie from the distribution they were drawn from, by chance alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from valuesassets.measure.arrays import Array

WORLDS = 200
"""Samples drawn to find mean and spread of the error."""
ALLOWED_SDS = 3.0
"""Standard deviations above its expectation that a mean error may lie before the draw alone is not to blame."""


@dataclass(frozen=True)
class Chance:
    """An absolute error as the draw alone makes it: its mean and standard deviation over samples."""

    mean: float
    sd: float


@dataclass(frozen=True)
class SamplingError:
    """Absolute errors of one question asked in two orders, if nothing but the draw is to blame.

    Attributes:
        distance: mean over both orders; W1 in scale units, or total variation.
        p_valid: mean over both orders.
        position_bias: of the largest difference between the orders.
    """

    distance: Chance
    p_valid: Chance
    position_bias: Chance


def allowed_mean(means: ArrayLike, sds: ArrayLike) -> float:
    """The largest mean error over some questions that is put down to the draw: its expectation and three sd.

    Args:
        means, sds: (n,) of the questions' errors by the draw alone; nulls are left out. Null where all are.

    >>> allowed_mean([0.02, 0.02, 0.02, 0.02], [0.01, 0.01, 0.01, 0.01])
    0.035
    """
    expected, spread = np.asarray(means, dtype=float), np.asarray(sds, dtype=float)
    is_known = np.isfinite(expected) & np.isfinite(spread)
    if not is_known.any():
        return float("nan")
    of_mean = np.sqrt(np.sum(spread[is_known] ** 2)) / is_known.sum()
    return float(expected[is_known].mean() + ALLOWED_SDS * of_mean)


def simulate_sampling_error(
    orders: Array,
    p_valid: tuple[float, float],
    values: Array | None,
    n: int,
    rng: np.random.Generator,
) -> SamplingError:
    """The errors to expect when `n` answers are drawn in each order and only the valid ones counted.

    Args:
        orders: (2, K) probabilities forward and reversed, on the original scale, each summing to 1.
        p_valid: probability of a valid answer in each order.
        values: (K,) places of the answers on the analysis scale, any order; None where they have none.

    >>> rng = np.random.default_rng(0)
    >>> error = simulate_sampling_error(np.array([[0.5, 0.5]] * 2), (1.0, 1.0), np.array([0.0, 1.0]), 10_000, rng)
    >>> round(error.distance.mean, 3), error.p_valid.mean  # sqrt(2 / pi * .25 / n) is .004
    (0.004, 0.0)
    """
    valid = np.array(p_valid)
    cells = np.column_stack([orders * valid[:, None], 1 - valid])
    counts = np.stack([rng.multinomial(n, row / row.sum(), size=WORLDS) for row in cells], axis=1)
    n_valid = counts[..., :-1].sum(axis=2)
    shares = counts[..., :-1] / np.maximum(n_valid, 1)[..., None]
    bias = np.abs(shares[:, 0] - shares[:, 1]).max(axis=1)
    return SamplingError(
        distance=_chance(_distances(shares - orders, values).mean(axis=1)),
        p_valid=_chance(np.abs(n_valid / n - valid).mean(axis=1)),
        position_bias=_chance(np.abs(bias - np.abs(orders[0] - orders[1]).max())),
    )


def _chance(errors: Array) -> Chance:
    return Chance(float(errors.mean()), float(errors.std(ddof=1)))


def _distances(differences: Array, values: Array | None) -> Array:
    """(...,) W1 in scale units, or total variation where there is no scale, of (..., K) differences."""
    if values is None:
        return np.abs(differences).sum(axis=-1) / 2
    order = np.argsort(values)
    unit = (values[order] - values[order][0]) / np.ptp(values)
    return np.abs(np.cumsum(differences[..., order], axis=-1)[..., :-1]) @ np.diff(unit)
