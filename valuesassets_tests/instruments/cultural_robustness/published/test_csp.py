import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from valuesassets.instruments.cultural_robustness.published.clustering import Texts
from valuesassets.instruments.cultural_robustness.published.csp import (
    common,
    csp,
    csp_null,
    csp_question,
    csp_question_null,
    pair_distances,
)

RISING = np.array([[1.0, 4], [2, 3], [3, 2], [4, 1]])


def unit(*numbers):
    return np.array(numbers, np.float32) / np.linalg.norm(numbers)


def test_distances_are_one_minus_cosine_and_anchors_are_averaged():
    texts = [
        Texts("3-1", ("deu", "eng"), np.stack([unit(1, 0), unit(0, 1)])),
        Texts("3-2", ("deu", "eng"), np.stack([unit(1, 0), unit(1, 0)])),
        Texts("4-1", ("eng",), np.stack([unit(1, 0)])),
        Texts("5-1", ("deu", "pol"), np.stack([unit(1, 0), unit(-1, 0)])),
    ]
    distances = pair_distances(texts)
    assert (distances.questions, distances.languages) == (("3", "4", "5"), ("deu", "eng", "pol"))
    expected = [[0.5, np.nan, np.nan], [np.nan] * 3, [np.nan, 2, np.nan]]
    assert np.allclose(distances.values, expected, equal_nan=True)
    assert distances.mean == pytest.approx(1.25)


def test_what_rises_together_has_no_csp_left_and_neither_has_what_falls():
    assert csp(RISING, RISING**2) == csp(RISING, -RISING) == pytest.approx(0)


def test_pairs_that_contradict_each_other_have_all_of_it():
    assert csp(RISING, np.stack([RISING[:, 0], RISING[:, 0]], axis=1)) == pytest.approx(1)


def test_over_pairs_first_is_another_number():
    first, second = np.array([[1.0, 0], [2, 0], [3, 9]]), np.array([[1.0, 5], [2, 4], [3, 0]])
    assert csp(first, second) == pytest.approx(1 - ((1 + spearmanr([0, 0, 9], [5, 4, 0])[0]) / 2) ** 2)
    assert csp_question(first, second) == pytest.approx(1 - spearmanr([1, 2, 12], [6, 6, 3])[0] ** 2)


@given(st.integers(0, 2**32 - 1), st.integers(4, 12), st.integers(1, 5))
def test_agrees_with_scipy_where_answers_are_missing(seed, questions, pairs):
    random = np.random.default_rng(seed)
    first, second = random.integers(0, 9, (2, questions, pairs)).astype(float)
    first[random.random(first.shape) < 0.1] = np.nan
    rhos = []
    for a, b in zip(first.T, second.T, strict=True):
        has_answer = np.isfinite(a)
        if has_answer.sum() >= 3 and np.ptp(a[has_answer]) and np.ptp(b[has_answer]):
            rhos.append(spearmanr(a[has_answer], b[has_answer])[0])
    assert csp(first, second) == (pytest.approx(1 - np.mean(rhos) ** 2) if rhos else None)


def test_distances_that_differ_by_rounding_have_no_ranks():
    assert csp(RISING, np.full((4, 2), 0.3) + RISING * 1e-15) is None
    assert csp(np.full((4, 2), 0.3), RISING) is None


def test_null_of_one_pair_is_that_of_a_random_order():
    """Of n questions, rho of a random order has variance 1 / (n - 1)."""
    alone = np.arange(9.0)[:, None]
    assert csp_null(alone, alone, 4000, 0) == pytest.approx(1 - 1 / 8, abs=0.01)
    assert csp_question_null(alone, alone, 4000, 0) == csp_null(alone, alone, 4000, 0)


def test_null_knows_the_order_of_no_question():
    random = np.random.default_rng(1)
    first, second = random.random((2, 12, 6))
    again = random.permutation(12)
    assert csp_null(first, second[again], 4000, 0) == pytest.approx(csp_null(first, second, 4000, 0), abs=0.01)


def test_null_moves_all_pairs_alike():
    """Pairs that are copies of one another stay so: their mean varies as a single one does."""
    copies = np.tile(np.arange(9.0)[:, None], (1, 5))
    assert csp_null(copies, copies, 400, 3) == pytest.approx(csp_null(copies[:, :1], copies[:, :1], 400, 3))


def test_common_are_questions_and_pairs_of_both():
    first = pair_distances([Texts(name, ("deu", "eng", "pol"), np.eye(3, dtype=np.float32)) for name in "12"])
    second = pair_distances([Texts("2-1", ("eng", "pol"), np.stack([unit(1, 0), unit(1, 0)]))])
    a, b = common(first, second)
    assert a.questions == b.questions == ("2",)
    assert a.languages == b.languages == ("eng", "pol")
    assert (a.values.tolist(), b.values.tolist()) == ([[1.0]], [[0.0]])
