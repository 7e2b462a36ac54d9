"""Distances between two answer distributions. Each name ends in its unit: scale units, bits, or total variation."""

import numpy as np
from numpy.typing import NDArray

from valuesassets.records.distribution import Distribution
from valuesassets.records.errors import ScaleMismatch

KL_SMOOTHING = 1e-3
"""Share of a uniform answer mixed into the model's answer before `kl_bits`, unless another is declared."""


def wasserstein1_unit(p: Distribution, q: Distribution) -> float:
    """Earth mover's distance between two answers, in scale units [0, 1].

    Raises:
        ScaleMismatch: the answers do not live on the same scale.

    >>> from valuesassets.records.distribution import distribution
    >>> wasserstein1_unit(distribution([1, 2, 3], [1, 0, 0]), distribution([1, 2, 3], [0, 1, 0]))
    0.5
    """
    _require_same_scale(p, q)
    unit = (p.values - p.values[0]) / (p.values[-1] - p.values[0])
    return float(np.abs(np.cumsum(p.probs - q.probs)[:-1]) @ np.diff(unit))


def tvd(p: Distribution, q: Distribution) -> float:
    """Total variation distance in [0, 1]: the mass that has to move, wherever to. For scales without an order."""
    _require_same_scale(p, q)
    return float(np.abs(p.probs - q.probs).sum() / 2)


def jsd_bits(p: Distribution, q: Distribution) -> float:
    """Jensen-Shannon divergence in bits, [0, 1]. Not a metric: see `jsd_distance`.

    Source: Lin (1991), IEEE Trans. Inf. Theory 37(1), eq. 4.1, with equal weights.
    """
    _require_same_scale(p, q)
    middle = (p.probs + q.probs) / 2
    divergence = (_relative_entropy_bits(p.probs, middle) + _relative_entropy_bits(q.probs, middle)) / 2
    return float(min(max(divergence, 0.0), 1.0))


def jsd_distance(p: Distribution, q: Distribution) -> float:
    """Jensen-Shannon distance in [0, 1]: root of the divergence in bits, a metric (matrices and MDS use it).

    Source: Endres and Schindelin (2003), IEEE Trans. Inf. Theory 49(7).
    """
    return float(np.sqrt(jsd_bits(p, q)))


def kl_bits(human: Distribution, model: Distribution, smoothing: float = KL_SMOOTHING) -> float:
    """Kullback-Leibler divergence KL(human || model) in bits, at least 0.

    An answer that the model never gives would make it infinite; a declared share of a uniform answer is mixed into the
    model's answer first, so the value is at most log2(K / smoothing).

    Args:
        smoothing: that share, in (0, 1).

    Raises:
        ScaleMismatch: the answers do not live on the same scale, or smoothing is out of range.
    """
    _require_same_scale(human, model)
    if not 0 < smoothing < 1:
        raise ScaleMismatch(f"smoothing {smoothing}: a share between 0 and 1 was expected")
    smoothed = (1 - smoothing) * model.probs + smoothing / model.probs.size
    return float(max(_relative_entropy_bits(human.probs, smoothed), 0.0))


def _relative_entropy_bits(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    given = p > 0
    return float(np.sum(p[given] * (np.log2(p[given]) - np.log2(q[given]))))


def _require_same_scale(p: Distribution, q: Distribution) -> None:
    if not np.array_equal(p.values, q.values):
        raise ScaleMismatch(f"different scales: {p.values.tolist()} and {q.values.tolist()}")
