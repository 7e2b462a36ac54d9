"""Permutation test: are values in each row's own column larger than expected?"""

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known


def own_and_by_chance(evidence: Array, own: NDArray[np.intp], permuted: NDArray[np.intp]) -> tuple[float, Array]:
    """Mean over rows of the value in each row's own column, and the means, (B,), under permuted assignments.

    Args:
        evidence: (R, N) values; large values are evidence for a column.
        own: (R,) own column of each row.
        permuted: (B, R) permuted own columns.

    >>> own_and_by_chance(np.eye(2), np.array([0, 1]), np.array([[0, 1], [1, 0]]))[1].tolist()
    [1.0, 0.0]
    """
    rows = np.arange(own.size)
    return float(mean_of_known(evidence[rows, own])), mean_of_known(evidence[rows, permuted])
