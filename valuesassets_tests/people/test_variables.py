import copy
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.people.variables import FEWEST_CODED, OWN_IDS, Variables, expand_codes, load_variables
from valuesassets.records.errors import StudyError
from valuesassets.records.faults import validated
from valuesassets.records.places import STUDIES
from valuesassets.records.questions import OPTION_COUNTS, ResponseType
from valuesassets_tests.instruments.survey.asked import ask

VALUE_CODES = [*(f"v{number}" for number in range(1, 225)), *(f"Q{number}" for number in range(1, 260))]


@pytest.fixture
def table():
    path = STUDIES / "facts" / "evs2017_variables.toml"
    return copy.deepcopy(tomllib.loads(path.read_text(encoding="utf-8")))


def test_every_value_question_has_a_response_type():
    assert [code for code in VALUE_CODES if load_variables().type_of.get(code) is None] == []


def test_every_value_question_has_a_number_of_options():
    variables = load_variables()
    asked = [code for code in VALUE_CODES if not variables.is_excluded(code)]
    assert [code for code in asked if variables.option_count(code) is None] == []
    assert variables.option_count("v54") == 7
    assert variables.option_count("v39") == OPTION_COUNTS[ResponseType.LIKERT10]


@pytest.mark.parametrize(
    "code",
    [
        "v20",
        "v96",
        "v45a",
        "v52",
        "v52a",
        "v174",
        "v174a",
        "v176",
        "v183",
        "v225",
        "v276",
        "Q78A",
        "Q92",
        "Q223",
        "Q290",
    ],
)
def test_none_rows_parties_elections_and_demographics_are_left_out(code):
    variables = load_variables()
    assert variables.is_excluded(code)
    assert len(variables.reason_to_exclude(code)) > 20
    assert code not in variables.opinion_items


@pytest.mark.parametrize("code", ["v1", "v9", "v95", "v110", "v184", "v224", "Q1", "Q78", "Q259"])
def test_value_questions_are_kept(code):
    assert not load_variables().is_excluded(code)
    assert code in load_variables().opinion_items


def test_the_surveys_have_211_and_245_opinion_items():
    """EVS: 224 without two rows for none, denomination, two of parties, eight of elections. WVS-7: 259 less 14."""
    surveys = [code[0] for code in load_variables().opinion_items]
    assert (surveys.count("v"), surveys.count("Q")) == (224 - 13, 259 - 14)


def test_an_exclusion_without_a_reason_is_refused(table):
    table["excluded"][0]["reason"] = ""
    with pytest.raises(StudyError, match=r"facts\.toml: key 'reason' in entry 1 of 'excluded': text"):
        validated(Variables, table, StudyError, "facts.toml")


def test_lists_dependencies_and_filters_are_known():
    variables = load_variables()
    assert variables.list_of.get("v86") == "child_qualities"
    assert variables.list_of.get("v9") == "organisations"
    assert variables.is_converted(ask("v22", 2, item="Drug addicts"))
    assert not variables.is_converted(ask("v22", 2)), "without an item there is no statement to make"
    assert not variables.is_converted(ask("v31", 2, item="Most people"))
    assert variables.list_of.get("v20") is None
    assert (variables.depends_on.get("v111"), variables.depends_on.get("v109"), variables.depends_on.get("v110")) == (
        "v110",
        "v108",
        None,
    )
    assert variables.asked_of.get("v53") == "v51 != 1"
    assert "v170" in variables.names_country.variables
    assert "v39" not in variables.names_country.variables
    assert variables.volunteered["v204"] == (3,)


def test_the_ten_indicators_carry_their_wvs_questions():
    variables = load_variables()
    assert len(variables.indicators) == 10
    assert [variables.same_in_wvs.get(code) for code in ("v7", "v111", "v95", "v39")] == ["Q46", "Q155", "Q17", "Q49"]
    for indicator in variables.indicators:
        assert tuple(variables.same_in_wvs.get(code) for code in indicator.evs) == indicator.wvs


