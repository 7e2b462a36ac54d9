import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valuesassets.instruments.cultural_robustness.measures.scores import NAMES, TESTS, measure_model
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.instruments.cultural_robustness.made_vectors import (
    LANGUAGES,
    answer_rows,
    drawn_cells,
    question_frame,
    question_rows,
)

FEW = Inference(resamples=199)
OWN = {"deu": "DE", "ell": "AT", "eng": "FR"}


def measured(cells, personas=1, first=0, how=FEW, more=(), **given):
    """All tables of the answers in (Q, L, K, samples, D)."""
    n_languages, n_conditions = cells.shape[1:3]
    questions = question_frame(len(cells), (n_conditions - (not first)) // personas, LANGUAGES[:n_languages], personas)
    rows = pd.DataFrame([*answer_rows(cells, first=first), *more])
    return measure_model("m", rows, questions, own_countries=OWN, inference=how, **given)


def scored(*args, **given):
    return measured(*args, **given)["scores"].set_index("score")


def followed(seed, n_languages=5, n_questions=12, gain=0.0):
    """Cells whose anchored answers say what their country says; unanchored ones differ between languages by `gain`."""
    random = np.random.default_rng(seed)
    contents = random.normal(size=(n_questions, 1, 4, 1, 6))
    contents = np.repeat(contents, n_languages, axis=1)
    contents[:, :, 0] += gain * random.normal(size=(n_questions, n_languages, 1, 6))
    return contents + 0.2 * random.normal(size=(n_questions, n_languages, 4, 2, 6))


def test_a_case_worked_by_hand():
    """Two languages, two countries, one dimension, one answer: U = 2, A = 1/2, C = 2, V = 5/2 in both questions."""
    eng, deu = [[0.0], [0.0], [2.0]], [[2.0], [1.0], [3.0]]
    cells = np.array([[deu, eng]] * 2)[:, :, :, None]
    rows = scored(cells, how=Inference.model_construct(resamples=99, alpha=1.01))
    # A: (0 to 1, 2 to 3) 1/2 each; C: 0 to 3 is 9/2, 2 to 1 is 1/2; V: 0 to 2 and 1 to 3 are 2 each
    assert rows.loc["culture_gain", "value"] == pytest.approx(2 - 0.5)
    assert rows.loc["country_follow", "value"] == pytest.approx(2.5 - 0.5)
    assert rows.loc["country_distance", "value"] == pytest.approx(2)
    assert rows.loc["diversity", "value"] == pytest.approx(0.75)
    assert rows.loc["robustness", "value"] == pytest.approx(1)
    assert rows["n_questions"].iloc[:5].tolist() == [2] * 5


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
@pytest.mark.slow
def test_every_distance_agrees_with_loops_over_pairs_of_answers_drawn_apart(seed):
    """Distances of means less their noise are means over pairs of different samples, cell by cell."""
    cells = drawn_cells(seed, n_questions=3, n_languages=3, n_conditions=5)
    rows = scored(cells, personas=2)

    def centred(one, other):
        """Half the squared distance of expected vectors: the products within a cell are of different samples only."""
        own = [a[0] @ a[1] for a in (one, other)]
        return (own[0] + own[1]) / 2 - one.mean(axis=0) @ other.mean(axis=0)

    partners = [(1, 2), (2, 1), (3, 4), (4, 3)]
    u, a, c, v = [], [], [], []
    for q in range(3):
        for one, other in ((0, 1), (0, 2), (1, 2)):
            u.append(centred(cells[q, one, 0], cells[q, other, 0]))
            a += [centred(cells[q, one, k], cells[q, other, k]) for k in range(1, 5)]
            c += [centred(cells[q, one, k], cells[q, other, m]) for k, m in partners]
        v += [centred(cells[q, one, k], cells[q, one, m]) for one in range(3) for k, m in partners]
    assert rows.loc["culture_gain", "value"] == pytest.approx(np.mean(u) - np.mean(a))
    assert rows.loc["country_follow", "value"] == pytest.approx(np.mean(c) - np.mean(a))
    assert rows.loc["country_distance", "value"] == pytest.approx(np.mean(v))


def test_language_offsets_move_no_score_within_or_across_countries_and_no_gain_in_dimensions_of_their_own():
    cells = followed(0, gain=1.0)
    offsets = 10 * np.random.default_rng(1).normal(size=(1, 5, 1, 1, 6))
    plain, moved = scored(cells), scored(cells + offsets)
    within = ["country_follow", "country_distance", "robustness", "own_country_advantage"]
    np.testing.assert_allclose(moved.loc[within, "value"].astype(float), plain.loc[within, "value"].astype(float))
    assert moved.loc["robustness", "p"] == plain.loc["robustness", "p"]
    apart = np.concatenate([np.zeros_like(offsets), offsets], axis=-1)
    beside = np.concatenate([cells, np.zeros_like(cells)], axis=-1)
    one, other = scored(beside), scored(beside + apart)
    np.testing.assert_allclose(other["value"].astype(float), one["value"].astype(float), atol=1e-9)


def test_sampling_noise_is_no_diversity():
    """One answer in all languages and countries but for the luck of the draw: U, A and V are 0 on average."""
    random = np.random.default_rng(2)
    rows = scored(random.normal(size=(40, 5, 4, 2, 6)))
    assert abs(rows.loc["country_distance", "value"]) < 0.3  # the noise of means of two alone would be 3
    unequal = random.normal(size=(40, 5, 4, 8, 6))
    frame = pd.DataFrame(answer_rows(unequal))
    frame = frame[(frame["kind"] == "unspecific") | (frame["sample"] < 2)]
    scores = measure_model("m", frame, question_frame(40, 3), inference=FEW)["scores"].set_index("score")
    assert abs(scores.loc["culture_gain", "value"]) < 0.3  # without subtracting noise it would be about -2.25


def test_planted_cultures_are_found_and_named_across_offsets():
    random = np.random.default_rng(3)
    contents = random.normal(size=(30, 1, 4, 1, 8))
    cells = np.repeat(contents, 5, axis=1)
    cells[:, :, 0] = cells[:, [0, 1, 0, 1, 0], 0]
    cells[:, [1, 3], 0] = cells[:, [1, 3], 2]  # Greek and French answer as one country, the others as another
    cells[:, [0, 2, 4], 0] = cells[:, [0, 2, 4], 1]
    cells = cells + 3 * random.normal(size=(1, 5, 1, 1, 8)) + 0.2 * random.normal(size=(30, 5, 4, 2, 8))
    tables = measured(cells)
    rows, groups = tables["scores"].set_index("score"), tables["language_groups"].set_index("language")["group"]
    assert groups.to_dict() == {"deu": 1, "ell": 2, "eng": 1, "fra": 2, "pol": 1}
    assert rows.loc["diversity", "low"] < 0.6 < rows.loc["diversity", "high"]  # 6 of 10 pairs differ as countries do
    assert rows.loc["diversity", "p"] < 0.05
    assert rows.loc["robustness", "value"] == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_where_all_answers_are_equal_no_test_rejects_and_both_ratios_are_refused(n):
    vector = np.random.default_rng(4).normal(size=8)
    cells = np.broadcast_to(vector / np.linalg.norm(vector), (6, n, 4, 2, 8)).astype(np.float32)
    tables = measured(cells)
    rows = tables["scores"].set_index("score")
    p = rows.loc[list(TESTS), "p"].dropna()
    assert len(p) >= 3
    assert (p == 1).all()
    assert rows.loc[["diversity", "robustness"], "value"].isna().all()
    assert (rows.loc[["diversity", "robustness"], "status"] == "refused").all()
    assert rows.loc["diversity", "reason"] == "nothing to compare: answers for different countries do not differ"
    assert tables["language_groups"].empty


@pytest.mark.parametrize(("n", "has_structure"), [(2, False), (3, True)])
def test_two_and_three_languages_have_every_score_that_their_number_allows(n, has_structure):
    rows = scored(followed(5, n_languages=n, gain=1.0))
    n_scores = [name for name in NAMES if name not in ("structure", "repeated_answers", "content_distance")]
    assert (rows.loc[n_scores, "status"] == "ok").all()
    assert rows.loc[n_scores, "value"].notna().all()
    assert rows.loc["diversity", "p"] < 0.05
    assert (rows.loc["structure", "status"] == "ok") == has_structure
    if not has_structure:
        assert rows.loc["structure", "reason"] == "2 languages: pairs of them can differ from 3 languages on"


def test_ratios_are_refused_where_countries_are_not_followed():
    contents = np.random.default_rng(6).normal(size=(12, 4, 4, 1, 5))  # to every language and country something else
    rows = scored(contents + 0.1 * drawn_cells(6, n_questions=12))
    assert rows.loc["country_follow", "p"] > 0.05
    for name in ("diversity", "robustness"):
        assert rows.loc[name, "status"] == "refused"
        assert rows.loc[name, ["value", "low", "high", "p", "null"]].isna().all()
        assert rows.loc[name, "reason"].startswith("countries are not followed (country_follow has p = ")
    assert np.isfinite(rows.loc["culture_gain", "value"])


def test_without_countries_only_the_content_distance_is_left():
    random = np.random.default_rng(7)
    texts = random.normal(size=(1, 12, 6)) + 0.1 * random.normal(size=(5, 12, 6))
    rows = scored(followed(7)[:, :, :1], more=question_rows(texts))
    assert rows.loc["content_distance", "status"] == "ok"
    others = rows.drop(index=["content_distance", "repeated_answers"])
    assert (others["status"] == "undefined").all()
    assert (others["reason"] == "no answers for a named country").all()
    assert others["value"].isna().all()


def test_without_unanchored_answers_it_says_what_it_cannot_say():
    rows = scored(followed(8)[:, :, 1:], first=1)
    assert (rows.loc[["robustness", "country_follow", "country_distance"], "status"] == "ok").all()
    lacking = rows.loc[["diversity", "culture_gain", "own_country_advantage", "structure", "content_distance"]]
    assert (lacking["reason"] == "no answers without a country").all()
    both = scored(followed(8))
    assert rows.loc["robustness", "value"] == pytest.approx(both.loc["robustness", "value"])


def test_tests_of_a_model_are_corrected_together():
    cells = followed(9, gain=0.05)
    rows = scored(cells)
    assert rows.loc["country_follow", "p"] == pytest.approx(4 / 200)  # the least of four, with 199 permutations
    assert rows.loc["robustness", "p"] == rows.loc["country_follow", "p"]
    assert rows.loc["diversity", "p"] == rows.loc["culture_gain", "p"]
    assert rows["p"].notna().sum() == 6


def test_one_answer_is_said_in_the_row():
    rows = scored(followed(10)[:, :, :, :1])
    reason = rows.loc["robustness", "reason"]
    assert reason.startswith("one answer in each cell: sampling noise is not subtracted; no interval: 12 questions")


def test_nothing_left_to_compare_gives_rows_with_the_reason_and_empty_tables():
    rows = pd.DataFrame(answer_rows(drawn_cells(11))).assign(is_usable=False)
    tables = measure_model("m", rows, question_frame(6, 3, LANGUAGES[:4]), inference=FEW)
    assert tables["scores"]["value"].isna().all()
    assert tables["scores"]["reason"].str.len().gt(10).all()
    assert tables["scores"]["score"].tolist() == list(NAMES)
    assert len(tables["dropped"]) == 4
    assert all(tables[name].empty for name in ("language_pairs", "country_profiles", "language_groups"))


def test_the_same_seed_gives_the_same_rows_and_another_one_others():
    cells = drawn_cells(12)
    one, again = measured(cells)["scores"], measured(cells)["scores"]
    other = measured(cells, how=Inference(resamples=199).with_seed(1))["scores"]
    pd.testing.assert_frame_equal(one, again)
    assert not one["p"].equals(other["p"])
