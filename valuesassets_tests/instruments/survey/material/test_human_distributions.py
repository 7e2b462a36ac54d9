from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.survey.material.human_distributions import derive_human_distributions
from valuesassets.instruments.survey.material.indicators import indicator_mean
from valuesassets.instruments.survey.material.respondents import derive_respondents
from valuesassets.instruments.survey.plants.plants import country_preferences
from valuesassets.people.weighted_shares import design_effect, weighted_answers
from valuesassets.records.errors import HumanDataError
from valuesassets.records.parquet import write_table
from valuesassets.records.study import why_no_people
from valuesassets.records.tables import HUMAN_DISTRIBUTIONS
from valuesassets_tests.comparing.planted_grid import demo, human, no_human, peopleless, questions
from valuesassets_tests.instruments.survey.asked import ask
from valuesassets_tests.people.synthetic_files import (
    FORMATS,
    as_evs,
    as_joint,
    as_wvs,
    save,
    study_of,
)
from valuesassets_tests.people.synthetic_files import people as survey_people

BY_LANGUAGE = {language: questions() for language in demo().languages}


def test_the_table_fits_its_schema(tmp_path):
    write_table(tmp_path / "human.parquet", human().to_dict("records"), HUMAN_DISTRIBUTIONS)


def test_answers_sum_to_one_and_say_that_they_are_planted():
    table = human()
    assert table.groupby(["country", "question_id"])["prob"].sum().to_numpy() == pytest.approx(1)
    assert set(table["source"]) == {"planted"}
    assert set(table["country"]) == {"GB", "DE", "FR", "PL", "GR", "BG"}


def test_respondents_scatter_around_their_countrys_preferences_as_their_number_says():
    scores = []
    preferences = country_preferences(demo(), "pol", questions())
    for question, rows in human().query("country == 'PL'").groupby("question_id"):
        variant, probs = preferences[question]
        wanted = dict(zip(variant.values, probs, strict=True))
        for row in rows.itertuples():
            p = wanted[row.response_value]
            scores.append((row.prob - p) / np.sqrt(p * (1 - p) * row.design_effect / row.n))
    assert np.std(scores) == pytest.approx(1, abs=0.15)


def test_a_second_choice_is_asked_of_those_who_made_the_first():
    table = human().query("country == 'FR'").drop_duplicates("question_id").set_index("question_id")
    conditional = [name for name in table.index if "@" in name]
    assert table.loc[conditional, "n"].sum() <= demo().human.respondents
    assert table.loc[conditional, "n"].sum() > 0.8 * demo().human.respondents


def test_dont_know_is_a_rate_beside_the_answers():
    table = human()
    assert table["dk_rate"].between(0, 0.2).all()
    assert (table["n"] <= demo().human.respondents).all()


def test_without_human_data_the_table_is_empty_and_says_why():
    table = no_human()
    assert list(table.columns) == HUMAN_DISTRIBUTIONS.names
    assert table.empty
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


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize(("written", "survey"), [(as_evs, "evs2017"), (as_wvs, "wvs7"), (as_joint, "joint")])
def test_every_statistic_of_a_known_survey_is_recovered_out_of_every_format(tmp_path, written, survey, ending):
    originals = survey_people(("DE", "GB"))
    study = study_of((save(written(originals), tmp_path / f"survey.{ending}"), survey))
    table = derive_human_distributions(derive_respondents(study, BY_LANGUAGE), study, BY_LANGUAGE)
    assert table.groupby(["country", "question_id"])["prob"].sum().to_numpy() == pytest.approx(1)
    for (country, question), rows in table.groupby(["country", "question_id"]):
        here = originals[originals["country"] == country]
        here = here.assign(weight=here["weight"] / here["weight"].mean())
        base, _, condition = question.partition("@")
        if condition:
            here = here[here["v110"] == int(condition[-1])]
        answered = here[here[base] > 0]
        weights = answered["weight"]
        for row in rows.itertuples():
            chosen = answered[base] == row.response_value
            assert row.prob == pytest.approx(np.average(chosen, weights=weights)), question
        row = rows.iloc[0]
        assert row["n"] == len(answered)
        assert row["weighted_n"] == pytest.approx(weights.sum())
        assert row["design_effect"] == pytest.approx(1 + weights.var(ddof=0) / weights.mean() ** 2)
        could = here[here[base] != -3]
        assert row["dk_rate"] == pytest.approx(np.average(could[base] < 0, weights=could["weight"])), question
        assert row["source"] == f"survey.{ending}"


