"""Sampling error of answer distributions: how far sampled answers lie from the distribution they were drawn from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from valuesassets.measure.arrays import Array

SIMULATED_SAMPLES = 200
"""Simulated samples, from which the mean and standard deviation of the error are computed."""
ALLOWED_SDS = 3.0
"""Standard deviations above its expectation up to which a mean error is attributed to sampling."""


@dataclass(frozen=True)
class Chance:
    """Mean and standard deviation, over samples, of an absolute error that is due to sampling alone."""

    mean: float
    sd: float


@dataclass(frozen=True)
class SamplingError:
    """Absolute errors of a question that is asked in two orders, due to sampling alone.

    Attributes:
        distance: mean over both orders of W1 in scale units, or of total variation.
        p_valid: mean over both orders of the error of the probability of a valid answer.
        position_bias: error of the largest difference between the orders.
        averaged: the distance of answers averaged over both orders.
    """

    distance: Chance
    p_valid: Chance
    position_bias: Chance
    averaged: Chance


def allowed_mean(means: ArrayLike, sds: ArrayLike) -> float:
    """The largest mean error over questions that is attributed to sampling: its expectation plus three sd.

    Args:
        means, sds: (n,) mean and sd of each question's sampling error; NaN is left out. The result is NaN if all are.

    >>> allowed_mean([0.02, 0.02, 0.02, 0.02], [0.01, 0.01, 0.01, 0.01])
    0.035
    """
    expected, spread = np.asarray(means, dtype=float), np.asarray(sds, dtype=float)
    is_known = np.isfinite(expected) & np.isfinite(spread)
    if not is_known.any():
        return float("nan")
    sd_of_mean = np.sqrt(np.sum(spread[is_known] ** 2)) / is_known.sum()
    return float(expected[is_known].mean() + ALLOWED_SDS * sd_of_mean)


def simulate_sampling_error(
    orders: Array, p_valid: tuple[float, float], values: Array | None, n: int, rng: np.random.Generator
) -> SamplingError:
    """Sampling errors where `n` answers are drawn in each order and only the valid ones are counted.

    Args:
        orders: (2, K) probabilities forward and reversed, on the original scale, each summing to 1.
        p_valid: probability of a valid answer in each order.
        values: (K,) positions of the answers on the analysis scale, in any order; None for a scale without an order.

    >>> rng = np.random.default_rng(0)
    >>> error = simulate_sampling_error(np.array([[0.5, 0.5]] * 2), (1.0, 1.0), np.array([0.0, 1.0]), 10_000, rng)
    >>> round(error.distance.mean, 3), error.p_valid.mean  # sqrt(2 / pi * .25 / n) is .004
    (0.004, 0.0)
    """
    valid = np.array(p_valid)
    cells = np.column_stack([orders * valid[:, None], 1 - valid])
    counts = np.stack([rng.multinomial(n, row / row.sum(), size=SIMULATED_SAMPLES) for row in cells], axis=1)
    n_valid = counts[..., :-1].sum(axis=2)
    shares = counts[..., :-1] / np.maximum(n_valid, 1)[..., None]
    bias = np.abs(shares[:, 0] - shares[:, 1]).max(axis=1)
    return SamplingError(
        distance=_chance(_distances(shares - orders, values).mean(axis=1)),
        p_valid=_chance(np.abs(n_valid / n - valid).mean(axis=1)),
        position_bias=_chance(np.abs(bias - np.abs(orders[0] - orders[1]).max())),
        averaged=_chance(_distances((shares - orders).mean(axis=1), values)),
    )


def _chance(errors: Array) -> Chance:
    return Chance(float(errors.mean()), float(errors.std(ddof=1)))


def _distances(differences: Array, values: Array | None) -> Array:
    """(...,) W1 in scale units, or total variation for a scale without an order, of (..., K) differences."""
    if values is None:
        return np.abs(differences).sum(axis=-1) / 2
    order = np.argsort(values)
    unit = (values[order] - values[order][0]) / np.ptp(values)
    return np.abs(np.cumsum(differences[..., order], axis=-1)[..., :-1]) @ np.diff(unit)
