from dataclasses import replace

import pyarrow as pa
import pytest

from valuesassets.instruments.worldwise.answers.reasons import (
    STATUSES,
    Reply,
    Request,
    derive_reasons,
    parse_answer,
)
from valuesassets.instruments.worldwise.material.exemplars import read_exemplars
from valuesassets.instruments.worldwise.tables import REASONS

OPTIONS = ("Take the post abroad", "Stay near the parents")
LISTED = ("Personal Autonomy", "Family Harmony", "Respect for Authority", "Peace, Quiet")


def request(form="decide", order="forward", options=OPTIONS, poles=("high", "low")):
    return Request("s1/JPN/decide", "a prompt", "s1", "IDV", "JPN", form, order, options, poles, LISTED)


def parsed(text, of=None, **more):
    return parse_answer(Reply(0, text, **more), of or request())


def answered(decision, values="Family Harmony; Personal Autonomy", reason="It is my life."):
    return f"DECISION: {decision}\nVALUES: {values}\nREASON: {reason}"


def test_a_plain_answer_is_read_whole():
    assert parsed(answered("A")) == {
        "status": "ok",
        "reason": None,
        "decision": "high",
        "values": ["Family Harmony", "Personal Autonomy"],
        "unknown_values": [],
        "explanation": "It is my life.",
    }


@pytest.mark.parametrize(
    "text",
    [
        *("A", "a", "A.", "(A)", "a)", "**A**", "Option A", "option a.", "A. Take the post abroad"),
        *("A Take the post abroad", "Take the post abroad", "take the post abroad.", "A, because it is my life"),
        *("A) take the post abroad!", "Option A because it is my life"),
    ],
)
def test_a_letter_or_the_options_own_text_is_a_decision(text):
    assert parsed(answered(text))["decision"] == "high"


@pytest.mark.parametrize(
    "text",
    [
        *("A or B", "A/B", "A and B", "Both", "A, B or NEITHER", "C", "It depends", "AB", "A difficult choice", ""),
        *("A. Stay near the parents", "B: Take the post abroad", "A, though B is better", "A or NEITHER", "Abroad"),
        *("Take the post abroad or stay near the parents", "high", "Not A", "A because of B", "A, not both"),
    ],
)
def test_what_may_be_read_in_two_ways_is_unparsed(text):
    outcome = parsed(answered(text))
    assert (outcome["status"], outcome["decision"]) == ("unparsed", None)
    assert outcome["reason"] == f"DECISION: {text!r} found, A, B or NEITHER was expected"


def test_the_letter_is_mapped_back_through_the_order():
    turned = request(order="reversed", options=OPTIONS[::-1], poles=("low", "high"))
    assert parsed(answered("A"), turned)["decision"] == "low"
    assert parsed(answered("Take the post abroad"), turned)["decision"] == "high"


def test_options_of_the_same_text_are_no_decision():
    assert parsed(answered("same"), request(options=("Same", "same")))["status"] == "unparsed"


@pytest.mark.parametrize(
    "text",
    [
        "decision: B\nvalues: Family Harmony\nreason: They need me.",
        "**DECISION:** B\n**VALUES:** Family Harmony\n**REASON:** They need me.",
        "1. DECISION: B\n2. VALUES: Family Harmony\n3. REASON: They need me.",
        "- DECISION: B\n- VALUES: Family Harmony\n- REASON: They need me.",
        "Here is my answer.\n\nDECISION: B\n\nVALUES: Family Harmony\n\nREASON: They need me.",
        "DECISION: B VALUES: Family Harmony REASON: They need me.",
        "### DECISION: B\n\n### VALUES:\n- Family Harmony\n\n### REASON:\nThey need me.",
        "DECISION: B\nDECISION: b\nVALUES: Family Harmony\nREASON: They need me.",
        "REASON: They need me.\nVALUES: family harmony\nDECISION: B",
    ],
)
def test_marks_case_numbers_and_extra_lines_change_nothing(text):
    outcome = parsed(text)
    assert (outcome["status"], outcome["decision"], outcome["values"]) == ("ok", "low", ["Family Harmony"])
    assert outcome["explanation"] == "They need me."


def test_a_reason_may_have_several_lines_and_speak_of_values():
    outcome = parsed(answered("A", reason="First: my values: they count.\nSecond, my job."))
    assert outcome["explanation"] == "First: my values: they count.\nSecond, my job."
    assert outcome["values"] == ["Family Harmony", "Personal Autonomy"]


