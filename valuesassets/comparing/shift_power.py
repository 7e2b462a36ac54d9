"""Before a model is changed: the smallest move towards a country that a study would find."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from valuesassets.comparing.shift import Toward, direction_of, item_and_wording_variance, require_enough, t_quantile
from valuesassets.measure.arrays import Array
from valuesassets.measure.clustered_slope import SlopeWeights, slope_weights
from valuesassets.measure.profile_correlation import style_of_items
from valuesassets.measure.seeding import seeded

DRAWS = 2000
"""Changes without a move that are made up for the standard errors that a study would find."""
ENOUGH = 0.8
"""Share of cases in which the smallest shift is found."""


@dataclass(frozen=True, eq=False)
class ShiftPower:
    """What a study finds of a move along a direction.

    Attributes:
        slopes: (draws,) without a move.
        reaches: (draws,) how far from 0 the slope has to be there to count.
        mean_direction: mean |t|, by which a slope is a mean move in scale units.
    """

    slopes: Array
    reaches: Array
    mean_direction: float
    effective_batteries: float
    n_items: int

    def power_at(self, toward_unit: float) -> float:
        """Share of cases in which a mean move of this size is found, on its own side."""
        return float(np.mean(self.slopes + toward_unit / self.mean_direction > self.reaches))

    @property
    def smallest(self) -> float:
        """The smallest mean move, in scale units, that is found in four cases of five."""
        return float(np.quantile(self.reaches - self.slopes, ENOUGH)) * self.mean_direction


def power_of_shift(
    before: ArrayLike,
    variances: ArrayLike,
    people: ArrayLike,
    toward: Toward,
    batteries: ArrayLike,
    drift: float = 0.05,
    alpha: float = 0.05,
    interaction: float | None = None,
) -> ShiftPower:
    """What a study of these questions and wordings will find, if answers drift by so much without any move.

    Changes are made up, and their slopes judged like those of a real model. Each question drifts by `drift`, correlated
    .3 within batteries, and in each wording by as much as questions differ between wordings before.

    Args:
        before: (W, I) mean answers on [0, 1].
        variances, people, toward, batteries: as in `measure_shift`.
        drift: standard deviation of a question's change in scale units.
        alpha: at which a slope counts.
        interaction: standard deviation of what a wording does to single questions; taken from `before` if left out.

    Raises:
        MissingData: too few questions, batteries or countries, as in `measure_shift`.
    """
    readings, spread, t = (
        np.asarray(before, dtype=float),
        np.asarray(variances, dtype=float),
        direction_of(people, toward),
    )
    is_known = np.isfinite(readings).all(axis=0) & np.isfinite(t) & np.isfinite(spread)
    labels = np.asarray(batteries)[is_known]
    require_enough(int(is_known.sum()), len(np.asarray(people)), len(np.unique(labels)))
    readings, t = readings[:, is_known], t[is_known]
    style = style_of_items(readings.mean(axis=0), spread[is_known])
    weights = slope_weights(np.column_stack([t, style]), labels)
    changes = _made_up(weights, drift, by_wording(readings) if interaction is None else interaction, len(readings))
    mean = changes.mean(axis=1)
    parts = item_and_wording_variance(changes, weights)
    quantiles = [t_quantile(alpha, max(df, 1.0)) for df in (weights.effective_batteries - 1, len(readings) - 1.0)]
    total = parts[0] + parts[1]
    reaches = (parts[0] * quantiles[0] + parts[1] * quantiles[1]) / np.sqrt(np.where(total > 0, total, 1.0))
    size = float(np.abs(t).mean())
    return ShiftPower(mean @ weights.whole, reaches, size, weights.effective_batteries, len(t))


def by_wording(readings: Array) -> float:
    """Standard deviation of what a wording does to single questions, of (W, I) mean answers; 0 with one wording."""
    n_wordings, n_items = readings.shape
    if n_wordings < 2:
        return 0.0
    own = readings - readings.mean(axis=0) - readings.mean(axis=1, keepdims=True) + readings.mean()
    return float(np.sqrt(np.sum(own**2) / ((n_wordings - 1) * (n_items - 1))))


def _made_up(weights: SlopeWeights, drift: float, interaction: float, n_wordings: int) -> Array:
    """(draws, W, I) changes without a move."""
    random, n_items = seeded("power of a shift"), len(weights.whole)
    root = np.linalg.cholesky(weights.correlation)
    shared = drift * random.normal(size=(DRAWS, 1, n_items)) @ root.T
    return shared + interaction * random.normal(size=(DRAWS, n_wordings, n_items))
