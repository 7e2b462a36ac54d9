"""A model before and after: has it moved towards the people of a country, beyond style and beyond chance?

The change d of an item's mean answer is regressed on t, what sets the country apart, and on the traces of response
style. What counts as one observation is a battery, a wording and a training, not a question.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special
from scipy.optimize import brentq

from valuesassets.measure.arrays import Array
from valuesassets.measure.clustered_slope import SlopeWeights, slope_weights
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.profile_correlation import style_of_items
from valuesassets.measure.replicates import variance_of_mean
from valuesassets.records.errors import MissingData

FEWEST_QUESTIONS, FEWEST_BATTERIES, FEWEST_COUNTRIES = 20, 5, 3
"""Fewest shared questions, effective batteries and countries, below which nothing is said of a direction."""
MOST_SUBTRACTED = 0.1
"""Largest share of the variance from batteries that is subtracted as the excess of the wordings' (decision 075)."""
LEAST_P = 1e-12
"""Least p-value that is told."""
Toward = int | Sequence[int]


@dataclass(frozen=True)
class ShiftSlope:
    """Slope of the change on what sets a country apart: 0 for no move towards it, 1 for all of the way.

    Attributes:
        slope: without the trace of response style; `slope_raw` leaves style in.
        slope_low, slope_high: ends of its interval.
        p: two-sided, of a slope of 0.
        toward_unit: the slope times mean |t|: the mean move towards the country in scale units.
        of_items, of_wordings, of_trainings: the variances of the slope that come from each.
    """

    slope: float
    slope_low: float
    slope_high: float
    p: float
    toward_unit: float
    slope_raw: float
    se: float
    effective_batteries: float
    n_items: int
    of_items: float
    of_wordings: float
    of_trainings: float


def measure_shift(
    before: ArrayLike,
    after: ArrayLike,
    variances: ArrayLike,
    people: ArrayLike,
    toward: Toward,
    batteries: ArrayLike,
    share: float | None = None,
    level: float = 0.95,
) -> ShiftSlope:
    """How far answers moved along what sets a country apart, with its interval and test.

    Items that some reading lacks, or the country's people or all but one of the others', are left out.

    Args:
        before, after: (R, W, I) mean answers on [0, 1], by replicate and wording. Replicates of both are pairs; one
            replicate stands beside any number of others.
        variances: (I,) of the answers on [0, 1], mean of before and after.
        people: (N, I) mean answers of the people of N countries on [0, 1].
        toward: index of the country in `people`, or of several, whose means count as one country.
        batteries: (I,) labels; items of one battery are not independent.
        share: of one pool that each replicate was trained on; None where trainings are independent.

    Raises:
        MissingData: too few questions, effective batteries or countries; a share that is not between 0 and 1 or
            without replicates; a direction that is response style alone.
    """
    first, second = (np.asarray(each, dtype=float) for each in (before, after))
    direction = direction_of(people, toward)
    is_known = shared_items(first, second, direction) & np.isfinite(np.asarray(variances, dtype=float))
    require_enough(int(is_known.sum()), len(np.asarray(people)), len(np.unique(np.asarray(batteries)[is_known])))
    change = (second - first)[..., is_known]
    t, of_items = direction[is_known], np.asarray(batteries)[is_known]
    style = style_between(first[..., is_known], second[..., is_known], np.asarray(variances, dtype=float)[is_known])
    weights = slope_weights(np.column_stack([t, style]), of_items)
    slope, parts = float(weights.whole @ change.mean(axis=(0, 1))), slope_variances(change, weights, share)
    se = float(np.sqrt(sum(part.variance for part in parts)))
    raw = slope_weights(np.column_stack([t, np.ones_like(t)]), of_items).whole @ change.mean(axis=(0, 1))
    reach = se * critical(parts, 1 - level)
    return ShiftSlope(
        slope=slope,
        slope_low=slope - reach,
        slope_high=slope + reach,
        p=two_sided(slope, parts),
        toward_unit=slope * float(np.abs(t).mean()),
        slope_raw=float(raw),
        se=se,
        effective_batteries=weights.effective_batteries,
        n_items=len(t),
        of_items=parts[0].variance,
        of_wordings=parts[1].variance,
        of_trainings=parts[2].variance,
    )


