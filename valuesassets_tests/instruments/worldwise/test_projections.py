import numpy as np
import pytest
from scipy import sparse

from valuesassets.instruments.worldwise.projections import anchors, positions, text_vectors

SENTENCES = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_a_text_is_the_mean_direction_of_its_sentences():
    vectors, has_direction = text_vectors(SENTENCES, np.array([0, 0, 2]), 3)
    assert has_direction.tolist() == [True, False, True]
    assert vectors == pytest.approx(np.array([[0.5**0.5, 0.5**0.5, 0], [0, 0, 0], [0, 0, 1]]))


def test_sparse_and_dense_sentences_give_the_same():
    random = np.random.default_rng(0)
    dense, texts = random.normal(size=(7, 4)), random.integers(0, 3, 7)
    one, _ = text_vectors(dense, texts, 3)
    other, _ = text_vectors(sparse.csr_array(dense), texts, 3)
    assert other.toarray() == pytest.approx(one)
    direction, high, low = random.normal(size=(3, 4))
    assert positions(other, direction, high, low) == pytest.approx(positions(one, direction, high, low), nan_ok=True)


def test_poles_stand_at_plus_and_minus_one_and_their_midpoint_at_zero_however_long_the_axis():
    high, low = np.array([0.9, 0.1]), np.array([0.2, 0.5])
    texts = np.stack([high, low, (high + low) / 2])
    for length in (1, 7.5):
        assert positions(texts, length * (high - low), high, low) == pytest.approx([1, -1, 0])


def test_a_high_pole_below_the_low_one_gives_no_position():
    assert np.isnan(positions(np.eye(2), np.array([1.0, -1.0]), np.array([0.0, 1.0]), np.array([1.0, 0.0]))).all()


def test_advocates_of_the_own_scenario_are_left_out():
    found = anchors(np.array([[1.0, 0], [3, 0], [0, 6]]), ["a", "a", "b"], ["a", "b", "c"])
    assert found == pytest.approx(np.array([[0, 6], [2, 0], [4 / 3, 2]]))
    assert np.isnan(anchors(np.ones((2, 2)), ["a", "a"], ["a"])).all()


def test_each_text_may_have_its_own_poles():
    high, low = np.array([[1.0, 0], [2, 0]]), np.array([[-1.0, 0], [-2, 0]])
    assert positions(np.ones((2, 2)), np.array([1.0, 0]), high, low) == pytest.approx([1, 0.5])
