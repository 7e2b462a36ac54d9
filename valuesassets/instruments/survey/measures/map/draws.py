"""What drawing does to the points of the map, where answers are shares of draws."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.survey.material.indicators import INDICATORS
from valuesassets.instruments.survey.measures.map.answers import PARTS, SLOTS_OF, indicator_means
from valuesassets.measure.seeding import seeded

Array = NDArray[np.float64]
N_READ = ("n_read_forward", "n_read_reversed")
"""Columns of the numbers of draws that are an option, in each order."""
REDRAWN = 200
"""Samples that are drawn again of each set of answers."""


def noise_of_means(sets: pd.DataFrame, probs: Array, n_read: Array) -> Array:
    """(n, V, 10) variance of the indicator means of each set of answers in each order, by drawing; 0 where exact.

    Samples are drawn again from the shares, with one draw fewer: shares of m draws vary less than the probabilities
    that they estimate, by (m - 1) / m.

    Args:
        sets: names of the n sets of answers.
        probs: (n, V, slots) shares in each of V orders.
        n_read: (n, V, slots) draws that are an option; 0 or nan where probabilities were read.
    """
    noise = np.zeros((*probs.shape[:2], len(INDICATORS)))
    for place, name in enumerate(sets.itertuples(index=False)):
        random = seeded("map", "draws", *name)
        for order in np.flatnonzero((n_read[place] > 1).any(axis=-1)).tolist():
            redrawn = _redrawn(probs[place, order], n_read[place, order], random)
            noise[place, order] = np.nan_to_num(redrawn.var(axis=0, ddof=1))
    return noise


def _redrawn(shares: Array, n: Array, random: np.random.Generator) -> Array:
    """(REDRAWN, 10) indicator means of samples of the same size less one."""
    again = np.tile(shares, (REDRAWN, 1))
    for part in PARTS:
        _draw_again(again, SLOTS_OF[part], n, random)
    return indicator_means(again)


def _draw_again(again: Array, slots: Sequence[int], n: Array, random: np.random.Generator) -> None:
    """Replace the shares of one question by those of new samples, where it was drawn."""
    m, shares = n[slots[0]], again[0, slots]
    if not m > 1 or np.isnan(shares).any():
        return
    again[:, slots] = random.multinomial(int(m) - 1, shares / shares.sum(), size=len(again)) / (int(m) - 1)
