"""Permutation tests between two sets of related units, such as languages of related countries (Galton's problem).

Where both sets are similar within the same groups, related units would count as independent evidence, and the observed
pairing would seem better or worse than chance. Each pairing is therefore divided by the standard deviation of the
statistic that its own groups imply.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.resampling import labelled_p, permutation_p

MOST_SHARED = 0.99
"""Largest share of variance between groups: with a share of 1 differences within groups would be impossible."""

BATCH = 500
"""Pairings that are computed at once: each takes memory for the square of the number of rows."""


def share_between(profiles: Array, groups: Sequence[str]) -> float:
    """Intraclass correlation, pooled over I: share of the variance of (P, I) profiles that lies between groups of rows.

    It is estimated from mean squares, 0 to `MOST_SHARED`; 0 where no group has two rows or there is only one group.

    Args:
        profiles: NaN where missing; a missing value counts as its column's mean.
        groups: (P,) group of each row.

    Source: Donner and Koval (1980), Biometrics 36(1), 19-25 (analysis of variance with groups of unequal sizes).
    """
    names, group_of_row, sizes = np.unique(list(groups), return_inverse=True, return_counts=True)
    n, k = len(group_of_row), len(names)
    if not 1 < k < n:
        return 0.0
    deviations = np.nan_to_num(profiles - mean_of_known(profiles, axis=0))
    means = np.stack([deviations[group_of_row == group].mean(axis=0) for group in range(k)])
    within = float(np.sum((deviations - means[group_of_row]) ** 2)) / (n - k)
    between = float(np.sum(sizes[:, None] * (means - deviations.mean(axis=0)) ** 2)) / (k - 1)
    size = (n - np.sum(sizes**2) / n) / (k - 1)
    total = between + (size - 1) * within
    return float(np.clip((between - within) / total, 0, MOST_SHARED)) if total > 0 else 0.0


def spreads(a: Array, b: Array, groups: Sequence[str], pairings: NDArray[np.intp]) -> Array:
    """Standard deviation of the sum of products of two independent sets under each pairing, (N,), up to a constant.

    Rows of the same group correlate by the share of variance between groups, estimated separately in each set. Columns
    do not matter, because they are the same under each pairing.

    Args:
        a, b: (P, I) profiles, centred on columns; row p of `a` belongs to row p of `b`.
        groups: (P,) group of each row of both sets.
        pairings: (N, P) rows of `b` that are paired with the rows of `a`.

    Source: the variance of a covariance of two autocorrelated variables, Clifford, Richardson and Hémon (1989),
    Biometrics 45(1), 123-134.
    """
    names = np.asarray(list(groups))
    is_same_group = (names[:, None] == names[None, :]).astype(float)
    cov_a, cov_b = (_centred(is_same_group, share_between(profiles, groups)) for profiles in (a, b))
    parts = np.array_split(pairings, range(BATCH, len(pairings), BATCH))
    sums = [np.einsum("pq,npq->n", cov_a, cov_b[part[:, :, None], part[:, None, :]]) for part in parts]
    return np.sqrt(np.concatenate(sums))


def related_p(
    observed: float,
    chance: Array,
    profiles: tuple[Array, Array],
    pairings: NDArray[np.intp],
    is_all: bool,
    groupings: Mapping[str, Sequence[str]],
) -> dict[str, float]:
    """One-sided p-value of the observed pairing by kind of group; statistics are divided by their standard deviations.

    Deviations are from the mean over all pairings, which is not 0 where columns differ in their means.

    Args:
        observed: the sum of products, or the correlation, of the observed pairing.
        chance: (N,) the statistic under each of the other pairings.
        profiles: both sets, see `spreads`.
        is_all: whether `pairings` are all possible ones, including the observed one.
        groupings: by kind of group, the group of each row.
    """
    identity = np.arange(pairings.shape[1])[None, :]
    p_by_kind = {}
    for kind, groups in groupings.items():
        observed_sd, chance_sds = (spreads(*profiles, groups, each) for each in (identity, pairings))
        middle = chance.mean()
        p_by_kind[kind] = labelled_p((observed - middle) / observed_sd.item(), (chance - middle) / chance_sds, is_all)
    return p_by_kind


def related_sign_p(
    differences: Array, groups: Sequence[str], share: float, draws: int, random: np.random.Generator
) -> float:
    """Two-sided p-value of a sign test with correlated differences within groups, from simulated normal values.

    Args:
        differences: (P,), zeros are left out.
        groups: (P,) group of each difference.
        share: share of the differences' variance that lies between groups.
    """
    is_kept = differences != 0
    group_of_row = np.unique(np.asarray(list(groups))[is_kept], return_inverse=True)[1]
    shared = random.standard_normal((draws, len(groups)))[:, group_of_row]
    independent = random.standard_normal((draws, group_of_row.size))
    signs = np.sign(np.sqrt(share) * shared + np.sqrt(1 - share) * independent)
    return permutation_p(abs(np.sign(differences).sum()), np.abs(signs.sum(axis=1)))


def _centred(is_same_group: Array, share: float) -> Array:
    covariance = share * is_same_group + (1 - share) * np.eye(len(is_same_group))
    deviations = covariance - covariance.mean(axis=0)
    return deviations - deviations.mean(axis=1, keepdims=True)


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
