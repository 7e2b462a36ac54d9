"""Is what rows have at their own column more than chance gives: which column is whose is permuted."""

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known


def own_and_by_chance(evidence: Array, own: NDArray[np.intp], permuted: NDArray[np.intp]) -> tuple[float, Array]:
    """Mean over rows of the evidence for their own column, and the means, (B,), under other assignments.

    Args:
        evidence: (R, N); much is evidence.
        own: (R,) column of each row.
        permuted: (B, R) columns that stand in for the own ones.

    >>> own_and_by_chance(np.eye(2), np.array([0, 1]), np.array([[0, 1], [1, 0]]))[1].tolist()
    [1.0, 0.0]
    """
    rows = np.arange(own.size)
    return float(mean_of_known(evidence[rows, own])), mean_of_known(evidence[rows, permuted])
