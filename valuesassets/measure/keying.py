"""What moves with an item's content, and what with its labels, where some items are keyed the other way."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from valuesassets.measure.arrays import Array
from valuesassets.measure.resampling import ROUNDING, exhaustive_p
from valuesassets.records.errors import MissingData

FEWEST_LINES = 5
"""Lines of models for a verdict: four can be ordered in 24 ways, of which no two are as few as 5 %."""
LEAST_LOG = float(np.log(1e-9))
"""Of a probability, nats: what is less is as good as none."""
COUNTED = 7
"""Lines up to which every order is counted, 5,040 of them; beyond, t is near enough."""


@dataclass(frozen=True)
class LabelPreference:
    """How much of what models differ in is a liking for labels rather than a trait.

    Attributes:
        n, lines: models, and the lines that they belong to.
        rho: correlation over models of the means of forward- and reverse-keyed items, before recoding: -1 where all
            all answer by content, 1 where all answer by label. Its interval is over lines.
        p: two-sided, of means of lines that have nothing to do with each other.
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
        """Share of the label, 0 to 1."""
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
    """F and R, (n,) each: means of n models over the forward- and over the reverse-keyed items, nothing recoded.

    Args:
        values: (n, k) answers as the labels have them, complete.
        is_reversed: (k,) which items are reverse-keyed.

    Raises:
        MissingData: an answer is missing, or all items are keyed one way.

    >>> [each.tolist() for each in keyed_means([[1, 5, 3], [2, 4, 4]], [False, True, False])]
    [[2.0, 3.0], [5.0, 4.0]]
    """
    x, reverse = np.asarray(values, dtype=float), np.asarray(is_reversed, dtype=bool)
    if reverse.all() or not reverse.any():
        way = "reverse" if reverse.size and reverse.all() else "forward"
        raise MissingData(f"all {reverse.size} items are {way}-keyed: trait and liking for labels are one there")
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
    """Slope of log-probabilities along the labels, in nats from the least to the greatest.

    What likings add to labels in log-odds is a constant of it, so that differences of leans keep their size where a
    strong liking shrinks those of expected answers.

    Args:
        log_shares: (K,) nats; below 1e-9 they count as that.
        labels: (K,) their numbers, not all alike.

    >>> round(label_lean(np.log([0.1, 0.2, 0.7]), [1, 2, 3]), 3)  # log 7
    1.946
    """
    at = np.asarray(labels, dtype=float)
    off = (at - at.mean()) / np.ptp(at)
    return float(np.maximum(np.asarray(log_shares, dtype=float), LEAST_LOG) @ off / (off @ off))


def label_preference(
    forward: ArrayLike, reverse: ArrayLike, level: float = 0.95, lines: ArrayLike | None = None
) -> LabelPreference:
    """rho = corr(F, R) over models, its interval and a rank test over lines of models, and pi_bias = (1 + rho)/2.

    Models of one line (sizes, versions, fine-tuned copies) resemble each other and are no separate evidence: lines are
    taken as independent, models within them are not. The interval is on the scale of Fisher's z: his own over lines, or
    the one that leaves out a line at a time where that is wider, as with flat and peaked models, which move both means
    at once. The test is Spearman's, of the lines' means: all orders are counted up to seven lines.

    Args:
        forward, reverse: (n,) as `keyed_means` gives them.
        lines: (n,) the line of each model, five or more; without, each model is a line of its own.

    Raises:
        MissingData: fewer than five lines, or all models have one mean.

    Source: Meyer, Garcia and Wulff (2026), arXiv 2606.20205 (rho); Fisher (1921), Metron 1, 3-32, and Arvesen (1969),
    Ann. Math. Statist. 40(6), 2076-2100 (the interval); Spearman (1904), Am. J. Psychol. 15(1), 72-101.
    """
    f, r = np.asarray(forward, dtype=float), np.asarray(reverse, dtype=float)
    line = np.arange(f.size) if lines is None else np.unique(np.asarray(lines), return_inverse=True)[1]
    n_lines = int(line.max(initial=-1)) + 1
    if n_lines < FEWEST_LINES:
        of = f"{f.size} model{'s' * (f.size != 1)} of {n_lines} line{'s' * (n_lines != 1)}"
        raise MissingData(f"{of}: {FEWEST_LINES} lines or more are needed, or no test of their order can be sure")
    for way, means in (("forward", f), ("reverse", r)):
        if np.ptp(means) <= ROUNDING * max(1.0, float(np.abs(means).max())):
            raise MissingData(f"all models have one mean on the {way}-keyed items: nothing varies")
    rho = _correlation(f, r)
    at, without = (
        _fisher_z(rho),
        np.array([_fisher_z(_correlation(f[line != k], r[line != k])) for k in range(n_lines)]),
    )
    error = np.sqrt((n_lines - 1) / n_lines * np.sum((without - without.mean()) ** 2))
    reach = stats.t.ppf((1 + level) / 2, n_lines - 2) * error
    reach = max(reach, stats.norm.ppf((1 + level) / 2) / np.sqrt(n_lines - 3))
    p = _rank_p(*(np.bincount(line, weights=means) / np.bincount(line) for means in (f, r)))
    return LabelPreference(f.size, n_lines, rho, float(np.tanh(at - reach)), float(np.tanh(at + reach)), p)


def _correlation(one: Array, other: Array) -> float:
    """0 where one of the two does not vary."""
    a, b = one - one.mean(), other - other.mean()
    length = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip(a @ b / length, -1, 1)) if length > ROUNDING else 0.0


def _fisher_z(rho: float) -> float:
    """Of exact agreement z is infinite: as near as rounding tells."""
    return float(np.arctanh(np.clip(rho, ROUNDING - 1, 1 - ROUNDING)))


def _rank_p(one: Array, other: Array) -> float:
    """Two-sided p-value of Spearman's correlation of (n,) pairs, n >= 5; 1 where all of a side are tied."""
    a, b = (stats.rankdata(each) - (each.size + 1) / 2 for each in (one, other))
    n = a.size
    if not (a.any() and b.any()):
        return 1.0
    if n <= COUNTED:
        return exhaustive_p(abs(float(a @ b)), np.abs(np.array(list(permutations(b))) @ a))
    r = _correlation(a, b)
    t = r * np.sqrt((n - 2) / max(1 - r**2, ROUNDING))
    return float(2 * stats.t.sf(abs(t), n - 2))
