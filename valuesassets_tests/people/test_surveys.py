import re
import tomllib

import pytest

from valuesassets.instruments.survey.material.analysis_scale import base_id
from valuesassets.instruments.survey.material.indicators import INDICATORS, components
from valuesassets.people.survey_file import known_codes
from valuesassets.people.surveys import FILE, load_human_files, parse_human_files
from valuesassets.people.variables import load_variables
from valuesassets.records.errors import StudyError
from valuesassets.records.places import STUDIES, load_facts
from valuesassets.records.study import load_study

SURVEYS = load_human_files().surveys


@pytest.mark.parametrize("name", SURVEYS)
def test_every_survey_has_all_questions_of_the_ten_indicators(name):
    needed = {base_id(part) for indicator in INDICATORS for part in components(indicator)}
    assert needed <= set(SURVEYS[name].column_of)


@pytest.mark.parametrize("name", SURVEYS)
def test_every_recode_lands_on_the_questions_scale_or_says_why_there_is_no_answer(name):
    survey, known = SURVEYS[name], load_human_files().missing
    for each in survey.recodes:
        for question in each.variables:
            count = load_variables().option_count(question)
            for new in each.codes.values():
                assert new in known or 1 <= new <= count, (question, new)
    assert set(survey.form_missing.values()) <= set(known)


@pytest.mark.parametrize("name", SURVEYS)
def test_no_column_answers_two_questions(name):
    columns = [column.casefold() for column in SURVEYS[name].column_of.values()]
    assert len(set(columns)) == len(columns)


def test_codes_that_mean_an_answer_are_recoded_one_to_one():
    for survey in SURVEYS.values():
        for each in survey.recodes:
            old = [code for code, new in each.codes.items() if new > 0 and code > 0]
            assert len({each.codes[code] for code in old}) == len(old)


def test_wvs_and_the_joint_file_have_the_questions_common_to_both_surveys_but_for_those_left_out():
    common = set(load_variables().same_in_wvs)
    for name in ("wvs7", "joint"):
        gone = {question for each in SURVEYS[name].left_out for question in each.variables}
        assert set(SURVEYS[name].column_of) == common - gone, name


def test_the_joint_files_indicators_are_those_of_the_facts():
    for indicator in load_variables().indicators:
        if len(indicator.evs) == 1:
            assert SURVEYS["joint"].column_of[indicator.evs[0]] == indicator.code


def test_countries_are_iso_codes_once_each_and_hold_all_published_ones():
    table = load_facts("iso_countries.csv")
    assert len(table) == 249
    for column, pattern in (("alpha2", "[A-Z]{2}"), ("alpha3", "[A-Z]{3}"), ("numeric", r"\d{1,3}")):
        assert table[column].is_unique
        assert all(re.fullmatch(pattern, str(code)) for code in table[column])
    known = set(known_codes().values())
    assert set(load_facts("iw_coordinates.csv")["country"]) <= known
    assert {language.country for language in load_study("evs2017").languages.values()} <= known


@pytest.mark.parametrize(
    ("code", "country"), [("276", "DE"), ("GBR", "GB"), ("RO", "RO"), ("915", "XK"), ("NIR", None)]
)
def test_a_countrys_codes(code, country):
    assert known_codes()[code] == country


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"wight": ["w"]}, "surveys.joint.wight"),
        ({"columns": {"v225": "X001"}}, "surveys.joint: no number of answers is known for v225"),
        ({"recodes": [{"variables": ["v7"], "codes": {"1": 2}}]}, "reason"),
        ({"same_name": ["seven"]}, "'seven' is neither a code"),
    ],
)
def test_malformed_facts_are_named(change, message):
    table = tomllib.loads((STUDIES / "facts" / FILE).read_text(encoding="utf-8"))
    table["surveys"]["joint"] |= change
    with pytest.raises(StudyError, match=message):
        parse_human_files(table, FILE)
