"""Distances between answer distributions, of one pair or of whole arrays.

Each name ends in its unit: scale units, bits, or tvd. The last axis of an array, (..., K), runs over the options.
Shorter scales are padded at the end with probability 0 at position 1, which changes no distance. A missing answer is
NaN and has distances of NaN.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from valuesassets.measure.arrays import Array
from valuesassets.records.errors import ScaleMismatch

KL_SMOOTHING = 1e-3
"""Default share of a uniform distribution that `kl_bits_of` mixes into the model's answers."""


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
            raise ScaleMismatch(
                f"answers have shapes {self.values.shape} (values) and {self.probs.shape} (probabilities); two or more "
                "values with one probability each were expected"
            )
        if not np.all(np.diff(self.values) > 0):
            raise ScaleMismatch(f"answer values {self.values.tolist()} do not increase")
        if not np.all(np.isfinite(self.probs)) or self.probs.min() < 0 or abs(self.probs.sum() - 1) > 1e-6:
            raise ScaleMismatch(f"{self.probs.tolist()} are not probabilities that sum to 1")


def distribution(values: ArrayLike, mass: ArrayLike) -> Distribution:
    """A distribution from answer codes in any order and non-negative mass, which is normalised to 1.

    Raises:
        ScaleMismatch: the mass is 0 (it is never replaced by a uniform answer), negative or not finite; values repeat.

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
        unit: (..., K) positions of the options on [0, 1], never decreasing.

    Source: Vallender (1974), Theory Probab. Appl. 18(4), 784-786 (the area between the two distribution functions).

    >>> w1_unit_of(np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), np.array([0, 0.5, 1])).item()
    0.5
    """
    return np.einsum("...k,...k->...", np.abs(np.cumsum(p - q, axis=-1)[..., :-1]), np.diff(unit))


def tvd_of(p: Array, q: Array) -> Array:
    """Total variation distances, (...), in [0, 1]: the probability mass that has to move, over any distance."""
    return np.abs(p - q).sum(axis=-1) / 2


def jsd_bits_of(p: Array, q: Array) -> Array:
    """Jensen-Shannon divergences, (...), in bits, [0, 1].

    Source: Lin (1991), IEEE Trans. Inf. Theory 37(1), eq. 4.1, with equal weights.
    """
    divergences = entropy_bits_of((p + q) / 2) - (entropy_bits_of(p) + entropy_bits_of(q)) / 2
    return np.clip(divergences, 0, 1)


def jsd_distance_of(p: Array, q: Array) -> Array:
    """Jensen-Shannon distances, (...), in [0, 1]: root of the divergence in bits, a metric.

    Source: Endres and Schindelin (2003), IEEE Trans. Inf. Theory 49(7).
    """
    return np.sqrt(jsd_bits_of(p, q))


def jsd_bits_by_sampling(p: Array, q: Array, n: Array) -> Array:
    """Sampling bias of a Jensen-Shannon divergence, (...), in bits.

    The divergence is convex in the sampled distribution, so that small samples lie too far from p: by
    (K - 1) / (8 n ln 2) where they were drawn from p. Two corrections agree to that order: half the curvature times
    q (1 - q) / n (Miller and Madow), and the jackknife, n - 1 times the mean change from leaving out one of the n. In
    the next order they err in opposite directions, by about a tenth of the bias with 60 people and ten options; the
    result is their mean.

    Args:
        p: (..., K) a distribution without sampling error.
        q: (..., K) shares in a sample.
        n: (...) sample size over the design effect; the bias is 0 for infinity and NaN for 1, where it is unknown.

    Source: Miller (1955), Note on the bias of information estimates; Zahl (1977), Ecology 58(4), 907-913.

    >>> jsd_bits_by_sampling(np.array([0.5, 0.5]), np.array([0.5, 0.5]), np.array(100)).round(4).item()
    0.0018
    """
    size = np.asarray(n, dtype=float)[..., None]
    is_sample = np.isfinite(size) & (size > 1)
    size = np.where(is_sample, size, np.nan)
    # A little is added to every option: without it the curvature is unbounded where nobody chose an option.
    around = p + q + 0.2 / size
    curvature = (p * (1 - q) / around).sum(axis=-1) / (4 * np.log(2) * size[..., 0])
    fewer, one_less = q * size / (size - 1), np.maximum(q * size - 1, 0) / (size - 1)
    mean = (1 - q) * _jsd_parts(p, fewer) + q * _jsd_parts(p, one_less)
    jackknife = ((size - 1) * (mean - _jsd_parts(p, q))).sum(axis=-1)
    return np.where(np.isposinf(np.asarray(n, dtype=float)), 0.0, (curvature + jackknife) / 2)


def _jsd_parts(p: Array, q: Array) -> Array:
    """(..., K) contribution of each option to a Jensen-Shannon divergence in bits."""
    x, y, both = (each * np.log2(np.where(each > 0, each, 1.0)) for each in (p, q, (p + q) / 2))
    return (x + y) / 2 - both


def entropy_bits_of(p: Array) -> Array:
    """Shannon entropies, (...), in bits; 0 log 0 is 0."""
    return -np.einsum("...k,...k->...", p, np.log2(np.where(p == 0, 1.0, p)))


def kl_bits_of(human: Array, model: Array, uniform: Array, smoothing: float = KL_SMOOTHING) -> Array:
    """Kullback-Leibler divergences KL(human || model), (...), in bits, at least 0.

    An option that the model never chooses would make it infinite. A share of a uniform distribution is therefore mixed
    into the model's answers first, so the value is at most log2(K / smoothing).

    Args:
        uniform: (..., K) the uniform distribution on the same scale.
        smoothing: the share of the uniform distribution, in (0, 1).

    Raises:
        ScaleMismatch: smoothing is out of range.
    """
    if not 0 < smoothing < 1:
        raise ScaleMismatch(f"smoothing {smoothing}: a share between 0 and 1 was expected")
    is_chosen = human > 0
    smoothed = np.where(is_chosen, (1 - smoothing) * model + smoothing * uniform, 1.0)
    ratio = np.log2(np.where(is_chosen, human, 1.0)) - np.log2(smoothed)
    return np.maximum(np.einsum("...k,...k->...", human, ratio), 0)


def expected_unit_of(p: Array, unit: Array) -> Array:
    """Mean answers, (...), with the scale's ends at 0 and 1."""
    return np.einsum("...k,...k->...", p, unit)


def wasserstein1_unit(p: Distribution, q: Distribution) -> float:
    """Earth mover's distance between two answers, in scale units [0, 1].

    Raises:
        ScaleMismatch: the answers have different scales.

    >>> wasserstein1_unit(distribution([1, 2, 3], [1, 0, 0]), distribution([1, 2, 3], [0, 1, 0]))
    0.5
    """
    _require_same_scale(p, q)
    return float(w1_unit_of(p.probs, q.probs, (p.values - p.values[0]) / (p.values[-1] - p.values[0])))


def tvd(p: Distribution, q: Distribution) -> float:
    """Total variation distance in [0, 1] between two answers, for scales without an order."""
    _require_same_scale(p, q)
    return float(tvd_of(p.probs, q.probs))


def _require_same_scale(p: Distribution, q: Distribution) -> None:
    if not np.array_equal(p.values, q.values):
        raise ScaleMismatch(f"different scales: {p.values.tolist()} and {q.values.tolist()}")
