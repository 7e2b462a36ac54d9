"""PERMANOVA: the share of squared distances that lies between groups of objects, and its excess over chance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from valuesassets.measure.arrays import Array
from valuesassets.measure.resampling import permutation_p
from valuesassets.records.errors import MissingData


@dataclass(frozen=True)
class VarianceShare:
    """A one-way analysis of variance of squared distances by groups.

    Attributes:
        r2: share between groups, in [0, 1].
        pseudo_f: ratio of the mean squares between and within groups; infinite where nothing varies within groups.
        r2_by_chance: mean share under permuted labels: 22 groups of two "explain" half of pure noise.
        excess: `r2` minus `r2_by_chance`.
        p: one-sided, of `r2` (and so of `pseudo_f`, which increases with it).
        n_groups, n: numbers of groups and objects.
        excess_by_pair: (pairs,) weights: the weighted sum of squared distances over their sum is `excess`.
    """

    r2: float
    pseudo_f: float
    r2_by_chance: float
    excess: float
    p: float
    n_groups: int
    n: int
    excess_by_pair: Array

    def excesses(self, squared: Array) -> Array:
        """The excess, (...), of other squared distances (..., pairs) between the same objects, say resampled ones."""
        total = squared.sum(axis=-1)
        return np.where(total > 0, squared @ self.excess_by_pair / np.where(total > 0, total, 1), np.nan)


def pairs_of(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and second object of every unordered pair of n objects, in the order of squared distances."""
    return np.triu_indices(n, 1)


def variance_share(squared: ArrayLike, labels: ArrayLike, permutations: NDArray[np.intp]) -> VarianceShare:
    """Permutational multivariate analysis of variance (PERMANOVA) with one factor.

    With SS_T = sum of squared distances over all pairs / N and SS_W = sum over groups of that within / n_group:
    R^2 = 1 - SS_W / SS_T and F = ((SS_T - SS_W) / (a - 1)) / (SS_W / (N - a)).

    Args:
        squared: (N (N - 1) / 2,) squared distances in the order of `pairs_of`.
        labels: (N,) groups.
        permutations: (B, N) permutations of 0..N-1, within strata where the design asks for it.

    Raises:
        MissingData: a distance is missing, all are 0, or the groups leave nothing to compare (one group, or as many as
            objects).

    Source: Anderson (2001), Austral Ecology 26(1), 32-46, eq. 1-3 and 5.
    """
    distances = np.asarray(squared, dtype=float)
    names, groups = np.unique(np.asarray(labels), return_inverse=True)
    n, n_groups = groups.size, names.size
    if not np.isfinite(distances).all() or distances.sum() <= 0:
        raise MissingData("a share of variance needs a distance for every pair of objects, and one that is not 0")
    if not 1 < n_groups < n:
        raise MissingData(f"{n} objects in {n_groups} groups: two or more groups are needed, and one of two or more")
    first, second = pairs_of(n)
    share = 1 / np.bincount(groups)
    is_within = groups[first] == groups[second]
    weights = np.where(is_within, share[groups[first]], 0.0)
    total = distances.sum() / n
    within = float(weights @ distances)
    permuted = groups[permutations]
    chance = np.where(permuted[:, first] == permuted[:, second], share[permuted[:, first]], 0.0)
    by_chance = 1 - chance @ distances / total
    r2 = 1 - within / total
    f = np.inf if within <= 0 else ((total - within) / (n_groups - 1)) / (within / (n - n_groups))
    excess_by_pair = n * (chance.mean(axis=0) - weights)
    mean, p = float(by_chance.mean()), permutation_p(float(r2), by_chance)
    return VarianceShare(float(r2), float(f), mean, float(r2 - mean), p, n_groups, n, excess_by_pair)