def direction_of(people: ArrayLike, toward: Toward) -> Array:
    """(I,) mean answer of a country's people less the mean of the others'; NaN with fewer than two others.

    >>> direction_of([[0.5, 0.2], [0.1, 0.2], [0.3, 0.4]], 0).round(2).tolist()
    [0.3, -0.1]
    """
    means = np.asarray(people, dtype=float)
    is_toward = np.isin(np.arange(len(means)), np.atleast_1d(np.asarray(toward)) % len(means))
    others = means[~is_toward]
    is_enough = np.isfinite(others).sum(axis=0) >= FEWEST_COUNTRIES - 1
    return np.where(is_enough, means[is_toward].mean(axis=0) - mean_of_known(others, axis=0), np.nan)


def shared_items(before: Array, after: Array, direction: Array) -> NDArray[np.bool_]:
    """(I,) whether all readings, the country and others have an item."""
    is_read = [np.isfinite(each).all(axis=(0, 1)) for each in (before, after)]
    return is_read[0] & is_read[1] & np.isfinite(direction)


def style_between(before: Array, after: Array, variances: Array) -> Array:
    """(I, 4) traces of response style at the middle of before and after.

    At the answers before alone, their noise would look like a move back to the middle.
    """
    means = (before.mean(axis=(0, 1)) + after.mean(axis=(0, 1))) / 2
    return style_of_items(means, variances)


def require_enough(n_items: int, n_countries: int, n_batteries: float) -> None:
    """Refuse a direction from too little.

    Raises:
        MissingData: fewer than `FEWEST_QUESTIONS` shared questions, `FEWEST_COUNTRIES` countries or `FEWEST_BATTERIES`
            batteries.
    """
    if n_countries < FEWEST_COUNTRIES:
        raise MissingData(
            f"{n_countries} countries with people, {FEWEST_COUNTRIES} or more are needed to say what sets one apart: "
            "name more in human.countries, or add languages"
        )
    if n_items < FEWEST_QUESTIONS:
        raise MissingData(
            f"{n_items} questions that models and people share, {FEWEST_QUESTIONS} or more are needed for a direction"
        )
    if n_batteries < FEWEST_BATTERIES:
        raise MissingData(
            f"in the direction of this country {n_items} questions weigh as much as {n_batteries:.3g} batteries, "
            f"{FEWEST_BATTERIES} or more are needed: ask about more subjects, or name another country"
        )


class Part(NamedTuple):
    """A part of a slope's variance, with the degrees of freedom of its estimate."""

    variance: float
    df: float


Parts = tuple[Part, ...]


def slope_variances(change: Array, weights: SlopeWeights, share: float | None = None) -> Parts:
    """The variances of the mean slope that come from batteries, from wordings and from trainings.

    Args:
        change: (R, W, I).
        share: as in `measure_shift`.
    """
    n_trainings, n_wordings, _ = change.shape
    items, wordings = (float(each) for each in item_and_wording_variance(change.mean(axis=0), weights))
    of_items = Part(items, max(weights.effective_batteries - 1, 1.0))
    of_wordings = Part(wordings, max(n_wordings - 1.0, 1.0))
    if n_trainings == 1 and share is None:
        return of_items, of_wordings, Part(0.0, 1.0)
    slopes = change.mean(axis=1) @ weights.whole
    return of_items, of_wordings, Part(variance_of_mean(slopes, share), n_trainings - 1.0)


