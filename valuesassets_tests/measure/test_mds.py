import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist, squareform

from valuesassets.measure.mds import kruskal_stress, plane_from_distances
from valuesassets.records.errors import MissingData


def test_a_right_triangle_is_laid_out_as_it_is():
    plane = plane_from_distances([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    assert plane.stress == pytest.approx(0, abs=1e-3)
    assert squareform(pdist(plane.points)) == pytest.approx(np.array([[0, 3, 4], [3, 0, 5], [4, 5, 0]]), abs=0.01)


def test_stress_by_hand():
    # two points at distance 2 that should be 1 apart: root of (1 - 2)^2 / 2^2
    assert kruskal_stress([[0, 1], [1, 0]], np.array([[0.0, 0.0], [2.0, 0.0]])) == 0.5


def test_four_points_equally_far_apart_do_not_fit_a_plane():
    plane = plane_from_distances(np.ones((4, 4)) - np.eye(4))
    assert plane.stress > 0.1


def test_equal_points_fall_together():
    assert not plane_from_distances(np.zeros((4, 4))).points.any()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 9))
def test_points_of_a_plane_are_found_again_up_to_turning(seed, n):
    points = np.random.default_rng(seed).normal(size=(n, 2))
    plane = plane_from_distances(squareform(pdist(points)))
    assert plane.stress < 1e-3
    _, _, disparity = procrustes(points, plane.points)
    assert disparity < 1e-4


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_same_matrix_gives_the_same_plane(seed):
    matrix = squareform(np.random.default_rng(seed).uniform(0.1, 1, 15))
    first, second = plane_from_distances(matrix), plane_from_distances(matrix)
    assert np.array_equal(first.points, second.points)
    assert first.points.mean(axis=0) == pytest.approx([0, 0], abs=1e-9)


@pytest.mark.parametrize(
    "matrix", [[[0, 1], [1, 0]], np.full((3, 3), np.nan), [[0, 1, 2], [2, 0, 1], [1, 1, 0]], np.ones((3, 3))]
)
def test_what_is_no_distance_matrix_is_refused(matrix):
    with pytest.raises(MissingData, match="a plane needs"):
        plane_from_distances(matrix)
