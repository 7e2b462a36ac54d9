"""How far answers that were counted in a sample lie from the distribution they were drawn from, by chance alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WORLDS = 200
"""Samples drawn to find the mean error."""


@dataclass(frozen=True)
class SamplingError:
    """Mean absolute errors of one question asked in two orders, if nothing but the draw is to blame.

    Attributes:
        distance: mean over forward, reversed and averaged answers; W1 in scale units, or total variation.
        p_valid: mean over both orders.
        position_bias: of the largest difference between the orders.
    """

    distance: float
    p_valid: float
    position_bias: float


def simulate_sampling_error(
    orders: NDArray[np.float64],
    p_valid: tuple[float, float],
    values: NDArray[np.float64] | None,
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
    >>> round(error.distance, 3), error.p_valid  # sqrt(2 / pi * .25 / n) is .004; the average of two is nearer
    (0.004, 0.0)
    """
    valid = np.array(p_valid)
    cells = np.column_stack([orders * valid[:, None], 1 - valid])
    counts = np.stack([rng.multinomial(n, row / row.sum(), size=WORLDS) for row in cells], axis=1)
    n_valid = counts[..., :-1].sum(axis=2)
    shares = counts[..., :-1] / np.maximum(n_valid, 1)[..., None]
    found = np.concatenate([shares, shares.mean(axis=1, keepdims=True)], axis=1)
    wanted = np.concatenate([orders, orders.mean(axis=0, keepdims=True)])
    bias = np.abs(shares[:, 0] - shares[:, 1]).max(axis=1)
    return SamplingError(
        distance=float(_distances(found - wanted, values).mean()),
        p_valid=float(np.abs(n_valid / n - valid).mean()),
        position_bias=float(np.abs(bias - np.abs(orders[0] - orders[1]).max()).mean()),
    )


def _distances(differences: NDArray[np.float64], values: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """(...,) W1 in scale units, or total variation where there is no scale, of (..., K) differences."""
    if values is None:
        return np.abs(differences).sum(axis=-1) / 2
    order = np.argsort(values)
    unit = (values[order] - values[order][0]) / np.ptp(values)
    return np.abs(np.cumsum(differences[..., order], axis=-1)[..., :-1]) @ np.diff(unit)
