import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.cultural_robustness.measures.embedder_report import (
    derive_embedder_report,
    found_shares,
    language_share,
    variance_shares,
)
from valuesassets_tests.instruments.cultural_robustness.made_vectors import LANGUAGES, question_rows
from valuesassets_tests.needs import shared_file


def test_a_case_worked_by_hand():
    """Three languages, two questions: the third has them the other way round, and is found by nobody."""
    texts = np.array([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.1], [0.1, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    assert found_shares(texts).tolist() == [0.5, 0.5, 0.0]
    report = derive_embedder_report(pd.DataFrame(question_rows(texts))).set_index("language")
    assert report["status"].to_dict() == {"deu": "ok", "ell": "ok", "eng": "unknown_language"}
    assert report.loc["eng", "reason"] == "finds 0.00 of the translations, 0.50 are needed: another embedder"


def test_questions_that_read_alike_find_each_others_translations():
    texts = np.array([[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.2], [1.0, 0.2]]])
    assert found_shares(texts).tolist() == [1.0, 1.0]


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(2, 6))
def test_shares_agree_with_loops_over_questions(seed, n_languages, n_questions):
    texts = np.random.default_rng(seed).normal(size=(n_languages, n_questions, 4))
    unit = texts / np.linalg.norm(texts, axis=-1, keepdims=True)
    expected = [
        np.mean(
            [
                max(range(n_questions), key=lambda r: unit[own, q] @ unit[other, r]) == q
                for other in range(n_languages)
                if other != own
                for q in range(n_questions)
            ]
        )
        for own in range(n_languages)
    ]
    assert found_shares(texts) == pytest.approx(expected)


@given(st.integers(0, 2**32 - 1))
def test_shares_of_variance_are_those_of_an_analysis_of_variance(seed):
    texts = np.random.default_rng(seed).normal(size=(4, 5, 3)) + np.arange(4)[:, None, None]
    total = ((texts - texts.mean(axis=(0, 1))) ** 2).sum()
    within = ((texts - texts.mean(axis=1, keepdims=True)) ** 2).sum()
    assert variance_shares(texts).mean() == pytest.approx(1 - within / total)


def test_turned_or_scaled_vectors_have_the_same_report():
    random = np.random.default_rng(0)
    texts = random.normal(size=(3, 6, 4))
    turn = np.linalg.qr(random.normal(size=(4, 4)))[0]
    one, other = (derive_embedder_report(pd.DataFrame(question_rows(each))) for each in (texts, 3 * texts @ turn))
    pd.testing.assert_frame_equal(one, other)


def test_one_language_cannot_be_compared():
    report = derive_embedder_report(pd.DataFrame(question_rows(np.zeros((1, 3, 2)))))
    assert report["status"].tolist() == ["undefined"]
    assert report["found_share"].isna().all()
    assert report["reason"].tolist() == ["1 languages share 3 questions, two of each are needed"]


def test_questions_that_a_language_lacks_are_compared_in_none():
    texts = np.random.default_rng(1).normal(size=(3, 6, 4))
    rows = pd.DataFrame(question_rows(texts))
    report = derive_embedder_report(rows[(rows["language"] != "eng") | (rows["id"] != "4")])
    assert report["n_questions"].tolist() == [5, 5, 5]
    assert report["language"].tolist() == list(LANGUAGES[:3])


@pytest.mark.published
def test_the_public_vectors_give_the_published_figures():
    stored = np.load(shared_file("data", "robustness", "vectors", "questions_e5_small.npz"))
    texts = [stored[name].astype(np.float32) for name in stored.files]
    report = derive_embedder_report(pd.DataFrame(question_rows(texts, stored.files))).set_index("language")
    published = {"fo": 0.489, "el": 0.779, "tr": 0.779, "da": 0.782, "he": 0.801, "ru": 0.861, "en": 0.886}
    assert len(report) == 19
    assert report.loc[list(published), "found_share"].to_list() == pytest.approx(list(published.values()), abs=1e-3)
    assert report.index[report["status"] == "unknown_language"].tolist() == ["fo"]
    assert report["found_share"].drop("fo").min() >= 0.779
    assert language_share(report) == pytest.approx(0.296, abs=5e-4)
