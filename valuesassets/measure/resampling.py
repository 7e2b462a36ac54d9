"""Intervals and p-values by resampling. Every draw comes from a seed that the caller names."""

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
"""Relative difference that two orders of the same sum may make."""


def resample_counts(n: int, draws: int, random: np.random.Generator) -> Array:
    """How often each of `n` things stands in each of `draws` samples with replacement: (draws, n)."""
    return random.multinomial(n, np.full(n, 1 / n), size=draws).astype(float)


def stratified_counts(strata: ArrayLike, draws: int, random: np.random.Generator) -> Array:
    """How often each thing stands in each of `draws` samples within strata: (draws, n).

    Of a stratum's n_h things n_h - 1 are drawn, so that means over few strata of few things vary between samples as
    they do between studies; a stratum of one is drawn as it is.

    Args:
        strata: (n,) stratum of each thing.

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
    """Means of (..., n) values in every sample, (draws, ...); NaN is left out, and a mean over nothing is NaN.

    Args:
        counts: (draws, n), as `resample_counts` gives them.
    """
    flat = values.reshape(-1, values.shape[-1])
    known = np.isfinite(flat)
    sums, sizes = counts @ np.where(known, flat, 0).T, counts @ known.T
    with np.errstate(invalid="ignore"):
        means = sums / sizes
    return means.reshape(counts.shape[0], *values.shape[:-1])


def interval_ends(drawn: Array, n: ArrayLike, level: float = 0.95) -> tuple[Array, Array]:
    """Low and high ends, (...) each, of intervals between two quantiles of resampled estimates.

    The percentile interval of n things is too narrow by about sqrt((n - 1) / n) and by the difference of normal and t:
    its quantiles are moved to Phi(sqrt(n / (n - 1)) * t), which for a mean gives the t interval's width.

    Args:
        drawn: (draws, ...) resampled estimates; NaN (nothing was drawn) is left out.
        n: (...) how many things each rests on; fewer than two have no interval: NaN.

    Source: Hesterberg (2015), The American Statistician 69(4), section 5.3.1 (expanded percentile interval).
    """
    sizes = np.broadcast_to(np.asarray(n), drawn.shape[1:])
    size = np.maximum(sizes, 2)
    tail = stats.norm.cdf(np.sqrt(size / (size - 1)) * stats.t.ppf((1 - level) / 2, size - 1))
    ordered = np.sort(drawn, axis=0)  # NaN stand last
    known = np.isfinite(drawn).sum(axis=0)
    has_interval = (sizes >= 2) & (known > 0)

    def quantile(share: Array) -> Array:
        # Of B draws the k-th stands for k / (B + 1): plain quantiles of few draws are too narrow.
        place = np.clip(share * (known + 1) - 1, 0, np.maximum(known - 1, 0))
        below = np.floor(place).astype(np.intp)
        least, most = (
            np.take_along_axis(ordered, each[None], axis=0)[0]
            for each in (below, np.minimum(below + 1, np.maximum(known - 1, 0)))
        )
        return np.where(has_interval, least + (place - below) * (most - least), np.nan)[()]

    return quantile(tail), quantile(1 - tail)


def with_ends(name: str, estimate: Any, ends: tuple[Any, Any]) -> dict[str, Any]:
    """Estimates and the ends of their intervals as columns: `name`, `name_low`, `name_high`."""
    return {name: estimate, f"{name}_low": ends[0], f"{name}_high": ends[1]}


@dataclass(frozen=True)
class Means:
    """Means over items, or whatever was resampled, with their intervals; arrays of one shape.

    Attributes:
        n: how many values each mean rests on; 0 leaves NaN, fewer than two leave no interval.
    """

    mean: Array
    low: Array
    high: Array
    n: NDArray[np.intp]

    def columns(self, name: str) -> dict[str, Array]:
        """The means under this name, the ends of their intervals as `with_ends` has them."""
        return with_ends(name, self.mean, (self.low, self.high))


def means_with_intervals(values: Array, counts: Array, level: float = 0.95) -> Means:
    """Means of (..., n) values over their last axis, without what is missing, and their intervals.

    Args:
        counts: (draws, n), as `resample_counts` gives them: the same draws for every mean.
    """
    n = np.isfinite(values).sum(axis=-1)
    return Means(mean_of_known(values), *interval_ends(resampled_means(values, counts), n, level), n)


def jackknife_ends(estimate: float, left_out: Array, level: float = 0.95) -> tuple[float, float]:
    """Ends of a share's interval, in [0, 1], from the estimates that leave one thing out.

    It is made on the scale of -log(1 - share), where the error of a variance ratio hardly depends on its size.

    Args:
        left_out: (n,) the estimate without each of the n things, n >= 2.

    Raises:
        MissingData: fewer than two things.

    Source: Arvesen (1969), Ann. Math. Statist. 40(6), 2076-2100 (variance components); Efron and Tibshirani (1993),
    section 11.3.
    """
    n = left_out.size
    if n < 2:
        raise MissingData(f"an interval that leaves things out needs two or more of them, found {n}")
    at, without = (-np.log(np.maximum(1 - np.asarray(each), ROUNDING)) for each in (estimate, left_out))
    error = np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))
    reach = stats.t.ppf((1 + level) / 2, n - 1) * error
    low, high = (float(np.clip(1 - np.exp(-end), 0, 1)) for end in (at - reach, at + reach))
    return low, high


def label_permutations(
    n: int, draws: int, random: np.random.Generator, within: ArrayLike | None = None
) -> NDArray[np.intp]:
    """(draws, n) permutations of 0..n-1, each row one; labels stay within their stratum where `within` is given.

    Args:
        within: (n,) strata.
    """
    strata = np.zeros(n, dtype=int) if within is None else np.unique(np.asarray(within), return_inverse=True)[1]
    permuted = np.empty((draws, n), dtype=np.intp)
    for stratum in range(strata.max() + 1):
        places = np.flatnonzero(strata == stratum)
        permuted[:, places] = random.permuted(np.tile(places, (draws, 1)), axis=1)
    return permuted


def labellings(n: int, draws: int, random: np.random.Generator, most: int = 7) -> tuple[NDArray[np.intp], bool]:
    """Permutations of 0..n-1, each row one, and whether they are all n!: so up to `most`, else `draws` random ones."""
    if n <= most:
        return np.array(list(itertools.permutations(range(n))), dtype=np.intp), True
    return label_permutations(n, draws, random), False


def exhaustive_p(observed: float, everything: ArrayLike) -> float:
    """One-sided p-value where all labellings are counted, the one at hand among them: their share at least as large.

    Source: Good (2005), Permutation, Parametric, and Bootstrap Tests of Hypotheses, section 3.1.

    >>> exhaustive_p(2.0, [0.0, 1.0, 2.0, 2.0])
    0.5
    """
    chance = np.asarray(everything, dtype=float)
    return float(np.mean(chance >= observed - ROUNDING * max(1.0, abs(observed))))


def labelled_p(observed: float, chance: ArrayLike, is_all: bool) -> float:
    """One-sided p-value of `labellings`: counted where they are all there, estimated where some were drawn."""
    return exhaustive_p(observed, chance) if is_all else permutation_p(observed, chance)


def group_labellings(
    is_one: NDArray[np.bool_], draws: int, random: np.random.Generator
) -> tuple[NDArray[np.bool_], bool]:
    """(N, n) ways to choose as many of n things as `is_one` does, and whether they are all: where `draws` would do."""
    n, size = is_one.size, int(is_one.sum())
    if math.comb(n, size) > draws:
        return is_one[label_permutations(n, draws, random)], False
    chosen = np.array(list(itertools.combinations(range(n), size)), dtype=np.intp)
    ways = np.zeros((len(chosen), n), dtype=bool)
    np.put_along_axis(ways, chosen, True, axis=1)
    return ways, True


def permutation_p(observed: float, permuted: ArrayLike) -> float:
    """One-sided p-value (1 + count) / (1 + B): how often chance gives at least what was observed. Never 0.

    What differs by less than rounding counts as equal: a permutation may give the observed labels again.

    Args:
        permuted: (B,) the statistic under permuted labels, B >= 1.

    Raises:
        MissingData: no permutation at all.

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
    """Two-sided p-value that positive and negative differences are equally likely; zeros are left out.

    Raises:
        MissingData: no difference other than zero.
    """
    values = np.asarray(differences, dtype=float)
    positive, negative = int(np.count_nonzero(values > 0)), int(np.count_nonzero(values < 0))
    if positive + negative == 0:
        raise MissingData("a sign test needs a difference other than zero")
    return float(stats.binomtest(positive, positive + negative, 0.5).pvalue)
