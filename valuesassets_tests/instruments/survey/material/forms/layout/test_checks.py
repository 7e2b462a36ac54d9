"""Checks on an extraction without its form."""

from valuesassets.instruments.survey.material.forms.layout.checks import shape_faults
from valuesassets.people.variables import load_variables
from valuesassets_tests.instruments.survey.asked import ask


def twice(*ids):
    faults = shape_faults([ask(each) for each in ids], load_variables())
    return [fault.question_id for fault in faults if fault.check == "duplicate_id"]


def test_an_id_that_stands_twice_is_named_once_in_a_survey_of_which_nothing_is_known_too():
    assert twice("v1", "v2", "v1", "v1") == ["v1"]
    assert twice("trust", "work", "trust", "trust") == ["trust"]


def test_a_question_number_is_no_id_where_the_survey_is_known_and_an_empty_id_is_none_anywhere():
    assert twice("v1", "Q38", "Q38") == []
    assert twice("", "trust", "") == []
