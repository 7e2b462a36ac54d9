"""Distances between answers, of one pair or of whole arrays. Each name ends in its unit: scale units, bits, or tvd.

Arrays hold answers along their last axis, (..., K); shorter scales are padded at the end with probability 0 and place
1, which changes no distance. NaN stands for an answer that is not there, and gives NaN.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from valuesassets.measure.arrays import Array
from valuesassets.records.errors import ScaleMismatch

KL_SMOOTHING = 1e-3
"""Share of a uniform answer mixed into the model's answer before `kl_bits_of`, unless another is declared."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """Probabilities of answers on a scale.

    Attributes:
        values: (K,) strictly increasing answer codes on the analysis scale.
        probs: (K,) non-negative, summing to 1.
    """

    values: Array
    probs: Array

    def __post_init__(self) -> None:
        if self.values.ndim != 1 or self.values.shape != self.probs.shape or self.values.size < 2:
            raise ScaleMismatch(f"{self.values.shape} values and {self.probs.shape} probabilities, two or more pairs")
        if not np.all(np.diff(self.values) > 0):
            raise ScaleMismatch(f"answer values {self.values.tolist()} do not increase")
        if not np.all(np.isfinite(self.probs)) or self.probs.min() < 0 or abs(self.probs.sum() - 1) > 1e-6:
            raise ScaleMismatch(f"{self.probs.tolist()} are not probabilities that sum to 1")


def distribution(values: ArrayLike, mass: ArrayLike) -> Distribution:
    """A distribution from answer codes in any order and non-negative mass, which is normalised.

    Raises:
        ScaleMismatch: no mass at all (never a uniform answer in its place), negative or non-finite mass, values repeat.

    >>> distribution([3, 1, 2], [1, 1, 2]).probs.tolist()
    [0.25, 0.5, 0.25]
    """
    scale, weight = np.asarray(values, dtype=float), np.asarray(mass, dtype=float)
    order = np.argsort(scale)
    total = weight.sum()
    if not np.isfinite(total) or total <= 0:
        raise ScaleMismatch(f"answer mass {weight.tolist()} sums to {total}: there is no distribution")
    return Distribution(scale[order], weight[order] / total)


def uniform_like(answer: Distribution) -> Distribution:
    """The uniform answer on the same scale."""
    return Distribution(answer.values, np.full(answer.values.size, 1 / answer.values.size))


def w1_unit_of(p: Array, q: Array, unit: Array) -> Array:
    """Earth mover's distances, (...), in scale units [0, 1].

    Args:
        p, q: (..., K) probabilities, each summing to 1 along the last axis; they broadcast.
        unit: (..., K) places of the answers on [0, 1], never decreasing.

    Source: Vallender (1974), Theory Probab. Appl. 18(4), 784-786 (the area between the two distribution functions).

    >>> w1_unit_of(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), np.array([0, 0.5, 1])).item()
    0.5
    """
    return np.einsum("...k,...k->...", np.abs(np.cumsum(p - q, axis=-1)[..., :-1]), np.diff(unit))


def tvd_of(p: Array, q: Array) -> Array:
    """Total variation distances, (...), in [0, 1]: the mass that has to move, wherever to."""
    return np.abs(p - q).sum(axis=-1) / 2


def jsd_bits_of(p: Array, q: Array) -> Array:
    """Jensen-Shannon divergences, (...), in bits, [0, 1].

    Source: Lin (1991), IEEE Trans. Inf. Theory 37(1), eq. 4.1, with equal weights.
    """
    both = entropy_bits_of((p + q) / 2) - (entropy_bits_of(p) + entropy_bits_of(q)) / 2
    return np.clip(both, 0, 1)


def jsd_distance_of(p: Array, q: Array) -> Array:
    """Jensen-Shannon distances, (...), in [0, 1]: root of the divergence in bits, a metric.

    Source: Endres and Schindelin (2003), IEEE Trans. Inf. Theory 49(7).
    """
    return np.sqrt(jsd_bits_of(p, q))


def jsd_bits_by_sampling(p: Array, q: Array, n: Array) -> Array:
    """What a sample adds to a Jensen-Shannon divergence by chance, (...), in bits.

    The divergence is convex in the sampled answer, so that samples of few lie further off than who they were drawn
    from, by (K - 1) / (8 n ln 2) where p is the truth. Two corrections agree to that order: half the curvature times
    q (1 - q) / n (Miller and Madow), and the jackknife, n - 1 times what leaving out one of the n adds in the mean. In
    the next order they err to opposite sides, by about a tenth of the bias with 60 people and ten options; their mean
    is taken.

    Args:
        p: (..., K) an answer that is known.
        q: (..., K) shares of a sample.
        n: (...) how many were drawn, over the design effect; infinity adds nothing, and of one nothing is known: NaN.

    Source: Miller (1955), Note on the bias of information estimates; Zahl (1977), Ecology 58(4), 907-913.

    >>> jsd_bits_by_sampling(np.array([0.5, 0.5]), np.array([0.5, 0.5]), np.array(100)).round(4).item()
    0.0018
    """
    size = np.asarray(n, dtype=float)[..., None]
    is_sample = np.isfinite(size) & (size > 1)
    size = np.where(is_sample, size, np.nan)
    # A little is added to every option: where nobody chose one, the curvature knows no bound.
    around = p + q + 0.2 / size
    curvature = (p * (1 - q) / around).sum(axis=-1) / (4 * np.log(2) * size[..., 0])
    fewer, one_less = q * size / (size - 1), np.maximum(q * size - 1, 0) / (size - 1)
    mean = (1 - q) * _jsd_parts(p, fewer) + q * _jsd_parts(p, one_less)
    left_out = ((size - 1) * (mean - _jsd_parts(p, q))).sum(axis=-1)
    return np.where(np.isposinf(np.asarray(n, dtype=float)), 0.0, (curvature + left_out) / 2)


def _jsd_parts(p: Array, q: Array) -> Array:
    """(..., K) what each option adds to a Jensen-Shannon divergence in bits."""
    x, y, both = (each * np.log2(np.where(each > 0, each, 1.0)) for each in (p, q, (p + q) / 2))
    return (x + y) / 2 - both


def entropy_bits_of(p: Array) -> Array:
    """Shannon entropies, (...), in bits; 0 log 0 is 0."""
    return -np.einsum("...k,...k->...", p, np.log2(np.where(p == 0, 1.0, p)))


def kl_bits_of(human: Array, model: Array, uniform: Array, smoothing: float = KL_SMOOTHING) -> Array:
    """Kullback-Leibler divergences KL(human || model), (...), in bits, at least 0.

    An answer that the model never gives would make it infinite; a declared share of a uniform answer is mixed into the
    model's answer first, so the value is at most log2(K / smoothing).

    Args:
        uniform: (..., K) the uniform answer on the same scale.
        smoothing: its share in the model's answer, in (0, 1).

    Raises:
        ScaleMismatch: smoothing is out of range.
    """
    if not 0 < smoothing < 1:
        raise ScaleMismatch(f"smoothing {smoothing}: a share between 0 and 1 was expected")
    given = human > 0
    smoothed = np.where(given, (1 - smoothing) * model + smoothing * uniform, 1.0)
    ratio = np.log2(np.where(given, human, 1.0)) - np.log2(smoothed)
    return np.maximum(np.einsum("...k,...k->...", human, ratio), 0)


def expected_unit_of(p: Array, unit: Array) -> Array:
    """Mean answers, (...), with the scale's ends at 0 and 1."""
    return np.einsum("...k,...k->...", p, unit)


def wasserstein1_unit(p: Distribution, q: Distribution) -> float:
    """Earth mover's distance between two answers, in scale units [0, 1].

    Raises:
        ScaleMismatch: the answers do not live on the same scale.

    >>> wasserstein1_unit(distribution([1, 2, 3], [1, 0, 0]), distribution([1, 2, 3], [0, 1, 0]))
    0.5
    """
    _require_same_scale(p, q)
    return float(w1_unit_of(p.probs, q.probs, (p.values - p.values[0]) / (p.values[-1] - p.values[0])))


def tvd(p: Distribution, q: Distribution) -> float:
    """Total variation distance in [0, 1]: the mass that has to move, wherever to. For scales without an order."""
    _require_same_scale(p, q)
    return float(tvd_of(p.probs, q.probs))


def _require_same_scale(p: Distribution, q: Distribution) -> None:
    if not np.array_equal(p.values, q.values):
        raise ScaleMismatch(f"different scales: {p.values.tolist()} and {q.values.tolist()}")
