"""Reliability over conditions: the share of the variance between units that would replicate under other conditions.

Each of L units (languages) has a value on each of I items under each of W conditions (wordings). Items are fixed; units
and conditions are random, and the effect of a condition on a unit may be shared by all its items. Then the share has
few degrees of freedom however many items there are, which a jackknife over items does not detect.
"""

import numpy as np
from numpy.random import Generator
from scipy import stats

from valuesassets.measure.arrays import Array
from valuesassets.records.errors import MissingData

DRAWS = 4999
"""Draws of each variance, whose quantiles are the ends of intervals."""
LEAST_VARIANCE = 1e-20
"""Mean square below which all variation is rounding."""
ROUNDED = 1e-12
"""Ratio of two mean squares below which the smaller one is rounding."""


def repeated_share(values: Array, level: float, random: Generator) -> tuple[float, float, float]:
    """Share of the variance between units, by item, that would replicate under other conditions, and its interval.

    With S the mean square between units and E that of units by conditions, each averaged over items, the share is
    1 - E / S: Cronbach's alpha with conditions in place of items (Hoyt 1941). Where E is larger it is S / E - 1, so
    that it lies between -1 and 1. Both mean squares are split into two parts. One is a shift of all items of a unit, in
    proportion to the items' standard deviations; its degrees of freedom are the number of units (or units by
    conditions) minus one. The other is the rest, whose degrees of freedom are estimated. The interval lies between
    quantiles of the ratio of expected mean squares, each part drawn as its mean square over chi-square over degrees of
    freedom.

    Args:
        values: (W, L, I), NaN where missing; a unit without a value under some condition misses the item. Two or more
            conditions; items that fewer than three units have are left out.

    Returns:
        The share and the ends of its interval; NaN ends where conditions or units do not differ.

    Raises:
        MissingData: there are fewer than two conditions, or no item that three units have.

    Source: Hoyt (1941), Psychometrika 6(3), 153-160; Tsui and Weerahandi (1989), J. Am. Stat. Assoc. 84(406), 602-607
    and Weerahandi (1993), 88(423), 899-905 (generalized confidence intervals).

    >>> values = np.random.default_rng(0).normal(size=(3, 1, 40)) + np.random.default_rng(1).normal(size=(1, 8, 40))
    >>> share, low, high = repeated_share(values, 0.95, np.random.default_rng(2))
    >>> round(share, 3), np.isnan(low).item()  # conditions shift all units equally
    (1.0, True)
    """
    n_conditions, n_things = values.shape[:2]
    is_present = np.isfinite(values).all(axis=0)
    is_present &= is_present.sum(axis=0) > 2
    if n_conditions < 2 or not is_present.any():
        raise MissingData("two conditions, and an item that three things have in each of them, are needed")
    n_items = is_present.any(axis=0).sum()
    filled, n = np.where(is_present, values, 0.0), np.maximum(is_present.sum(axis=0), 1)
    centred = np.where(is_present, filled - filled.sum(axis=1, keepdims=True) / n, 0.0)
    mean = centred.mean(axis=0)
    between = mean * np.sqrt(n_conditions)
    within = (centred - mean).reshape(-1, is_present.shape[1])
    freedom = float((n - 1)[is_present.any(axis=0)].mean())
    variances = (np.sum(between**2, axis=0) + np.sum(within**2, axis=0)) / np.maximum((n - 1) * n_conditions, 1)
    n_effective = _effective_items(variances, freedom * n_conditions)
    direction = np.sqrt(variances / max(variances.sum(), LEAST_VARIANCE))
    s, drawn_s = _mean_square(between, direction, freedom, n_effective, n_things, n_items, random)
    e, drawn_e = _mean_square(within, direction, freedom * (n_conditions - 1), n_effective, n_things, n_items, random)
    if max(s, e) < LEAST_VARIANCE:
        return 0.0, np.nan, np.nan
    if min(s, e) < ROUNDED * max(s, e):
        return float(_share(e, s)), np.nan, np.nan
    low, high = np.quantile(_share(drawn_e, drawn_s), [(1 - level) / 2, (1 + level) / 2])
    return float(_share(e, s)), float(low), float(high)


def _share(e: Array | float, s: Array | float) -> Array:
    """1 - e / s, or where e is the larger s / e - 1."""
    return np.where(e < s, 1, -1) * (1 - np.minimum(e, s) / np.maximum(e, s))


def _effective_items(variances: Array, freedom: float) -> float:
    """Effective number of items: items of equal variance whose sum of squares has the same degrees of freedom."""
    fourth = np.sum(variances**2) * freedom / (freedom + 2)
    return max(float(variances.sum() ** 2 / fourth) - 1, 1.0) if fourth > 0 else 1.0


def _mean_square(
    rows: Array, direction: Array, freedom: float, n_effective: float, n_things: int, n_items: int, random: Generator
) -> tuple[float, Array]:
    """A mean square over rows, averaged over items, and draws of its expectation.

    The part without the shift has the smallest of three degrees of freedom: those for independent items; those implied
    by the products of rows, where items correlate; those implied by squared lengths of units, where some are outliers.

    Args:
        rows: (R, I) deviations; every `n_things`-th row is of the same unit.
        direction: (I,) the direction of a shift of all items, of length 1.
        freedom: degrees of freedom of an item.
        n_effective: as `_effective_items` returns it.
    """
    shift = rows @ direction
    rest = rows - np.outer(shift, direction)
    along, rest_square = float(np.sum(shift**2)) / n_items, float(np.sum(rest**2)) / n_items
    square = (along + rest_square) / freedom
    if rest_square <= ROUNDED * along:
        return square, along / random.chisquare(freedom, DRAWS)
    products = rest @ rest.T
    total, squares = np.trace(products) / freedom, np.sum(products**2) / freedom**2
    # Unbiased for the trace of the squared covariance of normal rows: Srivastava (2005), J. Japan Statist. Soc. 35(2).
    trace = freedom**2 / max((freedom - 1) * (freedom + 2), ROUNDED) * (squares - total**2 / freedom)
    together = freedom * total**2 / trace - 2 if trace > 0 else np.inf
    lengths = np.diag(products).reshape(-1, n_things).sum(axis=0)
    spread = float(lengths.var(ddof=1))
    # The variance of so few lengths is uncertain: the upper quartile of what degrees of freedom it stands for.
    allowed = (n_things - 1) / stats.chi2.ppf(0.25, n_things - 1)
    uneven = 2 * (n_things - 1) * lengths.mean() ** 2 / spread * allowed if spread > 0 else np.inf
    rest_freedom = max(min(freedom * n_effective, together, uneven), 1.0)
    along_draws = along / random.chisquare(freedom, DRAWS)
    return square, along_draws + rest_square / freedom * rest_freedom / random.chisquare(rest_freedom, DRAWS)
