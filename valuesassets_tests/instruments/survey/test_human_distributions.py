import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.survey.human_distributions import derive_human_distributions, design_effect, why_no_people
from valuesassets.instruments.survey.plants import country_preferences
from valuesassets.instruments.survey.respondents import derive_respondents
from valuesassets.records.schemas import HUMAN_DISTRIBUTIONS, write_table
from valuesassets_tests.instruments.survey.planted_grid import demo, human, no_human, peopleless, questions


def test_the_table_fits_its_schema(tmp_path):
    write_table(tmp_path / "human.parquet", human().to_dict("records"), HUMAN_DISTRIBUTIONS)


def test_answers_sum_to_one_and_say_that_they_are_planted():
    found = human()
    assert found.groupby(["country", "question_id"])["prob"].sum().to_numpy() == pytest.approx(1)
    assert set(found["source"]) == {"planted"}
    assert set(found["country"]) == {"GB", "DE", "FR", "PL", "GR", "BG"}


def test_respondents_scatter_around_their_countrys_preferences_as_their_number_says():
    scores = []
    preferences = country_preferences(demo(), "pol", questions())
    for question, rows in human().query("country == 'PL'").groupby("question_id"):
        _, values, probs = preferences[question]
        wanted = dict(zip(values, probs, strict=True))
        for row in rows.itertuples():
            p = wanted[row.response_value]
            scores.append((row.prob - p) / np.sqrt(p * (1 - p) * row.design_effect / row.n))
    assert np.std(scores) == pytest.approx(1, abs=0.15)


def test_a_second_choice_is_asked_of_those_who_made_the_first():
    found = human().query("country == 'FR'").drop_duplicates("question_id").set_index("question_id")
    conditional = [name for name in found.index if "@" in name]
    assert found.loc[conditional, "n"].sum() <= demo().human.respondents
    assert found.loc[conditional, "n"].sum() > 0.8 * demo().human.respondents


def test_dont_know_is_a_rate_beside_the_answers():
    found = human()
    assert found["dk_rate"].between(0, 0.2).all()
    assert (found["n"] <= demo().human.respondents).all()


def test_without_human_data_the_table_is_empty_and_says_why():
    found = no_human()
    assert list(found.columns) == HUMAN_DISTRIBUTIONS.names
    assert found.empty
    assert "human.source = 'none'" in why_no_people(peopleless())
    assert "materialise" in why_no_people(demo())


def test_the_same_study_draws_the_same_respondents():
    english = {"eng": questions()}
    again = derive_human_distributions(derive_respondents(demo(), english), demo(), english)
    assert again.equals(human().query("language == 'eng'").reset_index(drop=True))


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=20))
def test_design_effect_is_one_more_than_the_relative_variance_of_weights(weights):
    w = np.array(weights)
    assert design_effect(w) == pytest.approx(1 + w.var() / w.mean() ** 2)