def item_and_wording_variance(change: Array, weights: SlopeWeights) -> tuple[Array, Array]:
    """(...,) variances of the mean slope by batteries, and by what a wording does to all items together.

    Items differ by wording each for itself as well, which the variance from batteries holds already. That part is
    subtracted from the variance between the wordings' slopes. What remains cannot be below 0, so that it is above 0 on
    average where wordings do nothing; this excess is subtracted from the other variance, but no more than
    `MOST_SUBTRACTED` of it.

    Args:
        change: (..., W, I).
    """
    of_items, n_wordings = weights.variance(change.mean(axis=-2)), change.shape[-2]
    if n_wordings < 2:
        return of_items, np.zeros(change.shape[:-2])
    between = (change @ weights.whole).var(axis=-1, ddof=1)
    own = change - change.mean(axis=-2, keepdims=True)
    interaction = weights.variance(own).sum(axis=-1) / (n_wordings - 1)
    excess = excess_above_mean(n_wordings - 1) * interaction / n_wordings
    of_wordings = np.maximum(between - interaction, 0.0) / n_wordings
    return np.maximum(of_items - excess, (1 - MOST_SUBTRACTED) * of_items), of_wordings


def excess_above_mean(df: int) -> float:
    """E[max(X - 1, 0)] of a chi-square over its degrees of freedom.

    >>> round(excess_above_mean(2), 3)
    0.368
    """
    return float(special.chdtrc(df + 2, df) - special.chdtrc(df, df))


def critical(parts: Parts, alpha: float) -> float:
    """How many standard errors a slope has to be from 0: each part's own t quantile, weighed by its variance.

    One t with pooled degrees of freedom rejects too often where two or three wordings, or two trainings, have most of
    the variance (decision 075).

    Source: Cochran and Cox (1957), Experimental Designs, 2nd ed., section 4.14.
    """
    total = sum(part.variance for part in parts)
    of_parts = (part.variance * t_quantile(alpha, part.df) for part in parts if part.variance > 0)
    return sum(of_parts) / total if total > 0 else 0.0


def t_quantile(alpha: float, df: float) -> float:
    """The distance from 0 that a t exceeds with probability alpha, on either side."""
    return float(-special.stdtrit(df, alpha / 2))


def two_sided(slope: float, parts: Parts) -> float:
    """p-value of a slope of 0, the least alpha at which it is significant; 1 where nothing moved at all."""
    se = np.sqrt(sum(part.variance for part in parts))
    if se == 0 or slope == 0:
        return 1.0 if slope == 0 else 0.0
    reached = abs(slope) / se
    if reached >= critical(parts, LEAST_P):
        return LEAST_P
    log_p: Any = brentq(lambda log_p: critical(parts, np.exp(log_p)) - reached, np.log(LEAST_P), 0.0)
    return float(np.exp(log_p))


@dataclass(frozen=True)
class MapMove:
    """A move on the cultural map.

    Attributes:
        distance_change: of the distance to the country's people; below 0 where the model has come nearer.
        toward: the part of the move along the line from the mean of the others to the country.
    """

    distance_change: float
    toward: float


def move_on_map(before: ArrayLike, after: ArrayLike, toward: ArrayLike, others: ArrayLike) -> MapMove:
    """How far a point has come nearer to a country on the map, and how far along what sets the country apart.

    A model whose answers leave the middle of the map can come nearer to nearly all countries at once; the second figure
    does not count that.

    Args:
        before, after, toward: (2,) points of the model and the country.
        others: (N, 2) points of other countries.

    >>> move_on_map([0, 0], [0, 1], [2, 2], [[0, 0], [2, -2]])
    MapMove(distance_change=-0.592..., toward=0.9486...)
    """
    start, end, aim = (np.asarray(each, dtype=float) for each in (before, after, toward))
    axis = aim - np.asarray(others, dtype=float).mean(axis=0)
    length = np.linalg.norm(axis)
    if not length > 0:
        raise MissingData("the country lies at the mean of the others, so that nothing sets it apart on the map")
    nearer = np.linalg.norm(end - aim) - np.linalg.norm(start - aim)
    return MapMove(float(nearer), float((end - start) @ axis / length))
