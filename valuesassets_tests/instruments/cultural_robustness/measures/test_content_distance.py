import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valuesassets.instruments.cultural_robustness.measures.answer_space import build_space
from valuesassets.instruments.cultural_robustness.measures.content_distance import (
    content_distance,
    translation_distances,
)
from valuesassets_tests.instruments.cultural_robustness.made_vectors import (
    LANGUAGES,
    answer_rows,
    question_frame,
    question_rows,
)


def distance_of(answers, texts):
    """The content distance of (Q, L, samples, D) answers, with the questions' own vectors (L, Q, D)."""
    rows = pd.DataFrame([*answer_rows(answers[:, :, None]), *question_rows(texts)])
    space, _ = build_space(rows, question_frame(len(answers), 2, LANGUAGES[: len(texts)]))
    return content_distance(space, rows)


def translated(seed, n_questions=40, n_languages=4):
    """Questions that say the same in every language, offset and noise aside: (L, Q, D)."""
    random = np.random.default_rng(seed)
    contents = random.normal(size=(1, n_questions, 8))
    return (
        contents + 2 * random.normal(size=(n_languages, 1, 8)) + 0.4 * random.normal(size=(n_languages, n_questions, 8))
    )


def test_a_case_worked_by_hand():
    """Without their means the questions are -1, 0, 1 in one language, the same in the other, and 3/2 of that when left
    out of the mean: F = 0, T = mean of (3/2)^2 / 2 * (1, 1, 4) = 9/4. Answers lie 1 apart: U' = 1/2."""
    texts = np.array([[[0.0], [1.0], [2.0]], [[10.0], [11.0], [12.0]]])
    answers = np.array([[[[0.0]], [[11.0]]]] * 3)
    assert distance_of(answers, texts).value == pytest.approx(0.5 / 2.25)


@given(st.integers(0, 2**32 - 1))
def test_distances_of_translations_agree_with_loops(seed):
    texts = np.random.default_rng(seed).normal(size=(3, 4, 2))
    same, different = translation_distances(texts)
    pairs = [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)]

    def d(q, r):
        return np.mean([((texts[one, q] - texts[other, r]) ** 2).sum() / 2 for one, other in pairs])

    assert same.tolist() == pytest.approx([d(q, q) for q in range(4)])
    assert different[1, 3] == pytest.approx(d(1, 3))
    assert np.diag(different).tolist() == [0.0] * 4


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
@pytest.mark.slow
def test_what_is_added_to_all_texts_and_answers_of_a_language_changes_nothing(seed):
    random = np.random.default_rng(seed)
    texts, answers = translated(seed, 20), random.normal(size=(20, 4, 2, 8))
    offsets = 10 * random.normal(size=(4, 1, 8))
    plain, moved = distance_of(answers, texts), distance_of(answers + offsets, texts + offsets)
    assert [moved.value, moved.low, moved.high] == pytest.approx([plain.value, plain.low, plain.high])


@pytest.mark.slow
def test_answers_that_differ_as_translations_have_none_and_different_answers_have_one():
    texts, other = translated(1, n_questions=80), translated(1, n_questions=80)
    fresh = np.random.default_rng(2)
    difference = other - texts  # zero: both are drawn from the same seed
    translations = texts + difference + 0.4 * (fresh.normal(size=texts.shape) - 0)
    offsets = texts.mean(axis=1, keepdims=True)
    apart = offsets + fresh.normal(size=texts.shape) * np.sqrt(1 + 0.16)
    near, far = (distance_of(np.moveaxis(each, 0, 1)[:, :, None], texts) for each in (translations, apart))
    assert 0.1 < near.value < 0.3  # the noise of two translations where questions have that of one
    assert far.low < 1 < far.high


def test_what_a_question_adds_is_what_leaving_it_out_takes_away():
    """In sums of translations and of pairs of different questions, whose mean is the denominator."""
    _, different = translation_distances(translated(5, 14))
    others = different.sum(axis=1) / 13
    without = [np.delete(np.delete(different, q, 0), q, 1).sum() / (13 * 12) for q in range(14)]
    mean = different.sum() / (14 * 13)
    assert mean + 13 * (mean - np.array(without)) == pytest.approx(mean + (2 * others - 2 * mean) * 13 / 12)


def test_without_vectors_of_the_questions_there_is_none():
    random = np.random.default_rng(3)
    texts, answers = translated(3, 6), random.normal(size=(6, 4, 1, 8))
    rows = pd.DataFrame([*answer_rows(answers[:, :, None]), *question_rows(texts)])
    lacking = rows[(rows["kind"] != "question") | (rows["language"] != "ell") | (rows["id"] != "5")]
    space, _ = build_space(rows, question_frame(6, 2, LANGUAGES[:4]))
    reason = content_distance(space, lacking)
    assert reason == "vectors of 3 questions or more are needed in every language; question 5 in ell has none"


def test_an_embedder_that_distinguishes_no_questions_gives_none():
    texts = np.ones((4, 6, 8))
    reason = distance_of(np.random.default_rng(4).normal(size=(6, 4, 1, 8)), texts)
    assert reason == (
        "different questions are no farther apart than translations of one: the embedder tells no content apart"
    )