def test_a_small_country_by_hand(tmp_path):
    # 20 of weight 1 say 1, 10 of weight 3 say 4, 10 of weight 1 do not know, of four answers
    frame = as_evs(survey_people(("DE",), 40)).assign(
        v7=[1] * 20 + [4] * 10 + [-1] * 10, gweight=[1.0] * 20 + [3.0] * 10 + [1.0] * 10
    )
    study = study_of((save(frame, tmp_path / "evs.sav"), "evs2017"))
    table = derive_human_distributions(derive_respondents(study, BY_LANGUAGE), study, BY_LANGUAGE)
    rows = table[table["question_id"] == "v7"]
    assert rows["response_value"].tolist() == [1, 2, 3, 4]
    assert rows["prob"].tolist() == pytest.approx([0.4, 0, 0, 0.6])
    first = rows.iloc[0]
    assert (first["country"], first["language"], first["n"]) == ("DE", "deu", 30)
    assert first["weighted_n"] == pytest.approx(50 * 40 / 60)
    assert first["design_effect"] == pytest.approx(30 * (20 + 90) / 50**2)
    assert first["dk_rate"] == pytest.approx(10 / 60)


def test_the_composite_indicators_of_distributions_are_the_means_of_respondents_own_values(tmp_path):
    originals = survey_people(("DE",), 500)
    for question in ("v110", "v111", "v86", "v92", "v93", "v95"):
        originals[question] = originals[question].where(originals[question] > 0, 1)
    originals["v111"] = originals["v111"].where(originals["v111"] != originals["v110"], originals["v110"] % 4 + 1)
    study = study_of((save(as_evs(originals), tmp_path / "evs.csv"), "evs2017"))
    respondents = derive_respondents(study, BY_LANGUAGE)
    table = derive_human_distributions(respondents, study, BY_LANGUAGE)
    answers = {
        question: dict(zip(rows["response_value"], rows["prob"], strict=True))
        for question, rows in table.groupby("question_id")
    }
    for indicator in ("Y002", "Y003"):
        own = np.average(respondents[indicator], weights=respondents["weight"])
        assert indicator_mean(indicator, answers) == pytest.approx(own)


def test_languages_of_one_country_have_its_people(tmp_path):
    study = study_of((save(as_evs(survey_people(("DE",))), tmp_path / "evs.csv"), "evs2017"))
    languages = study.languages | {"eng": study.languages["eng"].model_copy(update={"country": "DE"})}
    study = study.model_copy(update={"languages": languages})
    table = derive_human_distributions(derive_respondents(study, BY_LANGUAGE), study, BY_LANGUAGE)
    assert set(table["language"]) == {"eng", "deu"}
    by_language = {code: rows.drop(columns="language").reset_index() for code, rows in table.groupby("language")}
    assert by_language["eng"]["prob"].tolist() == by_language["deu"]["prob"].tolist()


def test_another_reference_country_is_read_where_the_study_says_so(tmp_path):
    study = study_of((save(as_evs(survey_people(("DE", "AT"))), tmp_path / "evs.csv"), "evs2017"))
    languages = study.languages | {"deu": study.languages["deu"].model_copy(update={"country": "AT"})}
    study = study.model_copy(update={"languages": languages})
    table = derive_human_distributions(derive_respondents(study, BY_LANGUAGE), study, BY_LANGUAGE)
    assert set(table["country"]) == {"AT"}


