import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.measures.answer_space import build_space
from valuesassets.instruments.cultural_robustness.measures.language_pairs import (
    derive_language_pairs,
    gain_by_chance,
    measure_pairs,
)
from valuesassets.instruments.cultural_robustness.tables import LANGUAGE_PAIRS
from valuesassets.measure.resampling import permutation_p, resample_counts
from valuesassets_tests.instruments.cultural_robustness.made_vectors import (
    LANGUAGES,
    answer_rows,
    drawn_cells,
    question_frame,
)


def paired(cells, first=0):
    n_anchors = cells.shape[2] - (not first)
    questions = question_frame(len(cells), n_anchors, LANGUAGES[: cells.shape[1]])
    space, _ = build_space(pd.DataFrame(answer_rows(cells, first=first)), questions)
    return measure_pairs(space, 19, np.random.default_rng(0))


def test_a_row_per_pair_holds_distances_worked_by_hand():
    """deu and ell say 0 and 2 without a country, 1 and 1 for Austria, 3 and 4 for Germany; eng says what deu does."""
    deu, ell = [[0.0], [1.0], [3.0]], [[2.0], [1.0], [4.0]]
    cells = np.array([[deu, ell, deu]] * 2)[:, :, :, None]
    pairs = paired(cells)
    rows = derive_language_pairs("m", pairs, np.ones((9, 2)))
    assert rows.columns.tolist() == LANGUAGE_PAIRS.names
    by_pair = rows.set_index(["language", "other_language"])
    assert by_pair.index.tolist() == [("deu", "ell"), ("deu", "eng"), ("ell", "eng")]
    columns = ["unanchored_distance", "same_country_distance", "other_country_distance", "culture_gain"]
    assert by_pair.loc[("deu", "ell"), columns].tolist() == [2.0, 0.25, 3.25, 1.75]  # C: 9/2 and 4/2
    assert by_pair.loc[("deu", "eng"), columns].tolist() == [0.0, 0.0, 2.0, 0.0]


def test_the_mean_over_pairs_is_what_the_scores_are_made_of():
    pairs = paired(drawn_cells(1))
    rows = derive_language_pairs("m", pairs, np.ones((9, 6)))
    assert rows["culture_gain"].mean() == pytest.approx(pairs.gains.mean())
    follow = rows["other_country_distance"] - rows["same_country_distance"]
    assert follow.mean() == pytest.approx(pairs.follows.mean())


@pytest.mark.slow
def test_intervals_of_pairs_hold_their_gain_about_as_often_as_they_say():
    """Unanchored answers of the second language lie 1 away along an axis of its own, so that the gain is 1/2."""
    cells = drawn_cells(2, n_questions=300, n_languages=2, n_conditions=3) * 0.5
    cells[:, 1, 0, :, 0] += 1
    random = np.random.default_rng(2)
    held = []
    for start in range(0, 300, 15):
        rows = derive_language_pairs("m", paired(cells[start : start + 15]), resample_counts(15, 199, random))
        held.append(rows["culture_gain_low"].iloc[0] <= 0.5 <= rows["culture_gain_high"].iloc[0])
    assert np.mean(held) >= 0.8


def test_one_kind_alone_leaves_the_other_columns_empty():
    cells = drawn_cells(3)
    plain = derive_language_pairs("m", paired(cells[:, :, :1]), np.ones((9, 6)))
    named = derive_language_pairs("m", paired(cells[:, :, 1:], first=1), np.ones((9, 6)))
    both = derive_language_pairs("m", paired(cells), np.ones((9, 6)))
    assert plain[["same_country_distance", "other_country_distance", "culture_gain"]].isna().all(axis=None)
    assert named[["unanchored_distance", "culture_gain"]].isna().all(axis=None)
    pd.testing.assert_series_equal(plain["unanchored_distance"], both["unanchored_distance"])
    pd.testing.assert_series_equal(named["other_country_distance"], both["other_country_distance"])


def test_any_condition_may_have_been_the_unanchored_one_alike_often():
    conditions = (np.array([3.0, 1.0, 2.0]), np.array([0.0, 0.0, 6.0]))
    every = [each - (sum(of) - each) / 2 for of in conditions for each in of]
    expected = {round((one + other) / 2, 9) for one in every[:3] for other in every[3:]}
    gains = np.round(gain_by_chance(conditions, 6000, np.random.default_rng(0)), 9)
    assert set(gains.tolist()) == expected
    assert gains.mean() == pytest.approx(0, abs=0.15)
    share = (gains == round((every[0] + every[5]) / 2, 9)).mean()
    assert share == pytest.approx(1 / 9, abs=0.02)


def test_a_gain_in_every_question_is_found_in_either_direction():
    random = np.random.default_rng(1)
    conditions = tuple(np.array([each, *random.normal(size=5)]) for each in random.normal(2, 1, 20))
    for sign in (1, -1):
        turned = tuple(sign * each for each in conditions)
        observed = np.mean([each[0] - each[1:].mean() for each in turned])
        by_chance = gain_by_chance(turned, 999, np.random.default_rng(2))
        assert permutation_p(abs(observed), np.abs(by_chance)) == pytest.approx(0.001)
