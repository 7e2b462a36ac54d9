"""Procrustes analysis: the best superimposition of two sets of points, and permutation tests of their agreement."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from valuesassets.measure.arrays import Array
from valuesassets.measure.relatedness import related_p
from valuesassets.measure.resampling import label_permutations, permutation_p
from valuesassets.records.errors import MissingData

LEAST_POINTS = 4
"""Fewest points: fewer can be superimposed almost as well whatever their labels."""


@dataclass(frozen=True)
class Similarity:
    """A similarity transformation: rotation (or reflection), scale and shift, p -> scale * p @ rotation + shift."""

    scale: float
    rotation: Array
    shift: Array

    def move(self, points: ArrayLike) -> Array:
        """(n, 2) points after the transformation."""
        return self.scale * np.asarray(points, dtype=float) @ self.rotation + self.shift


@dataclass(frozen=True)
class Agreement:
    """Agreement of two sets of paired points, with p-values from permuted pairings.

    Attributes:
        p: p-value if points are independent of each other.
        p_related: largest p-value that allows for similar points within groups; NaN where there are no groups.
    """

    value: float
    p: float
    p_related: float = float("nan")


def fit_similarity(points: ArrayLike, target: ArrayLike) -> Similarity:
    """The similarity transformation of `points` closest to `target` (least squares), reflections included.

    Args:
        points, target: (n, 2), the same object in each row, n >= 4.

    Raises:
        MissingData: there are fewer than four points, or all are identical.

    Source: Gower and Dijksterhuis (2004), Procrustes Problems, section 4; Schönemann (1966), Psychometrika 31(1), 1-10.
    """
    p, t = _pairs(points, target)
    middle, target_middle = p.mean(axis=0), t.mean(axis=0)
    spread = float(np.sum((p - middle) ** 2))
    if spread == 0:
        raise MissingData("all points lie in one place; nothing can be laid over others")
    left, lengths, right = np.linalg.svd((p - middle).T @ (t - target_middle))
    rotation, scale = left @ right, float(lengths.sum()) / spread
    return Similarity(scale, rotation, target_middle - scale * middle @ rotation)


def permute_similarity(points: ArrayLike, target: ArrayLike, draws: int, random: np.random.Generator) -> Agreement:
    """Procrustes disparity m^2 with its permutation test (PROTEST).

    m^2 is 0 where the sets are equal up to shift, scale, rotation and reflection, and 1 where they have nothing in
    common. p is the share of relabellings that fit at least as well, (1 + count) / (1 + draws), over all relabellings
    where there are few points.

    Raises:
        MissingData: there are fewer than four points, or all are identical.

    Source: Jackson (1995), Écoscience 2(3), 297-303 (PROTEST).
    """
    p, t = (_unit(part) for part in _pairs(points, target))
    crossed = np.einsum("bnk,nl->bkl", p[_relabellings(len(p), draws, random)], t)
    fits = np.append(_fit(crossed), _fit(p.T @ t))
    return Agreement(float(1 - fits[-1]), permutation_p(float(fits[-1]), fits[:-1]))


def permute_same_axes(
    points: ArrayLike,
    target: ArrayLike,
    draws: int,
    random: np.random.Generator,
    groupings: Mapping[str, Sequence[str]] | None = None,
) -> Agreement:
    """Correlation over all axes at once (-1 to 1) after shift and scaling, without rotation; labels are permuted.

    Where the axes have the same meaning for both sets, a rotated or reflected copy is no agreement. With one column it
    is Pearson's r.

    Args:
        points, target: (n, k), n >= 4.
        groupings: by kind of group, each point's group of related points; see `related_p`.

    Raises:
        MissingData: there are fewer than four points, or all are identical.
    """
    p, t = (_unit(part) for part in _pairs(points, target))
    relabelled = _relabellings(len(p), draws, random)
    chance = np.einsum("bnk,nk->b", p[relabelled], t)
    observed = float(np.sum(p * t))
    related = related_p(observed, chance, (t, p), relabelled, False, groupings or {})
    return Agreement(observed, permutation_p(observed, chance), max(related.values(), default=np.nan))


def _pairs(points: ArrayLike, target: ArrayLike) -> tuple[Array, Array]:
    p, t = np.asarray(points, dtype=float), np.asarray(target, dtype=float)
    if len(p) != len(t) or len(p) < LEAST_POINTS:
        raise MissingData(f"{len(p)} points against {len(t)}: four or more pairs are needed to say anything")
    return p, t


def _unit(points: Array) -> Array:
    centred = points - points.mean(axis=0)
    length = np.linalg.norm(centred)
    if length < 1e-12:
        raise MissingData("all points lie in one place; nothing can agree with others")
    return centred / length


def _relabellings(n: int, draws: int, random: np.random.Generator) -> NDArray[np.intp]:
    """(B, n) permuted labels: all permutations but the identity where there are few enough, else random ones."""
    if math.factorial(n) <= draws:
        return np.array(list(itertools.permutations(range(n)))[1:], dtype=np.intp)
    return label_permutations(n, draws, random)


def _fit(crossed: Array) -> Array:
    """Squared sum of the singular values of (..., 2, 2) matrices: |M|^2 + 2 |det M|."""
    return np.sum(crossed**2, axis=(-2, -1)) + 2 * np.abs(np.linalg.det(crossed))
