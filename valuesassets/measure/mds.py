"""Multidimensional scaling: points on a plane whose distances approximate those of a matrix."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.manifold import MDS

from valuesassets.measure.arrays import Array
from valuesassets.records.errors import MissingData


@dataclass(frozen=True)
class Plane:
    """A configuration of points and its stress: how much it distorts the distances.

    Attributes:
        points: (n, 2), centred, larger variance on the first axis; the entry of largest size on each axis is positive.
        stress: normalised stress-1 (Kruskal): 0 perfect, .05 good, .2 poor.
    """

    points: Array
    stress: float


def plane_from_distances(distances: ArrayLike) -> Plane:
    """Metric multidimensional scaling in two dimensions, started from the classical solution, so without randomness.

    Args:
        distances: (n, n) symmetric, zero diagonal, n >= 3.

    Raises:
        MissingData: there are fewer than three points, or the matrix is not a distance matrix.

    Source: Borg and Groenen (2005), Modern Multidimensional Scaling; SMACOF as in scikit-learn.
    """
    matrix = np.asarray(distances, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 3:
        raise MissingData(f"a plane needs a square matrix of three or more points, found shape {matrix.shape}")
    is_symmetric = np.allclose(matrix, matrix.T) and np.allclose(np.diag(matrix), 0)
    if not np.all(np.isfinite(matrix)) or not is_symmetric or matrix.min() < 0:
        raise MissingData("a plane needs finite, symmetric distances with a zero diagonal; some pair has none")
    if not matrix.any():
        return Plane(np.zeros((matrix.shape[0], 2)), 0.0)
    scaling = MDS(n_components=2, metric="precomputed", init="classical_mds", n_init=1)
    points = np.asarray(scaling.fit_transform((matrix + matrix.T) / 2))
    return Plane(_upright(points), kruskal_stress(matrix, points))


def kruskal_stress(distances: ArrayLike, points: Array) -> float:
    """Normalised stress-1 of points against distances: root of squared misfit over squared distances in the plane.

    Source: Kruskal (1964), Psychometrika 29(1), eq. for S.
    """
    given = np.asarray(distances, dtype=float)
    plane = np.linalg.norm(points[:, None, :] - points[None, :, :], axis=-1)
    upper = np.triu_indices(given.shape[0], 1)
    total = float(np.sum(plane[upper] ** 2))
    return 0.0 if total == 0 else float(np.sqrt(np.sum((given[upper] - plane[upper]) ** 2) / total))


def _upright(points: Array) -> Array:
    """Points centred and rotated to their principal axes, so that equal matrices give equal pictures."""
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    rotated = centred @ axes.T
    signs = np.sign(rotated[np.abs(rotated).argmax(axis=0), np.arange(rotated.shape[1])])
    return rotated * np.where(signs == 0, 1, signs)
