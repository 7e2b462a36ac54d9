"""How passages are laid out for models."""

from valuesassets.instruments.psych_tasks.material.layouts import lay_out_marked, lay_out_plain, pieces_of, with_chat
from valuesassets.records.trials import Turn
from valuesassets_tests.instruments.psych_tasks.made_people import (
    BALLOONS,
    balloon_text,
    person,
    survey_person,
    survey_task,
)

TASK = survey_task(reply_hint="One number.")


def pieces(who, task):
    return pieces_of(who.transcript.text, who.marks, task)


def test_marked_is_word_for_word_and_its_spans_are_the_answers():
    who = survey_person("a", [3, 1])
    laid = lay_out_marked(pieces(who, TASK), TASK)
    assert laid.prompt == who.transcript.text
    assert [laid.prompt[span.start : span.end] for span in laid.spans] == ["3", "1"]
    assert laid.sets == (("1", "2", "3", "4", "5"),)
    assert laid.close == (">>",)


def test_plain_has_no_delimiters_and_the_space_before_a_mark_is_the_answers():
    who = survey_person("a", [3, 1])
    laid = lay_out_plain(pieces(who, TASK))
    assert laid.prompt == who.transcript.text.replace("<<", "").replace(">>", "")
    assert [laid.prompt[span.start : span.end] for span in laid.spans] == [" 3", " 1"]
    assert laid.sets == ((" 1", " 2", " 3", " 4", " 5"),)
    assert laid.close == ("\n",)


def test_plain_closes_an_answer_with_what_stands_behind_it():
    who = person("a", balloon_text(), BALLOONS)
    assert lay_out_plain(pieces(who, BALLOONS)).close == (" ", ".", "\n")


def test_in_a_chat_answers_are_the_assistants_and_what_closes_them_is_dropped():
    task = survey_task(kinds=[{"name": "k", "before": "choose $", "candidates": {"list": ["A", "B"]}}])
    who = person("a", "Two boxes.\nYou choose <<A>>. Points: 3.\nYou choose <<B>>.\n", task)
    laid = with_chat(lay_out_marked(pieces(who, task), task), pieces(who, task), task)
    assert laid.chat == (
        Turn("user", "Two boxes.\nYou choose"),
        Turn("assistant", "A"),
        Turn("user", "Points: 3.\nYou choose"),
        Turn("assistant", "B"),
    )
    assert [(span.turn, span.at) for span in laid.spans] == [(0, 0), (1, 0)]


def test_the_hint_stands_behind_the_instructions_of_a_chat_alone():
    who = survey_person("a", [3, 1])
    laid = with_chat(lay_out_marked(pieces(who, TASK), TASK), pieces(who, TASK), TASK)
    assert laid.chat is not None
    assert laid.chat[0].text.endswith("Statement 1.\nOne number.")
    assert "One number." not in laid.prompt + laid.chat[2].text


def test_marks_with_nothing_between_them_share_a_turn_and_the_space_is_the_answers():
    who = person("a", balloon_text(), BALLOONS)
    laid = with_chat(lay_out_marked(pieces(who, BALLOONS), BALLOONS), pieces(who, BALLOONS), BALLOONS)
    assert laid.chat is not None
    assert laid.chat[1] == Turn("assistant", "P P S")
    assert [(span.turn, span.at) for span in laid.spans] == [(0, 0), (0, 1), (0, 3), (1, 0)]


def test_a_text_that_begins_with_a_mark_has_no_chat():
    who = person("a", "<<3>> is what I say. <<4>>\n", TASK)
    assert with_chat(lay_out_marked(pieces(who, TASK), TASK), pieces(who, TASK), TASK).chat is None