@pytest.mark.parametrize(
    ("text", "listed", "unknown"),
    [
        ("family harmony; Joy; Personal autonomy.", ["Family Harmony", "Personal Autonomy"], ["Joy"]),
        ("Family Harmony, Personal Autonomy, and Joy", ["Family Harmony", "Personal Autonomy"], ["Joy"]),
        ("Peace, Quiet", ["Peace, Quiet"], []),
        ("Peace, Quiet; Joy", ["Peace, Quiet"], ["Joy"]),
        ("1. Family Harmony; 2. Joy; 3. Joy", ["Family Harmony"], ["Joy"]),
        ("[Family Harmony; Family Harmony]", ["Family Harmony"], []),
        ("Family", [], ["Family"]),
        ("Loyalty; Joy; Fun", [], ["Loyalty", "Joy", "Fun"]),
    ],
)
def test_values_are_told_by_whether_they_are_listed(text, listed, unknown):
    outcome = parsed(answered("A", text))
    assert (outcome["status"], outcome["values"], outcome["unknown_values"]) == ("ok", listed, unknown)


@pytest.mark.parametrize(
    "text", ["NEITHER", "neither.", "**Neither**", "Neither A nor B", "Neither of them", "Neither option"]
)
def test_who_takes_neither_has_declined_and_decided_nothing(text):
    outcome = parsed(answered(text))
    assert (outcome["status"], outcome["decision"], outcome["reason"]) == (
        "declined",
        None,
        "the model takes neither option",
    )
    assert outcome["values"] == ["Family Harmony", "Personal Autonomy"]
    assert parsed(f"DECISION: {text}")["status"] == "declined"


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that.",
        "I cannot answer this question.",
        "As an AI language model, I do not have a country.",
        "I’m unable to provide a personal view on this.",
        "Sorry. I will not role-play as a person from there.",
        "I can't help with this request.",
    ],
)
@pytest.mark.parametrize("form", ["decide", "open"])
def test_who_does_not_answer_at_all_has_refused(text, form):
    outcome = parsed(text, request(form))
    assert (outcome["status"], outcome["explanation"]) == ("refused", None)
    assert outcome["reason"] == f"the model does not answer: {text!r}"


@pytest.mark.parametrize(
    "text",
    [
        "I can't help my brother with money, so I keep it.",
        "I cannot accept this. I will not leave my parents.",
        "I can't help but think of my mother.",
        "I would stay. My family needs me. As an AI expert I could work here.",
    ],
)
def test_a_refusal_within_the_dilemma_is_an_answer(text):
    outcome = parsed(text, request("open", None, (), ()))
    assert (outcome["status"], outcome["explanation"], outcome["decision"]) == ("ok", text, None)
    assert parsed(answered("B", reason=text))["status"] == "ok"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the answer is empty"),
        (" \n", "the answer is empty"),
        (None, "the answer is empty"),
        ("A", "no line DECISION"),
        ("I would go.", "no line DECISION"),
        ("DECISION: A", "nothing stands behind VALUES and REASON"),
        ("DECISION: A\nVALUES:\nREASON: so", "nothing stands behind VALUES"),
        ("DECISION: A\nVALUES: Joy\nREASON:", "nothing stands behind REASON"),
        ("DECISION: A\nVALUES: Joy\nREASON: x\nDECISION: B", "DECISION stands there more than once, and differs"),
        ("DECISION: A\nVALUES: Joy\nVALUES: Fun\nREASON: x", "VALUES stands there more than once, and differs"),
    ],
)
def test_why_an_answer_cannot_be_read_is_said(text, reason):
    outcome = parsed(text)
    assert (outcome["status"], outcome["reason"], outcome["decision"], outcome["values"]) == (
        "unparsed",
        reason,
        None,
        [],
    )


@pytest.mark.parametrize(
    ("written", "status", "reason"),
    [
        (Reply(0, answered("A"), "content_filter"), "filtered", "the answer was filtered: content_filter"),
        (Reply(0, None, "SAFETY"), "filtered", "the answer was filtered: SAFETY"),
        (Reply(0, answered("A"), "length"), "truncated", "the answer ended for its length"),
        (Reply(0, "DECISION: A\nVALUES: Joy", "MAX_TOKENS"), "truncated", "the answer ended for its length"),
        (Reply(0, "", "length"), "truncated", "the answer ended for its length"),
        (Reply(0, None, None, "503 after 5 attempts"), "failed", "503 after 5 attempts"),
        (Reply(0, is_asked=False), "not_asked", "the prompt was not asked"),
        (Reply(0, failure="budget_usd", is_asked=False), "not_asked", "budget_usd"),
    ],
)
@pytest.mark.parametrize("form", ["decide", "open"])
def test_what_ended_an_answer_counts_before_its_text(written, status, reason, form):
    outcome = parse_answer(written, request(form))
    assert (outcome["status"], outcome["reason"]) == (status, reason)
    assert (outcome["decision"], outcome["values"], outcome["explanation"]) == (None, [], None)


