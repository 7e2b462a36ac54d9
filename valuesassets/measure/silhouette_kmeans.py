"""Number of clusters among points: k-means for every k, and the k with the largest silhouette.

k-means depends on distances alone, and n points lie in n - 1 dimensions. Points are therefore rotated from d into n - 1
dimensions first: scikit-learn finds the same clusters in less than half the time.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.records.errors import MissingData

FEWEST = 3
"""Fewest points: k lies between 2 and n - 1."""
SEED, STARTS, TOLERANCE = 42, 10, 1e-4
"""Settings of each k-means: random state, number of starts, and scikit-learn's default tolerance."""


@dataclass(frozen=True)
class Clustering:
    """The clustering of points with the largest silhouette.

    Attributes:
        k: number of clusters; 2 where no silhouette is above 0.
        silhouette: mean silhouette of these clusters; 0 where none is above 0.
        labels: cluster of each point; empty where no silhouette is above 0.
    """

    k: int
    silhouette: float
    labels: tuple[int, ...]


def cluster_by_silhouette(points: NDArray[np.floating]) -> Clustering:
    """The smallest k of 2..n-1 whose k-means clusters have the largest silhouette, for points standardised by column.

    k is at most the number of distinct points: with more, the clusters would be the same.

    Args:
        points: (n, d), n >= 3.

    Raises:
        MissingData: there are fewer than three points, or some numbers are not finite.

    Source: the criterion is Rousseeuw (1987), J. Comput. Appl. Math. 20, 53-65; k-means++ as in scikit-learn.
    """
    from sklearn import config_context
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import StandardScaler

    n = len(points)
    if points.ndim != 2 or n < FEWEST or not np.isfinite(points).all():
        raise MissingData(
            f"clusters by silhouette need {FEWEST} or more points of finite numbers, found {points.shape}"
        )
    _, first, inverse = np.unique(points, axis=0, return_index=True, return_inverse=True)
    rotated, tolerance_factor = rotate(np.asarray(StandardScaler().fit_transform(points)))
    rotated = rotated[first[inverse.ravel()]]  # equal points stay equal to the last bit
    distances = np.linalg.norm(rotated[:, None] - rotated[None], axis=-1)
    best = Clustering(2, 0.0, ())
    with config_context(assume_finite=True, skip_parameter_validation=True), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Number of distinct clusters")  # of columns that differ by rounding only
        for k in range(2, min(n - 1, len(first)) + 1):
            starts: Any = STARTS  # the type annotation of n_init allows a text only
            means = KMeans(n_clusters=k, random_state=SEED, n_init=starts, tol=TOLERANCE * tolerance_factor)
            labels = means.fit_predict(rotated)
            if (score := silhouette(distances, labels)) > best.silhouette:
                best = Clustering(k, score, tuple(labels.tolist()))
    return best


def rotate(points: NDArray[np.floating]) -> tuple[Array, float]:
    """Centred points rotated into n - 1 dimensions, (n, n - 1), and the factor for scikit-learn's tolerance.

    Distances do not change. scikit-learn's tolerance is relative to the mean variance of columns, of which there are
    now n - 1 instead of d; multiplied by the factor it has the same effect as before.
    """
    wide = points.astype(np.float64)
    wide -= wide.mean(axis=0)
    n, d = wide.shape
    squares, axes = np.linalg.eigh(wide @ wide.T)
    return axes[:, 1:] * np.sqrt(np.maximum(squares[1:], 0)), (n - 1) / d


def silhouette(distances: Array, labels: NDArray[np.integer]) -> float:
    """Mean silhouette in [-1, 1]; points that are alone in their cluster count 0, and a single cluster has 0.

    Args:
        distances: (n, n) between points.
        labels: (n,) cluster of each point.

    Source: Rousseeuw (1987), eq. 2.

    >>> silhouette(np.array([[0, 1.0, 4], [1, 0, 4], [4, 4, 0]]), np.array([0, 0, 1]))
    0.5
    """
    own = np.unique(labels, return_inverse=True)[1]
    members = np.eye(own.max() + 1)[own]
    if members.shape[1] < 2:
        return 0.0
    sizes, sums, rows = members.sum(axis=0), distances @ members, np.arange(len(own))
    within = sums[rows, own] / np.maximum(sizes[own] - 1, 1)
    means = sums / sizes
    means[rows, own] = np.inf
    between = means.min(axis=1)
    widest = np.maximum(within, between)
    values = np.divide(between - within, widest, out=np.zeros(len(own)), where=widest > 0)
    return float(np.where(sizes[own] > 1, values, 0).mean())
