"""Bounds on labels' shares where a model behind an API shows only part of its probabilities."""

import math
from collections.abc import Sequence


def bound_shares(
    low: Sequence[float], high: Sequence[float], p_valid: float, p_valid_high: float
) -> list[tuple[float, float]]:
    """The lowest and highest share that each label can have of all labels' probability.

    The hidden probability may belong to any label, but only once: what one label gains, the others cannot.

    Args:
        low, high: (K,) bounds of each label's probability.
        p_valid, p_valid_high: bounds of their sum.

    >>> bound_shares([0.6, 0.3], [0.65, 0.35], 0.9, 0.95)
    [(0.631578947368421, 0.6842105263157895), (0.3157894736842105, 0.3684210526315789)]

    Hidden probability within the bounds of the first label belongs to it alone; no other label can gain from it.

    >>> bound_shares([0.5, 0.3], [0.6, 0.3], 0.8, 0.95)[0]
    (0.625, 0.6666666666666666)
    """
    spare = [top - bottom for bottom, top in zip(low, high, strict=True)]
    total, all_spare = p_valid_high - p_valid, math.fsum(spare)
    bounds = []
    for bottom, gain in zip(low, spare, strict=True):
        others = min(total, all_spare - gain)
        least = bottom / (p_valid + others) if p_valid + others > 0 else 0.0
        most = (bottom + gain) / (p_valid + gain) if p_valid + gain > 0 else 1.0
        bounds.append((least, most))
    return bounds


def bound_mean(shares: Sequence[tuple[float, float]], values: Sequence[float]) -> tuple[float, float]:
    """The lowest and highest mean of values over shares that lie in their bounds and sum to 1.

    >>> bound_mean([(0.5, 0.75), (0.25, 0.5)], [1, 2])
    (1.25, 1.5)
    """
    order = sorted(range(len(values)), key=lambda label: values[label])
    return _mean_towards(order, shares, values), _mean_towards(order[::-1], shares, values)


def _mean_towards(order: Sequence[int], shares: Sequence[tuple[float, float]], values: Sequence[float]) -> float:
    """The mean where the values that come first in `order` have as much weight as their bounds allow."""
    weights = [low for low, _ in shares]
    rest = 1 - math.fsum(weights)
    for label in order:
        more = min(max(rest, 0.0), shares[label][1] - weights[label])
        weights[label] += more
        rest -= more
    return math.fsum(share * value for share, value in zip(weights, values, strict=True)) / math.fsum(weights)
