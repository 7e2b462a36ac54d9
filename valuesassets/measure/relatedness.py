"""Permutation tests between two sets of related things, such as languages whose countries have much in common.

That two sets are alike within the same groups makes the pairing at hand look better, or worse, than chance: related
things count as independent ones (Galton's problem). Each pairing is therefore measured against the spread that its own
groups give the statistic.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.resampling import labelled_p, permutation_p

MOST_SHARED = 0.99
"""Largest share of variance between groups: with all of it a difference within a group would be impossible."""

BATCH = 500
"""Pairings at a time: they take the square of the number of rows each."""


def share_between(profiles: Array, groups: Sequence[str]) -> float:
    """Share of the variance of (P, I) profiles that lies between groups of rows: intraclass correlation, pooled over I.

    Estimated from mean squares, 0 to `MOST_SHARED`; 0 where no group has two rows or there is but one group.

    Args:
        profiles: NaN where missing: such a value counts as its column's mean.

    Source: Donner and Koval (1980), Biometrics 36(1), 19-25 (analysis of variance with groups of unequal sizes).
    """
    names, of_row, sizes = np.unique(list(groups), return_inverse=True, return_counts=True)
    n, k = len(of_row), len(names)
    if not 1 < k < n:
        return 0.0
    known = np.nan_to_num(profiles - mean_of_known(profiles, axis=0))
    means = np.stack([known[of_row == group].mean(axis=0) for group in range(k)])
    within = float(np.sum((known - means[of_row]) ** 2)) / (n - k)
    between = float(np.sum(sizes[:, None] * (means - known.mean(axis=0)) ** 2)) / (k - 1)
    size = (n - np.sum(sizes**2) / n) / (k - 1)
    total = between + (size - 1) * within
    return float(np.clip((between - within) / total, 0, MOST_SHARED)) if total > 0 else 0.0


def spreads(a: Array, b: Array, groups: Sequence[str], pairings: NDArray[np.intp]) -> Array:
    """Standard deviation, up to one factor, of the sum of products of two independent sets under each pairing, (N,).

    Rows of one group correlate by the share of variance between groups, estimated apart in each set; columns do not
    matter, as they are the same under each pairing.

    Args:
        a, b: (P, I) profiles, centred on columns.
        groups: of the P rows of both sets: row p of `a` belongs to row p of `b`.
        pairings: (N, P) rows of `b` that the rows of `a` meet.

    Source: the variance of a covariance of two autocorrelated variables, Clifford, Richardson and Hémon (1989),
    Biometrics 45(1), 123-134.
    """
    names = np.asarray(list(groups))
    alike = (names[:, None] == names[None, :]).astype(float)
    one, other = (_centred(alike, share_between(profiles, groups)) for profiles in (a, b))
    parts = np.array_split(pairings, range(BATCH, len(pairings), BATCH))
    sums = [np.einsum("pq,npq->n", one, other[part[:, :, None], part[:, None, :]]) for part in parts]
    return np.sqrt(np.concatenate(sums))


def related_p(
    observed: float,
    chance: Array,
    profiles: tuple[Array, Array],
    pairings: NDArray[np.intp],
    is_all: bool,
    groupings: Mapping[str, Sequence[str]],
) -> dict[str, float]:
    """One-sided p-value of the pairing at hand by kind of group, each pairing measured against its own spread.

    The spread is about the mean of all pairings, which is not 0 where columns differ in their means.

    Args:
        observed: the sum of products, or the correlation, of the pairing at hand.
        chance: (N,) the same under each of the other pairings.
        profiles: both sets, see `spreads`.
        is_all: whether `pairings` are all that there are, the one at hand among them.
        groupings: by kind, the group of each row.
    """
    own = np.arange(pairings.shape[1])[None, :]
    found = {}
    for kind, groups in groupings.items():
        of_own, of_others = (spreads(*profiles, groups, each) for each in (own, pairings))
        middle = chance.mean()
        found[kind] = labelled_p((observed - middle) / of_own.item(), (chance - middle) / of_others, is_all)
    return found


def related_sign_p(
    differences: Array, groups: Sequence[str], share: float, draws: int, random: np.random.Generator
) -> float:
    """Two-sided p-value of a sign test of differences that are alike within groups: signs of drawn normal values.

    Args:
        differences: (P,), zeros are left out.
        groups: of each difference.
        share: of the differences' variance that lies between groups.
    """
    is_kept = differences != 0
    of_row = np.unique(np.asarray(list(groups))[is_kept], return_inverse=True)[1]
    shared = random.standard_normal((draws, len(groups)))[:, of_row]
    alone = random.standard_normal((draws, of_row.size))
    signs = np.sign(np.sqrt(share) * shared + np.sqrt(1 - share) * alone)
    return permutation_p(abs(np.sign(differences).sum()), np.abs(signs.sum(axis=1)))


def _centred(alike: Array, share: float) -> Array:
    covariance = share * alike + (1 - share) * np.eye(len(alike))
    off = covariance - covariance.mean(axis=0)
    return off - off.mean(axis=1, keepdims=True)
