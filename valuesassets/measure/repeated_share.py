"""How much of what sets things apart would come out again under other conditions, with an interval over all of them.

Each of L things (languages) has a value on each of I items under each of W conditions (wordings). Items are fixed in
weight; things and conditions are drawn from many, and what a condition adds to a thing may move all its items together.
Then a share has few degrees of freedom however many items there are: leaving out items one at a time does not see it.
"""

import numpy as np
from scipy import stats

from valuesassets.measure.arrays import Array
from valuesassets.records.errors import MissingData

DRAWS = 4999
"""Draws of every variance, between whose quantiles an interval lies."""
LEAST_VARIANCE = 1e-20
"""Mean square below which nothing varies but rounding."""
ROUNDED = 1e-12
"""Share of one mean square in the other that rounding makes."""


def repeated_share(values: Array, level: float, random: np.random.Generator) -> tuple[float, float, float]:
    """Share of the variance between things, item by item, that other conditions would show again, and its interval.

    With S the mean square between things and E that of things by conditions, each averaged over items, the share is
    1 - E / S: Cronbach's alpha with conditions in place of items (Hoyt 1941). Below 0 it is E's side of the ratio,
    S / E - 1, so that it lies between -1 and 1. Both mean squares are split: what moves a thing's items together, in
    proportion to their standard deviations, with as many degrees of freedom as there are things (or things by
    conditions) less one, and the rest, whose degrees of freedom are estimated. The interval lies between quantiles of
    the ratio of the expected mean squares, each part drawn as its mean square over chi-square over degrees of freedom.

    Args:
        values: (W, L, I), NaN where missing; a thing without a value under some condition misses the item. Two
            conditions, and on each item three things or none.

    Returns:
        The share and the ends of its interval; NaN ends where nothing differs between conditions or things.

    Raises:
        MissingData: fewer than two conditions, or no item that three things have.

    Source: Hoyt (1941), Psychometrika 6(3), 153-160; Tsui and Weerahandi (1989), J. Am. Stat. Assoc. 84(406), 602-607
    and Weerahandi (1993), 88(423), 899-905 (generalized confidence intervals).

    >>> values = np.random.default_rng(0).normal(size=(3, 1, 40)) + np.random.default_rng(1).normal(size=(1, 8, 40))
    >>> share, low, high = repeated_share(values, 0.95, np.random.default_rng(2))
    >>> round(share, 3), np.isnan(low).item()  # conditions differ, but not in what sets things apart
    (1.0, True)
    """
    n_conditions, n_things = values.shape[:2]
    known = np.isfinite(values).all(axis=0)
    known &= known.sum(axis=0) > 2
    if n_conditions < 2 or not known.any():
        raise MissingData("two conditions, and an item that three things have in each of them, are needed")
    n_items = known.any(axis=0).sum()
    filled, n = np.where(known, values, 0.0), np.maximum(known.sum(axis=0), 1)
    centred = np.where(known, filled - filled.sum(axis=1, keepdims=True) / n, 0.0)
    mean = centred.mean(axis=0)
    between = mean * np.sqrt(n_conditions)
    within = (centred - mean).reshape(-1, known.shape[1])
    freedom = float((n - 1)[known.any(axis=0)].mean())
    variances = (np.sum(between**2, axis=0) + np.sum(within**2, axis=0)) / np.maximum((n - 1) * n_conditions, 1)
    of_items = _effective_items(variances, freedom * n_conditions)
    along = np.sqrt(variances / max(variances.sum(), LEAST_VARIANCE))
    s, drawn_s = _mean_square(between, along, freedom, of_items, n_things, n_items, random)
    e, drawn_e = _mean_square(within, along, freedom * (n_conditions - 1), of_items, n_things, n_items, random)
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
    """Of how many items of equal variance a sum of independent ones has the degrees of freedom, for each of its own."""
    fourth = np.sum(variances**2) * freedom / (freedom + 2)
    return max(float(variances.sum() ** 2 / fourth) - 1, 1.0) if fourth > 0 else 1.0


def _mean_square(
    rows: Array,
    along: Array,
    freedom: float,
    of_items: float,
    n_things: int,
    n_items: int,
    random: np.random.Generator,
) -> tuple[float, Array]:
    """A mean square over rows, averaged over items, and draws of its expectation.

    The degrees of freedom of what is not along the shift are the least of three: as for independent items; as the
    products of rows say, where some items go together; as squared lengths of things say, where some lie further off.

    Args:
        rows: (R, I) deviations, those of a thing every `n_things` rows.
        along: (I,) the direction of a shift of all items, of length 1.
        freedom: of an item.
        of_items: as `_effective_items` gives them.
    """
    shift = rows @ along
    rest = rows - np.outer(shift, along)
    shifted, left = float(np.sum(shift**2)) / n_items, float(np.sum(rest**2)) / n_items
    square = (shifted + left) / freedom
    if left <= ROUNDED * shifted:
        return square, shifted / random.chisquare(freedom, DRAWS)
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
    of_rest = max(min(freedom * of_items, together, uneven), 1.0)
    drawn = shifted / random.chisquare(freedom, DRAWS) + left / freedom * of_rest / random.chisquare(of_rest, DRAWS)
    return square, drawn
