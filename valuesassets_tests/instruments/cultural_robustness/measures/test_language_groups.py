import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import silhouette_score

from valuesassets.instruments.cultural_robustness.measures.language_groups import (
    derive_language_groups,
    group_languages,
    measure_structure,
)


def gains(groups, n_questions=20, noise=0.0, seed=0):
    """(Q, L, L) gains: 1 between groups, 0 within, and noise."""
    labels = np.array(groups)
    random = np.random.default_rng(seed).normal(0, noise, (n_questions, labels.size, labels.size))
    gain = (labels[:, None] != labels[None, :]) + (random + np.swapaxes(random, 1, 2)) / 2
    gain[:, np.arange(labels.size), np.arange(labels.size)] = 0
    return gain


def test_three_languages_worked_by_hand():
    """Two agree and one stands apart: silhouettes 1, 1 and, alone, 0."""
    groups, silhouette = group_languages(gains([0, 0, 1]))
    assert groups.tolist() == [1, 1, 2]
    assert silhouette == pytest.approx(2 / 3)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 2), min_size=5, max_size=8), st.integers(0, 2**32 - 1))
def test_planted_groups_come_back_whatever_the_noise_makes_negative(labels, seed):
    sizes = [labels.count(each) for each in set(labels)]
    assume(len(sizes) > 1 and sizes.count(1) < 2)  # of two languages alone a silhouette says as little as of the pair
    groups, _ = group_languages(gains(labels, 200, 0.3, seed))
    expected = {tuple(np.equal(labels, each)) for each in labels}
    assert {tuple(groups == each) for each in groups} == expected


def test_groups_are_those_of_scipy_and_scikit_learn_at_the_best_silhouette():
    distances = np.abs(gains([0] * 6, 1, 1.0, 5)[0])
    groups, silhouette = group_languages(distances[None])
    tree = linkage(squareform(distances), "average")
    every = {k: fcluster(tree, k, "maxclust") for k in range(2, 6)}
    scores = {k: silhouette_score(distances, labels, metric="precomputed") for k, labels in every.items()}
    best = max(scores, key=scores.get)
    assert silhouette == pytest.approx(scores[best])
    assert len(set(groups)) == best


def test_groups_are_numbered_by_their_first_language():
    rows = derive_language_groups("m", ("deu", "ell", "eng", "fra"), gains([2, 1, 2, 1]))
    assert rows["group"].tolist() == [1, 2, 1, 2]
    assert rows["silhouette"].unique() == pytest.approx([1])


def test_pairs_that_stand_apart_in_every_question_are_structure():
    structure = measure_structure(gains([0, 0, 0, 1, 1], noise=0.3), 499, np.random.default_rng(0))
    assert structure.p == pytest.approx(1 / 500)
    assert structure.value > 10 * structure.by_chance


def test_structure_is_the_variance_over_pairs_worked_by_hand():
    structure = measure_structure(gains([0, 0, 1]), 9, np.random.default_rng(0))
    assert structure.value == pytest.approx(2 / 9)  # gains 0, 1 and 1


def test_where_languages_change_places_from_question_to_question_there_is_no_structure():
    random = np.random.default_rng(1)
    rejected = 0
    for _ in range(100):
        mixed = np.concatenate([gains(random.permutation([0, 0, 0, 1, 1]), 1) for _ in range(12)])
        rejected += measure_structure(mixed, 99, random).p <= 0.05
    assert rejected <= 12


def test_equal_pairs_have_p_of_one():
    assert measure_structure(np.zeros((4, 3, 3)), 99, np.random.default_rng(0)).p == 1