def test_what_both_surveys_ask_has_the_same_number_of_answers_but_for_three():
    variables = load_variables()
    pairs = variables.same_in_wvs.items()
    other = {evs for evs, wvs in pairs if variables.option_count(evs) != variables.option_count(wvs)}
    assert other == {"v64", "v171", "v172"}
    assert len(set(variables.same_in_wvs.values())) == len(pairs)
    assert variables.same_in_wvs.get("v199") is None


def test_every_opinion_item_of_evs_has_a_topic_and_a_question_number():
    variables = load_variables()
    numbered = {code for codes in variables.numbers.values() for code in codes}
    evs = {code for code in variables.opinion_items if code.startswith("v")}
    assert evs <= variables.topics.keys()
    assert evs <= numbered
    assert len(set(variables.topics.values())) == len(variables.topics)


def test_question_numbers_of_another_survey_are_no_codes():
    variables = load_variables()
    assert variables.letters_of([ask(f"Q{n}") for n in range(1, 7)]) == {"v", "Q"}
    assert variables.letters_of([ask("Q1")] * 6 + [ask("Q2"), ask("Q3")]) == {"v"}
    assert variables.letters_of([ask(f"Q{n}", 10) for n in range(1, 7)]) == {"v"}
    assert not any(variables.is_excluded(code) for indicator in variables.indicators for code in indicator.evs)


def test_list_items_are_answered_yes_or_no():
    variables = load_variables()
    items = [code for code in VALUE_CODES if variables.list_of.get(code)]
    assert {variables.type_of.get(code) for code in items} == {ResponseType.BINARY}


def test_an_unknown_key_is_named(table):
    table["colour"] = "blue"
    with pytest.raises(StudyError, match=r"facts\.toml: unknown key 'colour'"):
        validated(Variables, table, StudyError, "facts.toml")


@pytest.mark.parametrize(("pattern", "said"), [("v[0-9", "regular expression"), ("v[0-9]+", "names no group `number`")])
def test_a_pattern_of_codes_that_cannot_be_used_is_named(table, pattern, said):
    table["codes"][0]["pattern"] = pattern
    with pytest.raises(StudyError, match=rf"facts\.toml: key 'pattern' in entry 1 of 'codes': .*{said}"):
        validated(Variables, table, StudyError, "facts.toml")


def test_a_malformed_range_is_named(table):
    table["lists"]["neighbours"] = ["22-30"]
    with pytest.raises(StudyError, match=r"key 'lists\.neighbours': '22-30' is neither a code"):
        validated(Variables, table, StudyError, "facts.toml")


def test_a_code_with_two_response_types_is_refused(table):
    table["response_types"]["binary"].append("v39")
    with pytest.raises(StudyError, match="response_types: v39 stand twice"):
        validated(Variables, table, StudyError, "facts.toml")


@given(st.integers(1, 300), st.integers(0, 20))
def test_a_range_holds_both_ends_and_all_between(first, more):
    assert expand_codes([f"v{first}-v{first + more}"]) == tuple(
        f"v{number}" for number in range(first, first + more + 1)
    )


def test_ids_like_an_evs_form_with_other_answers_are_no_codes():
    variables = load_variables()
    own = [ask(f"v{n}", 3) for n in range(1, 13)]
    assert variables.letters_of(own) == frozenset()
    assert variables.survey_of(own, [None] * len(own)) is None
    assert "v" in variables.letters_of([ask(f"V{n}") for n in range(1, 7)])
    assert "v" in variables.letters_of(own[: FEWEST_CODED - 1])  # too few to tell


def test_of_questions_with_ids_of_their_own_no_survey_knows_anything():
    variables = load_variables()
    own = [ask(f"Q{n}").replace(**{OWN_IDS: True}) for n in range(1, 7)]
    assert variables.of(own).letters_of(own) == frozenset()
    assert variables.of(own).option_count("Q1") is None
    assert variables.of([ask("Q1")]) is variables
