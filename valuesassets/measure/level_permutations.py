"""Permutation test of whether two sides covary over groups, by exchanging the levels of the factors.

Groups are combinations of levels, and the effect of a level is shared by all its groups. Permuting single groups would
break up these shared effects: the null distribution would be too narrow, and unrelated sides would seem to covary.
"""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.measure.resampling import ROUNDING

FEWEST = 20
"""With fewer arrangements no p-value can be .05."""


def level_arrangements(levels: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """(N, G) index of the group that replaces each group when the levels of all factors are permuted in every way.

    The first row is the identity. -1 marks a combination of levels that is not a group.

    Args:
        levels: (G, F) level of each group by factor; combinations differ.

    >>> level_arrangements([("a", "x"), ("a", "y"), ("b", "x")]).tolist()
    [[0, 1, 2], [1, 0, -1], [2, -1, 0], [-1, 2, 1]]
    """
    factors = [list(dict.fromkeys(factor)) for factor in zip(*levels, strict=True)]
    codes = np.array([[names.index(level) for level, names in zip(row, factors, strict=True)] for row in levels])
    sizes = [len(names) for names in factors]
    strides = np.cumprod([1, *sizes[:0:-1]])[::-1]
    place = np.full(int(np.prod(sizes)), -1, dtype=np.int64)
    place[codes @ strides] = np.arange(len(levels))
    cells_by_factor = [
        np.array(list(itertools.permutations(range(size))))[:, codes[:, factor]] * strides[factor]
        for factor, size in enumerate(sizes)
    ]
    # all combinations of the factors' permutations; the first factor's permutation changes slowest
    cells = np.zeros((1, len(levels)), dtype=np.int64)
    for shifts in cells_by_factor:
        cells = (cells[:, None] + shifts[None]).reshape(-1, len(levels))
    return place[cells]


def arrangement_p(pairings: Array, a_lengths: Array, b_lengths: Array, arranged: NDArray[np.int64]) -> float:
    """One-sided p-value: the share of arrangements in which both sides covary at least as much as in the first one.

    The statistic is the sum over groups of the contributions of group g on one side and its replacement on the other.
    Pairs with a missing combination drop out; the sum is divided by the lengths of the remaining groups, so that
    arrangements with fewer pairs are equally extreme. Without missing combinations these lengths are constant.

    Args:
        pairings: (G, G) as `between_groups.pairings` returns them, summed over questions.
        a_lengths, b_lengths: (G, G) squared deviations from the mean of the row's group on side a and of the column's
            group on side b, summed over the same questions; a question without the pair adds nothing to any of them.
        arranged: (N, G) arrangements, the first row the identity.

    Source: Good (2005), Permutation, Parametric, and Bootstrap Tests of Hypotheses, section 3.1. All arrangements are
    counted, including the observed one.
    """
    is_group = arranged >= 0
    partner = np.where(is_group, arranged, 0)
    places = np.arange(arranged.shape[1])
    sums, sums_a, sums_b = (
        np.where(is_group, each[places, partner], 0).sum(axis=1) for each in (pairings, a_lengths, b_lengths)
    )
    lengths = sums_a * sums_b
    cosines = np.divide(sums, np.sqrt(lengths), out=np.zeros_like(sums), where=lengths > 0)
    return float(np.mean(cosines >= cosines[0] - ROUNDING * max(1.0, abs(cosines[0])) * 100))
