import numpy as np
import pytest

from valuesassets.instruments.cultural_robustness.measures.country_profiles import derive_country_profiles
from valuesassets.instruments.cultural_robustness.measures.language_pairs import PairDistances
from valuesassets.instruments.cultural_robustness.measures.own_country_advantage import measure_closeness
from valuesassets.instruments.cultural_robustness.tables import COUNTRY_PROFILES
from valuesassets.measure.resampling import resample_counts


def profiles(to_countries, own):
    conditions = tuple(np.zeros(2) for _ in to_countries)
    pairs = PairDistances(("deu", "fra"), None, None, None, conditions, ("DE", "FR"), to_countries, np.empty(0))
    counts = resample_counts(len(to_countries), 99, np.random.default_rng(0))
    return derive_country_profiles("m", pairs, measure_closeness(pairs, own, counts))


def test_a_row_per_language_and_country_worked_by_hand():
    to_countries = np.array([[[0.0, 2.0], [4.0, 2.0]]] * 3)
    rows = profiles(to_countries, {"deu": "DE"})
    assert rows.columns.tolist() == COUNTRY_PROFILES.names
    assert rows[["language", "country", "is_own"]].to_numpy().tolist() == [
        ["deu", "DE", True],
        ["deu", "FR", False],
        ["fra", "DE", False],
        ["fra", "FR", False],
    ]
    assert rows["distance"].tolist() == [0, 2, 4, 2]
    assert rows["closeness"].tolist() == [1, -1, -1, 1]
    assert rows["closeness_low"].tolist() == [1, -1, -1, 1]


def test_intervals_lie_around_their_closeness_and_count_the_questions_they_rest_on():
    to_countries = np.random.default_rng(1).normal(size=(20, 2, 2))
    to_countries[:5, :, 1] = np.nan
    rows = profiles(to_countries, {})
    assert rows["n_questions"].tolist() == [20, 15, 20, 15]
    assert ((rows["closeness_low"] < rows["closeness"]) & (rows["closeness"] < rows["closeness_high"])).all()
    assert rows["closeness"].sum() == pytest.approx(0)


def test_without_unanchored_answers_there_is_no_row():
    pairs = PairDistances(("deu", "fra"), None, None, None, (np.zeros(2),), ("DE",), None, np.empty(0))
    rows = derive_country_profiles("m", pairs, None)
    assert rows.empty
    assert rows.columns.tolist() == COUNTRY_PROFILES.names
