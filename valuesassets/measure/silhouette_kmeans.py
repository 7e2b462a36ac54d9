"""How many clusters points fall into: k-means for every k, the k of the largest silhouette.

What scikit-learn finds in d dimensions it finds in n - 1 as well, at less than half the time: n points lie in n - 1
dimensions, and k-means asks for nothing but distances.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure.arrays import Array
from valuesassets.records.errors import MissingData

FEWEST = 3
"""Points that have a number of clusters: k lies between 2 and n - 1."""
SEED, STARTS, TOLERANCE = 42, 10, 1e-4
"""Of each k-means: its random state, how often it starts anew, and scikit-learn's own tolerance."""


@dataclass(frozen=True)
class Clustering:
    """The clusters that points fall into.

    Attributes:
        k: how many; 2 where no silhouette is above 0.
        silhouette: mean silhouette of these clusters; 0 where none is above 0.
        labels: cluster of each point; none where no silhouette is above 0.
    """

    k: int
    silhouette: float
    labels: tuple[int, ...]


def cluster_by_silhouette(points: NDArray[np.floating]) -> Clustering:
    """The first k of 2..n-1 whose k-means clusters have the largest silhouette, of points standardised by column.

    More clusters than there are different points are not tried: they would be the same clusters again.

    Args:
        points: (n, d), n >= 3.

    Raises:
        MissingData: fewer than three points, or numbers that are not finite.

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
    _, first, which = np.unique(points, axis=0, return_index=True, return_inverse=True)
    turned, shrunk = rotate(np.asarray(StandardScaler().fit_transform(points)))
    turned = turned[first[which.ravel()]]  # equal points stay equal to the last bit
    distances = np.linalg.norm(turned[:, None] - turned[None], axis=-1)
    best = Clustering(2, 0.0, ())
    with config_context(assume_finite=True, skip_parameter_validation=True), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Number of distinct clusters")  # of columns that differ by rounding only
        for k in range(2, min(n - 1, len(first)) + 1):
            starts: Any = STARTS  # its signature names a text only
            means = KMeans(n_clusters=k, random_state=SEED, n_init=starts, tol=TOLERANCE * shrunk)
            labels = means.fit_predict(turned)
            if (found := silhouette(distances, labels)) > best.silhouette:
                best = Clustering(k, found, tuple(labels.tolist()))
    return best


def rotate(points: NDArray[np.floating]) -> tuple[Array, float]:
    """Centred points turned into n - 1 dimensions, (n, n - 1), and by how much a column's mean variance grew less.

    Distances stay as they are. scikit-learn counts its tolerance in mean variances of columns, of which there are
    fewer now: multiplied by the second value it is what it was.
    """
    wide = points.astype(np.float64)
    wide -= wide.mean(axis=0)
    n, d = wide.shape
    squares, axes = np.linalg.eigh(wide @ wide.T)
    return axes[:, 1:] * np.sqrt(np.maximum(squares[1:], 0)), (n - 1) / d


def silhouette(distances: Array, labels: NDArray[np.integer]) -> float:
    """Mean silhouette in [-1, 1]; a cluster of one counts 0, and so does a single cluster of all.

    Args:
        distances: (n, n).
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
