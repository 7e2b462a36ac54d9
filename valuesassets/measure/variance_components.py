"""Variance components of a fully crossed random design with gaps, and the generalizability of averages.

Each value is y = mu + sum of the effects of every subset of factors (language, item, language x item and so on), all
random and uncorrelated. For two values that share the levels of exactly the factors in a set S, half the squared
difference has the expectation sum over T not within S of sigma_T^2. Differences between means of such squares are
unbiased estimates of every component if values are missing at random.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from valuesassets.measure.arrays import Array
from valuesassets.records.errors import MissingData

Effect = frozenset[str]


def subsets(factors: Sequence[str]) -> list[Effect]:
    """All sets of factors, smallest first; the empty set stands for the mean.

    >>> [sorted(each) for each in subsets(["a", "b"])]
    [[], ['a'], ['b'], ['a', 'b']]
    """
    return [frozenset(each) for size in range(len(factors) + 1) for each in combinations(factors, size)]


def variance_components(
    values: Array, factors: Sequence[str], weighted: str | None = None, weights: Array | None = None
) -> dict[Effect, Array]:
    """Unbiased estimate of the variance of every effect, which can be negative by chance.

    Args:
        values: one axis per factor; NaN where missing. A factor with one level is left out: its effects are part of
            those of the other factors.
        weighted: the factor whose levels are resampled; copies of a level count as different levels.
        weights: (draws, levels of that factor) number of times that each level occurs in each sample; by default once.

    Returns:
        (draws,) estimates by effect, (1,) without weights. The effect of all factors holds the error as well.

    Raises:
        MissingData: no pair of values shares exactly the levels of an effect's factors, so it cannot be estimated.

    Source: Koch (1968), Technometrics 10(3), 551-558 (sums of squared differences); for balanced designs equal to the
    analysis of variance (Searle, Casella and McCulloch 1992, Variance Components, chapter 11).

    >>> effects = variance_components(np.array([[0.0, 1.0], [2.0, 3.0]]), ["language", "item"])
    >>> {"+".join(sorted(effect)): round(float(value[0]), 3) for effect, value in effects.items()}
    {'language': 2.0, 'item': 0.5, 'item+language': 0.0}
    """
    if values.size == 0:
        raise MissingData(f"no value for any level of {', '.join(factors)}")
    varying = [name for name, size in zip(factors, values.shape, strict=True) if size > 1]
    array = values.reshape([size for size in values.shape if size > 1])
    if not varying:
        raise MissingData(f"no factor of {', '.join(factors)} has two levels: nothing varies")
    is_present = np.isfinite(array)
    if not is_present.any():
        raise MissingData(f"no value for any level of {', '.join(varying)}")
    array = np.where(is_present, array - array[is_present].mean(), 0)  # centred for numerical precision only
    place = varying.index(weighted) if weights is not None and weighted in varying else None
    draws = np.ones((1, 1)) if weights is None else weights
    effects = subsets(varying)
    squares, pairs = {}, {}
    for effect in effects:
        axes = [varying.index(name) for name in effect]
        present = is_present.astype(float)
        squares[effect], pairs[effect] = (
            _shared(array, array, axes, place, draws) - _shared(array**2, present, axes, place, draws),
            _shared(present, present, axes, place, draws),
        )
    # From pairs that share at least the levels of a set of factors to pairs that share exactly these, largest first.
    for effect in reversed(effects):
        for larger in effects:
            if effect < larger:
                squares[effect] = squares[effect] - squares[larger]
                pairs[effect] = pairs[effect] - pairs[larger]
    expected: dict[Effect, Array] = {}
    for effect in effects:
        if np.any(pairs[effect] < 0.5):
            raise MissingData(
                f"no two values share {' and '.join(sorted(effect)) or 'nothing'} alone, so that the variance there "
                "cannot be distinguished"
            )
        expected[effect] = squares[effect] / pairs[effect]
    components: dict[Effect, Array] = {}
    for effect in effects:
        components[effect] = expected[effect] - sum(components[smaller] for smaller in effects if smaller < effect)
    return {effect: components[effect] for effect in effects if effect}


def _shared(one: Array, other: Array, axes: Sequence[int], place: int | None, draws: Array) -> Array:
    """(draws,) sum of products of both arrays over all ordered pairs of values that share the levels of the axes."""
    others = tuple(axis for axis in range(one.ndim) if axis not in axes and axis != place)
    if place is None:
        return np.array([np.sum(one.sum(axis=others) * other.sum(axis=others))])
    a, b = (
        np.moveaxis(each.sum(axis=others, keepdims=True), place, -1).reshape(-1, one.shape[place])
        for each in (one, other)
    )
    if place in axes:
        return draws @ np.sum(a * b, axis=0)
    return np.sum((draws @ a.T) * (draws @ b.T), axis=1)


def generalizability(
    components: Mapping[Effect, Array], wanted: Sequence[Effect], error: Mapping[Effect, int]
) -> Array:
    """Generalizability coefficient: share of the variance of averages that would replicate in other conditions.

    Args:
        wanted: effects that the averages are meant to measure.
        error: effects that count as error, with the number of conditions that each is averaged over.

    Returns:
        (draws,) in [0, 1]. Negative components count as 0; the result is 0 where nothing varies.

    Source: Brennan (2001), Generalizability Theory, section 4.1 (coefficient for relative decisions), after Cronbach,
    Gleser, Nanda and Rajaratnam (1972).
    """
    zero = np.zeros_like(next(iter(components.values())))
    signal = np.maximum(sum((components.get(each, zero) for each in wanted), zero), 0)
    noise = sum((np.maximum(components.get(each, zero), 0) / n for each, n in error.items()), zero)
    total = signal + noise
    return np.where(total > 0, signal / np.where(total > 0, total, 1), 0.0)
