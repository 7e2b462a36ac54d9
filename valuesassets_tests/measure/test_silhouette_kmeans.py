import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import silhouette_score

from valuesassets.measure.silhouette_kmeans import cluster_by_silhouette, rotate, silhouette
from valuesassets.records.errors import MissingData
from valuesassets_tests.benchmarks.clustering import answers, plain_k

PAIRS = np.array([[0, 0], [0, 0.1], [1, 0], [1, 0.1], [0, 3], [0, 3.1]], np.float32)


def test_three_pairs_are_three_clusters():
    found = cluster_by_silhouette(PAIRS)
    assert found.k == 3
    assert [found.labels[n] == found.labels[n + 1] for n in range(5)] == [True, False, True, False, True]


def test_equal_points_have_no_silhouette_and_no_clusters():
    found = cluster_by_silhouette(np.ones((5, 4), np.float32))
    assert (found.k, found.silhouette, found.labels) == (2, 0.0, ())


def test_no_more_clusters_are_tried_than_points_differ():
    points = np.array([[0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0]], np.float32)
    found = cluster_by_silhouette(points)
    assert (found.k, found.silhouette) == (2, pytest.approx(1))


@pytest.mark.parametrize(("languages", "dimensions"), [(4, 3), (6, 40), (11, 700)])
@pytest.mark.slow
def test_k_is_that_of_scikit_learn_in_all_dimensions(languages, dimensions):
    made = answers(6, languages, dimensions)
    assert [cluster_by_silhouette(each).k for each in made] == [plain_k(each) for each in made]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.integers(1, 12))
def test_turning_keeps_distances(seed, n, d):
    points = np.random.default_rng(seed).normal(size=(n, d))
    turned, shrunk = rotate(points)
    assert turned.shape == (n, n - 1)
    apart = [np.linalg.norm(each[:, None] - each[None], axis=-1) for each in (points, turned)]
    assert np.allclose(*apart, atol=1e-6)
    assert turned.var(axis=0).mean() * shrunk == pytest.approx(points.var(axis=0).mean())


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(4, 9))
def test_silhouettes_are_those_of_scikit_learn(seed, n):
    random = np.random.default_rng(seed)
    points, labels = random.normal(size=(n, 3)), np.array([0, 1, *random.integers(0, 3, n - 2)])
    labels[-1] = labels[-2]  # of fewer groups than points
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    assert silhouette(distances, labels) == pytest.approx(silhouette_score(points, labels), abs=1e-9)


@pytest.mark.parametrize("points", [np.ones((2, 3)), np.ones(4), np.full((4, 2), np.nan)])
def test_what_has_no_clusters_is_refused(points):
    with pytest.raises(MissingData, match="need 3 or more points of finite numbers"):
        cluster_by_silhouette(points)
