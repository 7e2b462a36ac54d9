"""What moves with an item's content, and what with its labels, where some items are keyed the other way."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from valuesassets.measure.means import Array
from valuesassets.measure.resampling import ROUNDING
from valuesassets.records.errors import MissingData

FEWEST_MODELS = 4
"""For an interval by Fisher's z, whose standard error is 1/sqrt(n - 3)."""


@dataclass(frozen=True)
class LabelPreference:
    """How much of what models differ in is a liking for labels rather than a trait.

    Attributes:
        n: models.
        rho: correlation over models of the means of forward- and reverse-keyed items, before recoding: -1 where all
            answer by content, 1 where all answer by label.
        pi_bias: (1 + rho)/2: share of the variance of both (standardised) means that they have in common.
    """

    n: int
    rho: float
    rho_low: float
    rho_high: float

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


def label_preference(forward: ArrayLike, reverse: ArrayLike, level: float = 0.95) -> LabelPreference:
    """rho = corr(F, R) over models, its interval by Fisher's z, and pi_bias = (1 + rho)/2.

    Args:
        forward, reverse: (n,) as `keyed_means` gives them, n >= 4.

    Raises:
        MissingData: fewer than four models, or all have one mean.

    Source: Meyer, Garcia and Wulff (2026), arXiv 2606.20205; Fisher (1921), Metron 1, 3-32 (the interval).
    """
    f, r = np.asarray(forward, dtype=float), np.asarray(reverse, dtype=float)
    n = f.size
    if n < FEWEST_MODELS:
        raise MissingData(f"{n} model{'s' * (n != 1)}, {FEWEST_MODELS} or more are needed for a correlation")
    for way, means in (("forward", f), ("reverse", r)):
        if np.ptp(means) <= ROUNDING * max(1.0, float(np.abs(means).max())):
            raise MissingData(f"all models have one mean on the {way}-keyed items: nothing varies")
    rho = float(np.clip(np.corrcoef(f, r)[0, 1], -1, 1))
    # Of exact agreement z is infinite: as near as rounding tells.
    z = np.arctanh(np.clip(rho, ROUNDING - 1, 1 - ROUNDING))
    reach = stats.norm.ppf((1 + level) / 2) / np.sqrt(n - 3)
    return LabelPreference(n, rho, float(np.tanh(z - reach)), float(np.tanh(z + reach)))
