"""Tests of a mean over things of which some are alike: by what its variance is larger than that of unrelated things."""

from collections.abc import Sequence

import numpy as np

from valuesassets.measure.arrays import Array
from valuesassets.measure.relatedness import share_between


def share_alike(values: Array, groups: Sequence[str], axes: Sequence[str]) -> float:
    """Share of the variance of (S, I) values within axes that the things of a group have in common, 0 or more.

    Args:
        values: what varies by chance, NaN where missing; what all things of an axis share is taken off.
        groups: of each thing; no group has things of two axes.
        axes: of each thing.
    """
    off = np.full(values.shape, np.nan)
    for axis in dict.fromkeys(axes):
        here = np.array([each == axis for each in axes])
        known = np.isfinite(values[here])
        n = known.sum(axis=0)
        off[here] = values[here] - np.where(known, values[here], 0).sum(axis=0) / np.maximum(n, 1)
    is_known = np.flatnonzero(np.isfinite(off).any(axis=1)).tolist()
    return share_between(np.nan_to_num(off[is_known]), [groups[place] for place in is_known])


def inflation(groups: Sequence[str], share: float) -> float:
    """By what factor the variance of a mean grows where things of a group correlate by `share`: 1 where all are alone.

    Source: the design effect of Kish (1965), Survey Sampling, section 5.4.

    >>> inflation(["a", "a", "b"], 0.5)
    1.3333333333333333
    """
    sizes = np.unique(list(groups), return_counts=True)[1]
    return float(1 + share * (sizes * (sizes - 1)).sum() / max(sizes.sum(), 1))
