from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.cultural_robustness.measures.language_pairs import PairDistances
from valuesassets.instruments.cultural_robustness.measures.own_country_advantage import (
    double_centred,
    measure_closeness,
    own_country_advantage,
)
from valuesassets.measure.resampling import resample_counts

OWN = {"deu": "DE", "fra": "FR", "pol": "PL"}
LANGUAGES, COUNTRIES = ("deu", "eng", "fra", "pol"), ("AT", "DE", "FR", "PL")


def distances(to_countries, countries=COUNTRIES, languages=LANGUAGES):
    """What is compared, of which only (Q, L, N) distances to countries matter."""
    conditions = tuple(np.zeros(2) for _ in to_countries)
    return PairDistances(
        languages, None, None, None, conditions, countries, np.asarray(to_countries, dtype=float), np.empty(0)
    )


def advantage(to_countries, own=OWN, draws=999, seed=0, **names):
    random = np.random.default_rng(seed)
    pairs = distances(to_countries, **names)
    closeness = measure_closeness(pairs, own, resample_counts(len(to_countries), 99, random))
    return own_country_advantage(closeness, draws, random)


def test_a_case_worked_by_hand():
    """deu is 2 nearer to Germany than to France, fra 2 nearer to France: closeness 1/2 + 1/2 less its means."""
    result = advantage([[[0.0, 2.0], [2.0, 0.0]]] * 3, countries=("DE", "FR"), languages=("deu", "fra"))
    assert result.of_questions.tolist() == [1, 1, 1]
    assert result.n_languages == 2


@given(st.integers(0, 2**32 - 1))
def test_what_makes_a_language_or_a_country_far_from_all_gives_no_advantage(seed):
    random = np.random.default_rng(seed)
    plain = random.normal(size=(5, 4, 4))
    moved = plain + random.normal(size=(4, 1)) + random.normal(size=(1, 4))
    assert advantage(moved).of_questions == pytest.approx(advantage(plain).of_questions)


def test_p_is_that_of_all_assignments_of_own_countries():
    evidence = np.random.default_rng(1).normal(size=(6, 4, 4))
    result = advantage(evidence, draws=20_000)
    closeness = double_centred(-evidence.mean(axis=0))
    rows, own = [0, 2, 3], [1, 2, 3]
    every = [
        np.mean([closeness[row, own[at]] for row, at in zip(rows, way, strict=True)]) for way in permutations(range(3))
    ]
    assert every[0] == pytest.approx(result.of_questions.mean())
    assert result.p == pytest.approx(np.mean(np.array(every) >= every[0] - 1e-12), abs=0.02)
    assert result.by_chance == pytest.approx(np.mean(every), abs=0.02)


def test_each_question_adds_its_own_closeness_where_none_lacks_a_country():
    evidence = np.random.default_rng(4).normal(size=(6, 4, 4))
    closeness = measure_closeness(distances(evidence), OWN, np.ones((9, 6)))
    assert closeness.of_questions == pytest.approx(double_centred(-evidence))


def test_double_centring_leaves_no_mean_of_a_row_or_column():
    centred = double_centred(np.random.default_rng(2).normal(size=(3, 4, 5)))
    assert centred.mean(axis=1) == pytest.approx(np.zeros((3, 5)))
    assert centred.mean(axis=2) == pytest.approx(np.zeros((3, 4)))


def test_a_country_that_some_questions_lack_is_taken_over_the_others():
    evidence = np.random.default_rng(3).normal(size=(6, 4, 4))
    evidence[:3, :, 0] = np.nan
    measured = measure_closeness(distances(evidence), OWN, np.ones((9, 6)))
    assert measured.distance[:, 0] == pytest.approx(evidence[3:, :, 0].mean(axis=0))
    assert np.isfinite(measured.closeness).all()


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({}, "0 of 4 languages have an own country"),
        ({"deu": "DE", "fra": "CH"}, "1 of 4 languages have an own country"),
        ({"deu": "DE", "fra": "DE"}, "2 of 4 languages have an own country among those named, 1 different ones"),
    ],
)
def test_where_own_countries_cannot_be_exchanged_there_is_no_test(own, words):
    assert words in advantage(np.zeros((3, 4, 4)), own)


def test_one_kind_of_answers_alone_has_no_closeness():
    pairs = PairDistances(LANGUAGES, None, None, None, (np.zeros(2),), (), None, np.empty(0))
    assert measure_closeness(pairs, OWN, np.ones((9, 1))) is None
    assert pd.isna(pairs.gains).all()
