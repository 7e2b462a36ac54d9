"""p-values corrected for the number of tests in a family."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import false_discovery_control

from valuesassets.measure.arrays import Array
from valuesassets.measure.resampling import ROUNDING
from valuesassets.records.errors import MissingData


def holm(p_values: ArrayLike) -> Array:
    """Adjusted p-values, (n,): rejecting those below alpha keeps the probability of any false rejection at most alpha.

    Raises:
        MissingData: a p-value is not between 0 and 1.

    Source: Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _checked(p_values)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> Array:
    """Adjusted p-values, (n,): rejecting those below alpha keeps the false discovery rate at most alpha.

    This holds for independent tests.

    Raises:
        MissingData: a p-value is not between 0 and 1.

    Source: Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57(1), 289-300.
    """
    p = _checked(p_values)
    return p if p.size == 0 else np.asarray(false_discovery_control(p, method="bh"), dtype=float)


def step_down_p(observed: ArrayLike, by_chance: ArrayLike) -> Array:
    """Step-down maxT adjusted p-values, (T,), for statistics on a common scale.

    A statistic is compared with the largest one, in each permutation, among its own test and all tests with smaller
    statistics. Correlated tests, and tests whose statistics cannot be large by chance, lose less than by Holm's factor.
    Each p is (1 + count) / (1 + B).

    Args:
        observed: (T,) statistics; large values are evidence against the null hypothesis.
        by_chance: (B, T) statistics under permuted labels, the same permutation for all tests, B >= 1.

    Raises:
        MissingData: there is no permutation.

    Source: Westfall and Young (1993), Resampling-Based Multiple Testing, section 2.6 (step-down maxT).

    >>> step_down_p([3.0, 2.0], [[1.0, 1.0], [2.5, 0.0], [0.0, 2.0]]).tolist()
    [0.25, 0.5]
    """
    statistics, chance = np.asarray(observed, dtype=float), np.asarray(by_chance, dtype=float)
    if chance.ndim != 2 or not len(chance):
        raise MissingData("a permutation p-value needs at least one permutation")
    order = np.argsort(-statistics, kind="stable")
    largest = np.maximum.accumulate(chance[:, order][:, ::-1], axis=1)[:, ::-1]
    reached = largest >= statistics[order] - ROUNDING * np.maximum(1.0, np.abs(statistics[order]))
    adjusted = np.empty_like(statistics)
    adjusted[order] = np.maximum.accumulate((1 + reached.sum(axis=0)) / (1 + len(chance)))
    return adjusted


def tail_shares(observed: ArrayLike, by_chance: ArrayLike) -> tuple[Array, Array]:
    """Share of all labellings, including the observed one, whose statistic is at least as large, by test.

    These shares make statistics comparable that have no common scale: `step_down_p` of their negatives is Westfall and
    Young's minP.

    Args:
        observed: (T,) statistics.
        by_chance: (B, T) statistics under permuted labels.

    Returns:
        (T,) shares of the observed labels, which are p-values, and (B, T) shares of the permuted ones.

    >>> observed, by_chance = tail_shares([2.0], [[1.0], [2.0], [3.0]])
    >>> observed.tolist(), by_chance.ravel().tolist()
    ([0.75], [1.0, 0.75, 0.25])
    """
    whole = np.vstack([np.asarray(observed, dtype=float), np.asarray(by_chance, dtype=float)])
    slack = ROUNDING * np.maximum(1.0, np.abs(whole))
    below = [np.searchsorted(np.sort(test), test - off, "left") for test, off in zip(whole.T, slack.T, strict=True)]
    shares = 1 - np.transpose(below) / len(whole)
    return shares[0], shares[1:]


CORRECTIONS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}


def _checked(p_values: ArrayLike) -> Array:
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise MissingData(f"a family of tests needs p-values between 0 and 1, found {p.tolist()}")
    return p
