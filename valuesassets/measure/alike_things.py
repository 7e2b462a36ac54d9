"""Design effects for means over related units: how much correlation within groups adds to the variance of a mean."""

from collections.abc import Sequence

import numpy as np

from valuesassets.measure.arrays import Array
from valuesassets.measure.relatedness import share_between


def share_alike(values: Array, groups: Sequence[str], axes: Sequence[str]) -> float:
    """Intraclass correlation of units within groups: share of the variance of (S, I) values within axes, 0 or more.

    Args:
        values: of S units, NaN where missing; the mean over the units of an axis is subtracted.
        groups: (S,) group of each unit; all units of a group are on the same axis.
        axes: (S,) axis of each unit.
    """
    deviations = np.full(values.shape, np.nan)
    for axis in dict.fromkeys(axes):
        is_on_axis = np.array([name == axis for name in axes])
        is_present = np.isfinite(values[is_on_axis])
        n = is_present.sum(axis=0)
        means = np.where(is_present, values[is_on_axis], 0).sum(axis=0) / np.maximum(n, 1)
        deviations[is_on_axis] = values[is_on_axis] - means
    units = np.flatnonzero(np.isfinite(deviations).any(axis=1)).tolist()
    return share_between(np.nan_to_num(deviations[units]), [groups[unit] for unit in units])


def inflation(groups: Sequence[str], share: float) -> float:
    """Design effect: the factor by which correlation within groups increases the variance of a mean.

    It is 1 where every unit is its own group.

    Args:
        groups: group of each unit.
        share: intraclass correlation within groups.

    Source: the design effect of Kish (1965), Survey Sampling, section 5.4.

    >>> inflation(["a", "a", "b"], 0.5)
    1.3333333333333333
    """
    sizes = np.unique(list(groups), return_counts=True)[1]
    return float(1 + share * (sizes * (sizes - 1)).sum() / max(sizes.sum(), 1))