def test_an_item_that_nobody_answered_has_no_rows(tmp_path):
    frame = as_evs(survey_people(("DE", "GB")))
    frame.loc[frame["country"] == 276, "v7"] = -2
    study = study_of((save(frame, tmp_path / "evs.dta"), "evs2017"))
    table = derive_human_distributions(derive_respondents(study, BY_LANGUAGE), study, BY_LANGUAGE)
    assert set(table.loc[table["question_id"] == "v7", "country"]) == {"GB"}


def test_answers_that_the_question_does_not_offer_are_refused(tmp_path):
    study = study_of((save(as_evs(survey_people(("DE",))), tmp_path / "evs.csv"), "evs2017"))
    short = {"deu": [ask("v7", 3)]}
    with pytest.raises(
        HumanDataError, match=r"evs.csv: column v7, country DE: answers 4, where the question in deu offers"
    ):
        derive_human_distributions(derive_respondents(study, short), study, short)


@pytest.mark.slow
def test_planted_people_have_exactly_the_planted_answers_second_choices_among_them():
    many = demo().model_copy(update={"human": demo().human.model_copy(update={"respondents": 40_000})})
    by_language = {"pol": questions()}
    table = derive_human_distributions(derive_respondents(many, by_language), many, by_language)
    scores = []
    for question, rows in table.groupby("question_id"):
        put, probs = country_preferences(many, "pol", questions())[question]
        wanted = dict(zip(put.values, probs, strict=True))
        for row in rows.itertuples():
            p = wanted[row.response_value]
            scores.append((row.prob - p) / np.sqrt(p * (1 - p) * row.design_effect / row.n))
    assert np.abs(scores).max() < 4.5
    assert np.std(scores) == pytest.approx(1, abs=0.2)


def test_an_empty_table_of_files_says_which_files():
    study = study_of((Path("evs.sav"), "evs2017"))
    assert "evs.sav has no respondents of the study's countries" in why_no_people(study)


@given(st.integers(0, 10_000), st.integers(2, 10))
def test_weighted_answers_sum_to_one_and_doubling_all_weights_changes_no_share(seed, count):
    random = np.random.default_rng(seed)
    codes = random.integers(-5, count + 1, 50).astype(np.int16)
    weights = random.uniform(0.1, 5, 50)
    once, twice = (weighted_answers(codes, w, range(1, count + 1)) for w in (weights, 2 * weights))
    if once is None:
        assert not (codes > 0).any()
        return
    assert once[0].sum() == pytest.approx(1)
    assert twice[0] == pytest.approx(once[0])
    for name, factor in (("n", 1), ("weighted_n", 2), ("design_effect", 1), ("dk_rate", 1)):
        assert twice[1][name] == pytest.approx(factor * once[1][name])


def test_further_countries_have_the_first_forms_questions_and_no_language(tmp_path):
    path = save(as_evs(survey_people(("DE", "GB", "AT", "FR"))), tmp_path / "evs.csv")
    of_languages = study_of((path, "evs2017"))
    human_data = of_languages.human.model_copy(update={"countries": ("AT",)})
    study = of_languages.model_copy(update={"human": human_data})
    tables = [
        derive_human_distributions(derive_respondents(each, BY_LANGUAGE), each, BY_LANGUAGE)
        for each in (of_languages, study)
    ]
    more = tables[1][tables[1]["country"] == "AT"]
    assert set(more["language"]) == {""}
    assert set(more["question_id"]) == set(tables[0].loc[tables[0]["country"] == "GB", "question_id"])
    assert tables[1][tables[1]["country"] != "AT"].reset_index(drop=True).equals(tables[0])  # the others stay the same


def test_an_answer_of_a_further_country_that_the_form_lacks_names_the_first_form(tmp_path):
    of_languages = study_of((save(as_evs(survey_people(("DE", "AT"))), tmp_path / "evs.csv"), "evs2017"))
    study = of_languages.model_copy(update={"human": of_languages.human.model_copy(update={"countries": ("AT",)})})
    respondents = derive_respondents(study, BY_LANGUAGE)
    respondents.loc[respondents["country"] == "AT", questions()[0].id] = 99
    with pytest.raises(HumanDataError, match="country AT: answers 99, where the question in the first form offers"):
        derive_human_distributions(respondents, study, BY_LANGUAGE)