def test_open_and_advocate_texts_are_taken_whole():
    for form in ("open", "advocate"):
        assert parsed(" I go.\nDECISION: none ", request(form))["explanation"] == "I go.\nDECISION: none"


def test_every_answer_is_a_row_of_the_table_and_none_is_dropped():
    written = [
        Reply(0, answered("A"), "stop", counts={"prompt_tokens": 90, "output_tokens": 20, "cost_usd": 0.001}),
        *(Reply(1, answered("NEITHER")), Reply(2, "I cannot answer this."), Reply(3, None, "safety")),
        *(Reply(4, "I go. " * 20, "length"), Reply(5, "DECISION: A", "length")),
        *(Reply(6, "x"), Reply(7, failure="no route"), Reply(8, is_asked=False)),
    ]
    table = derive_reasons([(request(), each) for each in written])
    assert table["status"].tolist() == list(STATUSES)
    assert table["draw"].tolist() == list(range(9))
    assert table["decision"].tolist()[0] == "high"
    assert table["decision"].isna().sum() == 8
    assert table.loc[0, ["prompt_tokens", "cost_usd"]].tolist() == [90, 0.001]
    REASONS.checked(pa.Table.from_pandas(table, preserve_index=False), "made")


LOOPED = "I would help my brother because he is my brother. " * 6
THOUGHT = "Well, let me think of what my brother would say of that, and of what I owe to those who raised me so"


@pytest.mark.parametrize("form", ["decide", "open", "advocate"])
@pytest.mark.parametrize("end", ["end", "length"])
def test_a_text_that_goes_round_in_circles_is_a_loop_and_not_cut(form, end):
    """Nobody should raise max_tokens for one."""
    outcome = parsed(LOOPED, request(form), finish_reason=end)
    assert (outcome["status"], outcome["decision"]) == ("loop", None)
    assert "goes round in circles" in outcome["reason"]


def test_a_decision_that_is_repeated_in_circles_is_a_loop_too():
    assert parsed(answered("A") + "\n" + "REASON: It is fun to go out and see it. " * 9)["status"] == "loop"


def test_what_is_off_its_format_is_so_before_it_is_cut():
    outcome = parsed(THOUGHT, finish_reason="length")
    assert (outcome["status"], outcome["reason"]) == ("unparsed", "no line DECISION; the answer ended for its length")
    assert parsed(THOUGHT, request("open"), finish_reason="length")["status"] == "truncated"


def test_an_answer_goes_on_from_the_name_of_its_first_field():
    """As a base model does, whose prompt ends in it."""
    behind = answered("A").removeprefix("DECISION:")
    assert parsed(behind) == parsed(answered("A"))
    assert parsed("A difficult choice, this one.\nVALUES: Joy\nREASON: x")["status"] == "unparsed"
    assert parsed("A. It is fun.")["status"] == "unparsed"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("925 917", "the answer holds no word"),
        ("...", "the answer holds no word"),
        ("Ich würde meinem Bruder helfen, weil er zur Familie gehört und niemanden sonst hat.", "the answer is in deu"),
    ],
)
def test_open_texts_that_can_be_told_to_be_no_answer_are_not_ok(text, reason):
    outcome = parsed(text, request("open"))
    assert outcome["status"] == "unparsed"
    assert outcome["reason"].startswith(reason)


def test_an_open_text_that_says_its_prompt_again_is_an_echo():
    what = replace(request("open"), prompt=THOUGHT)
    assert parsed(THOUGHT[:70], what)["reason"] == "the answer is an echo: is a beginning of the prompt"
    assert parsed(f"So: {THOUGHT}.", what)["status"] == "unparsed"
    assert parsed("I would ask my brother first, and then see what to do about the house.", what)["status"] == "ok"


def test_no_bundled_sentence_is_taken_for_a_fault():
    for sentence in read_exemplars("bundled")["text"]:
        assert parsed(sentence, request("open"))["status"] in ("ok", "refused"), sentence
