"""Whether positions of reasons correlate with the values that the same answers tick, above all on the same axis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.material.dimensions import AXES
from valuesassets.measure.between_groups import sums_by
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.profile_correlation import paired


@dataclass(frozen=True)
class ConvergentValidity:
    """Correlations of positions with ticked values, both centred within dilemmas.

    Attributes:
        r: by axis, with values of the same axis; None where nothing varies.
        mean: of these; None without any.
        discriminant_mean_abs: mean absolute correlation with values of other axes.
    """

    r: dict[str, float | None]
    mean: float | None
    discriminant_mean_abs: float | None


def convergent_validity(placed: Mapping[str, Array], leans: Array, scenarios: Sequence[str]) -> ConvergentValidity:
    """The correlations of positions on each axis with ticked values of that axis, and of the others.

    Args:
        placed: (n,) positions by valid axis, NaN where an answer has none.
        leans: (n, 6) ticked values of the high pole minus those of the low one, on each of `AXES`.
        scenarios: (n,) the dilemma of each answer.

    Source: Campbell and Fiske (1959), Convergent and Discriminant Validation by the Multitrait-Multimethod Matrix,
    Psychol. Bull. 56(2), 81-105.
    """
    if not placed:
        return ConvergentValidity({}, None, None)
    groups = np.unique(np.asarray(scenarios), return_inverse=True)[1]
    own = _centred(np.column_stack(list(placed.values())), groups)
    ticked = _centred(leans, groups)
    one, other = np.indices((own.shape[1], len(AXES)))
    r = paired(own.T, ticked.T).correlation((one[..., None], other[..., None]))
    is_same = np.array([[code == axis for axis in AXES] for code in placed])
    same = {code: _number(value) for code, value in zip(placed, r[is_same], strict=True)}
    on_same, on_others = (_number(mean_of_known(each).item()) for each in (r[is_same], np.abs(r[~is_same])))
    return ConvergentValidity(same, on_same, on_others)


def _centred(values: Array, groups: NDArray[np.intp]) -> Array:
    """(n, k) values minus the mean over the rows of their group; NaN stays and counts nothing."""
    is_known, n_groups = np.isfinite(values), int(groups.max()) + 1
    sums = sums_by(groups, n_groups, np.where(is_known, values, 0))
    return values - (sums / np.maximum(sums_by(groups, n_groups, is_known.astype(float)), 1))[groups]


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
