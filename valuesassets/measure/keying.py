"""Trait and label preference, separated by forward- and reverse-keyed items."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from valuesassets.measure.arrays import Array
from valuesassets.measure.resampling import ROUNDING, exhaustive_p, jackknife_error
from valuesassets.records.errors import MissingData

FEWEST_LINES = 5
"""Lines of models that a test needs: four can be ordered in 24 ways, and two of 24 are more than 5 %."""
LEAST_LOG = float(np.log(1e-9))
"""Smallest log-probability, nats: smaller ones count as this."""
COUNTED = 7
"""Maximum number of lines for a test over all orders (5,040 of them); with more, the t approximation is used."""


@dataclass(frozen=True)
class LabelPreference:
    """How much of the differences between models is a preference for labels rather than a trait.

    Attributes:
        n, lines: numbers of models and of the lines (families of related models) that they belong to.
        rho: correlation over models between the means of forward- and reverse-keyed items, before recoding: -1 where
            all models answer by content, 1 where all answer by label. Its interval is over lines.
        p: two-sided p-value of the null hypothesis that both means of a line are independent.
        pi_bias: (1 + rho)/2: share of the variance of both (standardised) means that they have in common.
    """

    n: int
    lines: int
    rho: float
    rho_low: float
    rho_high: float
    p: float

    @property
    def pi_bias(self) -> float:
        """Share of the variance that goes with labels, 0 to 1."""
        return (1 + self.rho) / 2

    @property
    def pi_bias_low(self) -> float:
        """Lower end of its interval."""
        return (1 + self.rho_low) / 2

    @property
    def pi_bias_high(self) -> float:
        """Upper end of its interval."""
        return (1 + self.rho_high) / 2


def keyed_means(values: ArrayLike, is_reversed: ArrayLike) -> tuple[Array, Array]:
    """F and R, (n,) each: means of n models over forward- and over reverse-keyed items, without recoding.

    Args:
        values: (n, k) numbers of the chosen labels, complete.
        is_reversed: (k,) which items are reverse-keyed.

    Raises:
        MissingData: an answer is missing, or all items are keyed one way.

    >>> [each.tolist() for each in keyed_means([[1, 5, 3], [2, 4, 4]], [False, True, False])]
    [[2.0, 3.0], [5.0, 4.0]]
    """
    x, reverse = np.asarray(values, dtype=float), np.asarray(is_reversed, dtype=bool)
    if reverse.all() or not reverse.any():
        keying = "reverse" if reverse.size and reverse.all() else "forward"
        raise MissingData(f"all {reverse.size} items are {keying}-keyed: trait and liking for labels are one there")
    if n_missing := int(np.count_nonzero(~np.isfinite(x))):
        raise MissingData(f"{n_missing} of {x.size} answers are missing")
    return x[:, ~reverse].mean(axis=1), x[:, reverse].mean(axis=1)


def trait_and_bias(forward: ArrayLike, reverse: ArrayLike, midpoint: float) -> tuple[Array, Array]:
    """Trait m + (F - R)/2 and bias (F + R)/2 - m of each model, (n,) each, in units of the scale.

    Args:
        forward, reverse: (n,) as `keyed_means` gives them.
        midpoint: m, of the scale's ends.

    Source: Meyer, Garcia and Wulff (2026), arXiv 2606.20205.

    >>> [each.item() for each in trait_and_bias(4.0, 3.0, 3.0)]
    [3.5, 0.5]
    """
    f, r = np.asarray(forward, dtype=float), np.asarray(reverse, dtype=float)
    return midpoint + (f - r) / 2, (f + r) / 2 - midpoint


def label_lean(log_shares: ArrayLike, labels: ArrayLike) -> float:
    """Slope of log-probabilities along the labels, in nats from the lowest to the highest label.

    A preference for labels adds a constant to it, so that differences between leans keep their size where a strong
    preference shrinks differences between expected answers.

    Args:
        log_shares: (K,) nats; those below log 1e-9 count as log 1e-9.
        labels: (K,) numbers of the labels, not all equal.

    >>> round(label_lean(np.log([0.1, 0.2, 0.7]), [1, 2, 3]), 3)  # log 7
    1.946
    """
    numbers = np.asarray(labels, dtype=float)
    deviations = (numbers - numbers.mean()) / np.ptp(numbers)
    return float(np.maximum(np.asarray(log_shares, dtype=float), LEAST_LOG) @ deviations / (deviations @ deviations))


def label_preference(
    forward: ArrayLike, reverse: ArrayLike, level: float = 0.95, lines: ArrayLike | None = None
) -> LabelPreference:
    """rho = corr(F, R) over models, its interval and a rank test over lines of models, and pi_bias = (1 + rho)/2.

    Models of the same line (sizes, versions, fine-tuned copies) resemble each other and are not independent evidence:
    lines are taken as independent, models within a line are not. The interval is on the scale of Fisher's z: Fisher's
    interval over lines, or the jackknife over lines where it is wider, as with flat and peaked models, which differ in
    both means at once. The test is Spearman's over the lines' means, with all orders for up to seven lines.

    Args:
        forward, reverse: (n,) as `keyed_means` returns them.
        lines: (n,) the line of each model, five or more lines; by default each model is its own line.

    Raises:
        MissingData: there are fewer than five lines, or all models have the same mean.

    Source: Meyer, Garcia and Wulff (2026), arXiv 2606.20205 (rho); Fisher (1921), Metron 1, 3-32, and Arvesen (1969),
    Ann. Math. Statist. 40(6), 2076-2100 (the interval); Spearman (1904), Am. J. Psychol. 15(1), 72-101.
    """
    f, r = np.asarray(forward, dtype=float), np.asarray(reverse, dtype=float)
    line = np.arange(f.size) if lines is None else np.unique(np.asarray(lines), return_inverse=True)[1]
    n_lines = int(line.max(initial=-1)) + 1
    if n_lines < FEWEST_LINES:
        sizes = f"{f.size} model{'s' * (f.size != 1)} of {n_lines} line{'s' * (n_lines != 1)}"
        raise MissingData(f"{sizes}: {FEWEST_LINES} lines or more are needed, or no test of their order can be sure")
    for keying, means in (("forward", f), ("reverse", r)):
        if np.ptp(means) <= ROUNDING * max(1.0, float(np.abs(means).max())):
            raise MissingData(f"all models have one mean on the {keying}-keyed items: nothing varies")
    rho = _correlation(f, r)
    z = _fisher_z(rho)
    without = np.array([_fisher_z(_correlation(f[line != k], r[line != k])) for k in range(n_lines)])
    reach = stats.t.ppf((1 + level) / 2, n_lines - 2) * jackknife_error(without)
    reach = max(reach, stats.norm.ppf((1 + level) / 2) / np.sqrt(n_lines - 3))
    p = _rank_p(*(np.bincount(line, weights=means) / np.bincount(line) for means in (f, r)))
    return LabelPreference(f.size, n_lines, rho, float(np.tanh(z - reach)), float(np.tanh(z + reach)), p)


def _correlation(one: Array, other: Array) -> float:
    """Pearson's correlation; 0 where one of the two does not vary."""
    a, b = one - one.mean(), other - other.mean()
    length = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip(a @ b / length, -1, 1)) if length > ROUNDING else 0.0


def _fisher_z(rho: float) -> float:
    """Fisher's z, finite also for a correlation of -1 or 1, which is replaced by the nearest one above rounding."""
    return float(np.arctanh(np.clip(rho, ROUNDING - 1, 1 - ROUNDING)))


def _rank_p(one: Array, other: Array) -> float:
    """Two-sided p-value of Spearman's correlation of (n,) pairs, n >= 5; 1 where all values of a side are tied."""
    a, b = (stats.rankdata(each) - (each.size + 1) / 2 for each in (one, other))
    n = a.size
    if not (a.any() and b.any()):
        return 1.0
    if n <= COUNTED:
        return exhaustive_p(abs(float(a @ b)), np.abs(np.array(list(permutations(b))) @ a))
    r = _correlation(a, b)
    t = r * np.sqrt((n - 2) / max(1 - r**2, ROUNDING))
    return float(2 * stats.t.sf(abs(t), n - 2))
