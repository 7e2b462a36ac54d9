"""Intervals and p-values by resampling. All random numbers come from the caller's generator."""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.records.errors import MissingData

ROUNDING = 1e-12
"""Relative difference below which two values count as equal: the rounding error of a sum."""


def resample_counts(n: int, draws: int, random: np.random.Generator) -> Array:
    """Number of times that each of `n` units occurs in each of `draws` bootstrap samples: (draws, n)."""
    return random.multinomial(n, np.full(n, 1 / n), size=draws).astype(float)


def stratified_counts(strata: ArrayLike, draws: int, random: np.random.Generator) -> Array:
    """Number of times that each unit occurs in each of `draws` bootstrap samples within strata: (draws, n).

    n_h - 1 of a stratum's n_h units are drawn, so that the variance of means over few small strata is unbiased; a
    stratum of one unit is always drawn once.

    Args:
        strata: (n,) stratum of each unit.

    Source: McCarthy and Snowden (1985), The bootstrap and finite population sampling; Rao and Wu (1988), J. Am. Stat.
    Assoc. 83(401), 231-241, section 2.

    >>> stratified_counts(["a", "b", "b"], 1, np.random.default_rng(0)).sum().item()
    2.0
    """
    names = np.asarray(strata)
    counts = np.empty((draws, names.size))
    for name in dict.fromkeys(names.tolist()):
        places = np.flatnonzero(names == name)
        counts[:, places] = random.multinomial(max(places.size - 1, 1), np.full(places.size, 1 / places.size), draws)
    return counts


def resampled_means(values: Array, counts: Array) -> Array:
    """Means of (..., n) values in every sample, (draws, ...); NaN values are left out, and an empty mean is NaN.

    Args:
        counts: (draws, n), as `resample_counts` returns them.
    """
    flat = values.reshape(-1, values.shape[-1])
    is_present = np.isfinite(flat)
    sums, sizes = counts @ np.where(is_present, flat, 0).T, counts @ is_present.T
    with np.errstate(invalid="ignore"):
        means = sums / sizes
    return means.reshape(counts.shape[0], *values.shape[:-1])


def interval_ends(drawn: Array, n: ArrayLike, level: float = 0.95) -> tuple[Array, Array]:
    """Low and high ends, (...) each, of expanded percentile intervals of resampled estimates.

    A percentile interval over n units is too narrow by about sqrt((n - 1) / n) and by the difference between normal and
    t quantiles. Its quantiles are moved to Phi(sqrt(n / (n - 1)) * t), which gives a mean the width of its t interval.

    Args:
        drawn: (draws, ...) resampled estimates; NaN (an empty resample) is left out.
        n: (...) number of units behind each estimate; fewer than two give NaN.

    Source: Hesterberg (2015), The American Statistician 69(4), section 5.3.1 (expanded percentile interval).
    """
    sizes = np.broadcast_to(np.asarray(n), drawn.shape[1:])
    size = np.maximum(sizes, 2)
    tail = stats.norm.cdf(np.sqrt(size / (size - 1)) * stats.t.ppf((1 - level) / 2, size - 1))
    ordered = np.sort(drawn, axis=0)  # NaN is sorted last
    n_drawn = np.isfinite(drawn).sum(axis=0)
    has_interval = (sizes >= 2) & (n_drawn > 0)

    def quantile(share: Array) -> Array:
        # The k-th of B draws is the quantile k / (B + 1): plain quantiles of few draws are too narrow.
        place = np.clip(share * (n_drawn + 1) - 1, 0, np.maximum(n_drawn - 1, 0))
        below = np.floor(place).astype(np.intp)
        least, most = (
            np.take_along_axis(ordered, each[None], axis=0)[0]
            for each in (below, np.minimum(below + 1, np.maximum(n_drawn - 1, 0)))
        )
        return np.where(has_interval, least + (place - below) * (most - least), np.nan)[()]

    return quantile(tail), quantile(1 - tail)


def with_ends(name: str, estimate: Any, ends: tuple[Any, Any]) -> dict[str, Any]:
    """Columns of an estimate and the ends of its interval: `name`, `name_low`, `name_high`."""
    return {name: estimate, f"{name}_low": ends[0], f"{name}_high": ends[1]}


@dataclass(frozen=True)
class Means:
    """Means over resampled units, such as items, with their intervals; arrays of equal shape.

    Attributes:
        n: number of values behind each mean; the mean is NaN with none, the interval with fewer than two.
    """

    mean: Array
    low: Array
    high: Array
    n: NDArray[np.intp]

    def columns(self, name: str) -> dict[str, Array]:
        """The means and the ends of their intervals as columns, see `with_ends`."""
        return with_ends(name, self.mean, (self.low, self.high))


def means_with_intervals(values: Array, counts: Array, level: float = 0.95) -> Means:
    """Means of (..., n) values over their last axis, without missing values, and their intervals.

    Args:
        counts: (draws, n), as `resample_counts` returns them: the same draws for every mean.
    """
    n = np.isfinite(values).sum(axis=-1)
    return Means(mean_of_known(values), *interval_ends(resampled_means(values, counts), n, level), n)


