"""Prompts: the person first, then the question; shown numbers begin at 1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.worldvaluesbench.material.backgrounds import load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.trials.prompts import (
    CUE,
    WORDINGS,
    asking,
    opening,
    person_lines,
    shown_value,
    wording_number,
)
from valuesassets.records.errors import HumanDataError, StudyError

KNOWN, QUESTIONS = load_backgrounds(), load_value_questions()
THREE = [KNOWN.attribute(name) for name in ("B_COUNTRY", "H_URBRURAL", "Q275")]
LINES = person_lines({"B_COUNTRY": "156", "H_URBRURAL": "1", "Q275": "3"}, THREE)


def test_the_prompt_of_the_specification():
    prompt = opening(LINES, "list") + asking(QUESTIONS["Q1"], range(4), "list")
    assert prompt == (
        "A person was interviewed.\nCountry: China\nSettlement: urban\nEducation: upper secondary (ISCED 3)\n\n"
        "How important is family to you?\n1. very important\n2. quite important\n3. not so important\n"
        "4. not important at all\nThe person's answer:"
    )


def test_without_attributes_their_lines_are_gone_and_nothing_else():
    question = asking(QUESTIONS["Q1"], range(4), "list")
    with_lines, without = opening(LINES, "list") + question, opening((), "list") + question
    assert [line for line in with_lines.split("\n") if line not in LINES] == without.split("\n")


def test_attributes_are_shown_backwards_in_the_wording_of_that_name():
    assert opening(LINES, WORDINGS[1]).split("\n")[1:4] == list(LINES[::-1])


def test_ten_points_have_words_at_their_ends_only_and_the_ends_change_places():
    forward = asking(QUESTIONS["Q164"], range(10), "list").split("\n")
    backward = asking(QUESTIONS["Q164"], range(9, -1, -1), "list").split("\n")
    assert forward[1] == "1. not important at all"
    assert backward[1] == "1. very important"
    assert forward[2:10] == backward[2:10] == [f"{number}." for number in range(2, 10)]


def test_a_scale_from_0_is_shown_from_1():
    assert asking(QUESTIONS["Q94"], range(3), "list").split("\n")[1] == "1. no"
    assert "from 1, meaning no, to 3, meaning yes, an active one." in asking(QUESTIONS["Q94"], range(3), "sentence")


@given(st.sampled_from(list(QUESTIONS)), st.sampled_from(WORDINGS), st.booleans())
def test_every_prompt_ends_in_the_cue_and_names_both_ends(name, wording, is_reversed):
    question = QUESTIONS[name]
    order = range(len(question.values))[:: -1 if is_reversed else 1]
    text = asking(question, order, wording)
    assert text.startswith(question.text)
    assert text.endswith(f"\n{CUE}")
    assert text.index(question.labels[order[0]], len(question.text)) <= text.rindex(question.labels[order[-1]])
    assert "\n\n" not in text


def test_what_is_missing_of_a_person_has_no_line_and_lines_follow_the_sets_order():
    assert person_lines({"Q275": "3", "B_COUNTRY": "156"}, THREE[::-1]) == (
        "Education: upper secondary (ISCED 3)",
        "Country: China",
    )


def test_numbers_say_themselves_and_a_language_without_a_name_is_left_out():
    assert shown_value(KNOWN.attribute("Q262"), "34") == "34"
    assert shown_value(KNOWN.attribute("Q272"), "1240") == "English"
    assert shown_value(KNOWN.attribute("Q272"), "7") is None


def test_a_code_off_its_list_is_told_in_one_line():
    with pytest.raises(HumanDataError, match=r"^Q260: code 3 found, codes such as 1 to 2 were expected; recode"):
        shown_value(KNOWN.attribute("Q260"), "3")


def test_towns_need_the_users_codebook():
    with pytest.raises(
        StudyError, match=r"^attributes: N_TOWN: its codes have no names here; name the folder of a code"
    ):
        shown_value(KNOWN.attribute("N_TOWN"), "20001")
    named = KNOWN.named_by({"N_TOWN": {20001: "a town"}})
    assert shown_value(named.attribute("N_TOWN"), "20001") == "a town"


def test_an_unknown_wording_is_told_in_one_line():
    with pytest.raises(
        StudyError, match=r"^wordings: poem unknown; name some of list, list_reversed_attributes, sente"
    ):
        wording_number("poem")
