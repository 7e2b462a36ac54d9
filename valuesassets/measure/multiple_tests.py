"""p-values corrected for how many tests stand in one family."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import false_discovery_control

from valuesassets.measure.arrays import Array
from valuesassets.measure.resampling import ROUNDING
from valuesassets.records.errors import MissingData


def holm(p_values: ArrayLike) -> Array:
    """Adjusted p-values, (n,): rejecting those below alpha makes any false rejection at most alpha likely.

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
    """Adjusted p-values, (n,): of those below alpha at most a share alpha are false, for independent tests.

    Raises:
        MissingData: a p-value is not between 0 and 1.

    Source: Benjamini and Hochberg (1995), J. R. Stat. Soc. B 57(1), 289-300.
    """
    p = _checked(p_values)
    return p if p.size == 0 else np.asarray(false_discovery_control(p, method="bh"), dtype=float)


def step_down_p(observed: ArrayLike, by_chance: ArrayLike) -> Array:
    """Adjusted p-values, (T,): how often the largest of a test's statistic and all smaller ones is as large by chance.

    Tests that go together, or whose statistics cannot be large by chance, cost less than with Holm's factor, where all
    statistics have one scale. Each p is (1 + count) / (1 + B).

    Args:
        observed: (T,) statistics, large ones speak against chance.
        by_chance: (B, T) the same under labels that are exchanged for all tests at once, B >= 1.

    Raises:
        MissingData: no exchange at all.

    Source: Westfall and Young (1993), Resampling-Based Multiple Testing, section 2.6 (step-down maxT).

    >>> step_down_p([3.0, 2.0], [[1.0, 1.0], [2.5, 0.0], [0.0, 2.0]]).tolist()
    [0.25, 0.5]
    """
    found, chance = np.asarray(observed, dtype=float), np.asarray(by_chance, dtype=float)
    if chance.ndim != 2 or not len(chance):
        raise MissingData("a permutation p-value needs at least one permutation")
    order = np.argsort(-found, kind="stable")
    largest = np.maximum.accumulate(chance[:, order][:, ::-1], axis=1)[:, ::-1]
    reached = largest >= found[order] - ROUNDING * np.maximum(1.0, np.abs(found[order]))
    adjusted = np.empty_like(found)
    adjusted[order] = np.maximum.accumulate((1 + reached.sum(axis=0)) / (1 + len(chance)))
    return adjusted


def tail_shares(observed: ArrayLike, by_chance: ArrayLike) -> tuple[Array, Array]:
    """Of each test how large a share of all labellings, the observed one among them, has a statistic at least as large.

    The smallest of such shares compares tests whose statistics have no scale in common (`step_down_p` of their
    negatives: Westfall and Young's minP).

    Args:
        observed: (T,) statistics.
        by_chance: (B, T) the same under exchanged labels.

    Returns:
        (T,) of the observed labels, which are p-values, and (B, T) of the exchanged ones.

    >>> observed, by_chance = tail_shares([2.0], [[1.0], [2.0], [3.0]])
    >>> observed.tolist(), by_chance.ravel().tolist()
    ([0.75], [1.0, 0.75, 0.25])
    """
    whole = np.vstack([np.asarray(observed, dtype=float), np.asarray(by_chance, dtype=float)])
    slack = ROUNDING * np.maximum(1.0, np.abs(whole))
    below = [np.searchsorted(np.sort(each), each - off, "left") for each, off in zip(whole.T, slack.T, strict=True)]
    shares = 1 - np.transpose(below) / len(whole)
    return shares[0], shares[1:]


CORRECTIONS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}


def _checked(p_values: ArrayLike) -> Array:
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not np.all((p >= 0) & (p <= 1)):
        raise MissingData(f"a family of tests needs p-values between 0 and 1, found {p.tolist()}")
    return p
