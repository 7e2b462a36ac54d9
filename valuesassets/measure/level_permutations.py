"""Do two sides move with the same levels? Levels of factors are exchanged, and groups move with them.

Groups are combinations of levels, and what a level does it does in all its groups. Groups exchanged freely would break
this up: chance then looks smaller than it is, and two sides that have nothing to do with each other are found alike.
"""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.measure.resampling import ROUNDING

FEWEST = 20
"""Arrangements below which no p-value can be .05."""


def level_arrangements(levels: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """(N, G) which group stands in each group's place when the levels of every factor are exchanged in every way.

    The first row leaves all as it is. -1 where the exchanged combination is no group.

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
    moved = [
        np.array(list(itertools.permutations(range(size))))[:, codes[:, factor]] * strides[factor]
        for factor, size in enumerate(sizes)
    ]
    # every way of one factor with every way of the others, the first factor's slowest
    cells = np.zeros((1, len(levels)), dtype=np.int64)
    for each in moved:
        cells = (cells[:, None] + each[None]).reshape(-1, len(levels))
    return place[cells]


def free_arrangements(n_groups: int, draws: int, random: np.random.Generator) -> NDArray[np.int64]:
    """(draws + 1, G) groups exchanged freely, the first as it is: what `level_arrangements` is compared with."""
    drawn = random.permuted(np.tile(np.arange(n_groups), (draws, 1)), axis=1)
    return np.concatenate([np.arange(n_groups)[None], drawn])


def arrangement_p(pairings: Array, a_lengths: Array, b_lengths: Array, arranged: NDArray[np.int64]) -> float:
    """One-sided p-value: the share of arrangements under which both sides move together at least as in the first.

    What is compared is the sum over groups of what group g of one side and the group that stands in its place on the
    other add. Where combinations are lacking, pairs with them drop out, and the sum is set against the lengths of what
    is left, so that arrangements with fewer pairs are no less extreme; otherwise these lengths are always the same.

    Args:
        pairings: (G, G) as `between_groups.pairings` gives them, summed over questions.
        a_lengths, b_lengths: (G, G) squared distances from the mean of the group in the row on side a and of the group
            in the column on side b, summed over the same questions: a pair that a question lacks adds to none of them.
        arranged: (N, G), the first row as it is.

    Source: Good (2005), Permutation, Parametric, and Bootstrap Tests of Hypotheses, section 3.1; all arrangements are
    counted, the one at hand among them.
    """
    there = arranged >= 0
    partner = np.where(there, arranged, 0)
    places = np.arange(arranged.shape[1])
    sums, of_a, of_b = (
        np.where(there, each[places, partner], 0).sum(axis=1) for each in (pairings, a_lengths, b_lengths)
    )
    lengths = of_a * of_b
    alike = np.divide(sums, np.sqrt(lengths), out=np.zeros_like(sums), where=lengths > 0)
    return float(np.mean(alike >= alike[0] - ROUNDING * max(1.0, abs(alike[0])) * 100))
