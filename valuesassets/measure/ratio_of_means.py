"""Ratios of two means over the same things, with intervals from resamples of the things."""

import numpy as np

from valuesassets.measure.means import Array
from valuesassets.measure.resampling import ROUNDING


def ratio_of_means(over: Array, under: Array, counts: Array, level: float = 0.95) -> tuple[float, float, float]:
    """mean(over) / mean(under) and the ends of its interval; NaN where resamples do not tell it from infinity.

    A mean of ratios would give a thing whose denominator is near 0 all the weight. The interval is studentised: it asks
    how many of its own standard errors each resample's ratio lies off. Ratios lean to one side: of 30 things, quantiles
    of the ratios themselves held the truth in .925 of made-up worlds, these in .945.

    Args:
        over, under: (n,) of each thing.
        counts: (draws, n) resamples of the things, as `resample_counts` gives them.

    Returns:
        The ratio, NaN where the lower mean is not above 0, and its ends; no ends of fewer than two things, nor where
        the denominator is not above 0 in more resamples than one end may leave out.

    Source: Davison and Hinkley (1997), Bootstrap Methods and their Application, section 5.2.1; the standard error of a
    ratio is that of Cochran (1977), Sampling Techniques, section 6.4.

    >>> ratio_of_means(np.array([1.0, 3.0]), np.array([2.0, 2.0]), np.ones((3, 2)))[0]
    1.0
    """
    if not under.mean() > 0:
        return np.nan, np.nan, np.nan
    whole = np.ones((1, over.size))
    value, error = (float(each[0]) for each in _ratios(over, under, whole))
    if over.size < 2:
        return value, np.nan, np.nan
    if error <= ROUNDING * max(1.0, abs(value)):
        return value, value, value
    ratios, errors = _ratios(over, under, counts)
    off = ratios - value
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(errors > ROUNDING, off / errors, np.where(np.abs(off) > ROUNDING, off * np.inf, 0.0))
    ordered, tail = np.sort(steps), (1 - level) / 2
    # of B draws the k-th stands for k / (B + 1)
    places = np.clip(np.array([tail, 1 - tail]) * (steps.size + 1) - 1, 0, steps.size - 1)
    below, above = ordered[np.floor(places).astype(int)], ordered[np.ceil(places).astype(int)]
    if not np.isfinite([*below, *above]).all():
        return value, np.nan, np.nan
    least, most = below + (places - np.floor(places)) * (above - below)
    return value, float(value - most * error), float(value - least * error)


def _ratios(over: Array, under: Array, counts: Array) -> tuple[Array, Array]:
    """(draws,) ratio in each resample, infinite where the lower mean is not above 0, and its standard error."""
    n = over.size
    tops, bottoms = counts @ over / n, counts @ under / n
    is_lost = ~(bottoms > 0)
    bottoms = np.where(is_lost, 1.0, bottoms)
    ratios = tops / bottoms
    squares = counts @ over**2 - 2 * ratios * (counts @ (over * under)) + ratios**2 * (counts @ under**2)
    errors = np.sqrt(np.maximum(squares, 0) / (max(n - 1, 1) * n)) / bottoms
    return np.where(is_lost, np.where(tops < 0, -np.inf, np.inf), ratios), np.where(is_lost, 0.0, errors)