def jackknife_ends(estimate: float, left_out: Array, level: float = 0.95) -> tuple[float, float]:
    """Jackknife interval of a share, in [0, 1], from the estimates that leave out one unit.

    It is computed on the scale of -log(1 - share), where the error of a variance ratio hardly depends on its size.

    Args:
        left_out: (n,) the estimate without each of the n units, n >= 2.

    Raises:
        MissingData: there are fewer than two units.

    Source: Arvesen (1969), Ann. Math. Statist. 40(6), 2076-2100 (variance components); Efron and Tibshirani (1993),
    section 11.3.
    """
    n = left_out.size
    if n < 2:
        raise MissingData(f"an interval that leaves things out needs two or more of them, found {n}")
    centre, without = (-np.log(np.maximum(1 - np.asarray(each), ROUNDING)) for each in (estimate, left_out))
    reach = stats.t.ppf((1 + level) / 2, n - 1) * jackknife_error(without)
    low, high = (float(np.clip(1 - np.exp(-end), 0, 1)) for end in (centre - reach, centre + reach))
    return low, high


def jackknife_error(left_out: Array) -> float:
    """Standard error of an estimate from the (n,) estimates that leave out one unit."""
    n = left_out.size
    return float(np.sqrt((n - 1) / n * np.sum((left_out - left_out.mean()) ** 2)))


def label_permutations(
    n: int, draws: int, random: np.random.Generator, within: ArrayLike | None = None
) -> NDArray[np.intp]:
    """(draws, n) random permutations of 0..n-1, one per row; within strata where `within` is given.

    Args:
        within: (n,) stratum of each label.
    """
    strata = np.zeros(n, dtype=int) if within is None else np.unique(np.asarray(within), return_inverse=True)[1]
    permuted = np.empty((draws, n), dtype=np.intp)
    for stratum in range(strata.max() + 1):
        places = np.flatnonzero(strata == stratum)
        permuted[:, places] = random.permuted(np.tile(places, (draws, 1)), axis=1)
    return permuted


def labellings(n: int, draws: int, random: np.random.Generator, most: int = 7) -> tuple[NDArray[np.intp], bool]:
    """Permutations of 0..n-1, one per row, and whether they are all: for n up to `most`, else `draws` random ones."""
    if n <= most:
        return np.array(list(itertools.permutations(range(n))), dtype=np.intp), True
    return label_permutations(n, draws, random), False


def exhaustive_p(observed: float, everything: ArrayLike) -> float:
    """One-sided p-value of an exhaustive permutation test: the share of all labellings with at least `observed`.

    Args:
        everything: statistics of all labellings, including the observed one.
    Source: Good (2005), Permutation, Parametric, and Bootstrap Tests of Hypotheses, section 3.1.

    >>> exhaustive_p(2.0, [0.0, 1.0, 2.0, 2.0])
    0.5
    """
    chance = np.asarray(everything, dtype=float)
    return float(np.mean(chance >= observed - ROUNDING * max(1.0, abs(observed))))


def labelled_p(observed: float, chance: ArrayLike, is_all: bool) -> float:
    """One-sided p-value over `labellings`: exact where they are all, estimated where they were drawn."""
    return exhaustive_p(observed, chance) if is_all else permutation_p(observed, chance)


def group_labellings(
    is_one: NDArray[np.bool_], draws: int, random: np.random.Generator
) -> tuple[NDArray[np.bool_], bool]:
    """(N, n) ways to choose as many of n units as `is_one` does, and whether they are all: if not more than `draws`."""
    n, size = is_one.size, int(is_one.sum())
    if math.comb(n, size) > draws:
        return is_one[label_permutations(n, draws, random)], False
    chosen = np.array(list(itertools.combinations(range(n), size)), dtype=np.intp)
    ways = np.zeros((len(chosen), n), dtype=bool)
    np.put_along_axis(ways, chosen, True, axis=1)
    return ways, True


def permutation_p(observed: float, permuted: ArrayLike) -> float:
    """One-sided p-value (1 + count) / (1 + B), never 0: count is the number of permutations with at least `observed`.

    Values that differ by less than rounding count as equal, because a permutation may be the observed labelling.

    Args:
        permuted: (B,) the statistic under permuted labels, B >= 1.

    Raises:
        MissingData: there is no permutation.

    Source: Phipson and Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9(1), 39.

    >>> permutation_p(2.0, [0.0, 1.0, 2.0])
    0.5
    """
    chance = np.asarray(permuted, dtype=float)
    if chance.size == 0:
        raise MissingData("a permutation p-value needs at least one permutation")
    reached = chance >= observed - ROUNDING * max(1.0, abs(observed))
    return float((1 + np.count_nonzero(reached)) / (1 + chance.size))


def sign_test_p(differences: ArrayLike) -> float:
    """Sign test: two-sided p-value of equally likely positive and negative differences; zeros are left out.

    Raises:
        MissingData: all differences are zero.
    """
    values = np.asarray(differences, dtype=float)
    positive, negative = int(np.count_nonzero(values > 0)), int(np.count_nonzero(values < 0))
    if positive + negative == 0:
        raise MissingData("a sign test needs a difference other than zero")
    return float(stats.binomtest(positive, positive + negative, 0.5).pvalue)


def own_and_by_chance(evidence: Array, own: NDArray[np.intp], permuted: NDArray[np.intp]) -> tuple[float, Array]:
    """Mean over rows of the value in each row's own column, and the means, (B,), under permuted assignments.

    Args:
        evidence: (R, N) values; large values are evidence for a column.
        own: (R,) own column of each row.
        permuted: (B, R) permuted own columns.

    >>> own_and_by_chance(np.eye(2), np.array([0, 1]), np.array([[0, 1], [1, 0]]))[1].tolist()
    [1.0, 0.0]
    """
    rows = np.arange(own.size)
    return float(mean_of_known(evidence[rows, own])), mean_of_known(evidence[rows, permuted])
