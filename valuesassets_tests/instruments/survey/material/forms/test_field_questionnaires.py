"""Extraction of the field questionnaires of EVS 2017, where they are beside the project."""

import re
from collections import Counter

import pypdfium2
import pytest

from valuesassets.instruments.survey.material.extracted_questions import count_recovered
from valuesassets.instruments.survey.material.forms.layout.checks import extraction_faults
from valuesassets.people.variables import load_variables
from valuesassets.records.questions import question_faults
from valuesassets_tests.instruments.survey.material.forms.read_forms import extracted, options, published

pytestmark = [pytest.mark.slow, pytest.mark.published, pytest.mark.group("forms")]
CODE = re.compile(r"\(*[vV]\d{1,3}[a-zA-Z]?\)*")


DOUBTS = {
    "q_gb": {"v60", "Q99", "Q100"},
    "bq_CAPI": {"v166", "Q102"},
    "q_fr": {"v9", "v44", "v108", "v133", "Q84", "Q92"},
    "q_es": {"Q32", "Q52"},
    "q_at": {"v105", "Q66"},
    "q_it": {"v1", "v26"},
    "q_si": {"v43", "Q84"},
}
"""What may have lost a line: numbers that a form leaves out, cells that are set otherwise, a label with KA in it."""


def real(name):
    return published(f"ZA7500_{name}")


def questions_of(name, language):
    return [*extracted(f"ZA7500_{name}", language)]


def faults_of(name, language):
    return {
        (fault.question_id, fault.check)
        for fault in extraction_faults(questions_of(name, language), real(name), language)
    }


def lost_lines(name):
    return {(place, "lost_line") for place in DOUBTS[name]}


@pytest.mark.parametrize(
    ("name", "language", "count"),
    [("q_gb", "eng", 211), ("bq_CAPI", "eng", 211), ("q_fr", "fra", 211), ("q_es", "spa", 211), ("q_at", "deu", 211)],
)
def test_a_field_questionnaire_gives_every_value_question_complete(name, language, count):
    pdf = real(name)
    questions = questions_of(name, language)
    variables = load_variables()
    wanted = [code for number in range(1, 225) if not variables.is_excluded(code := f"v{number}")]
    assert [question.id for question in questions] == wanted
    assert [question.id for question in questions if question_faults(question)] == []
    assert [question.id for question in questions if any(map(CODE.fullmatch, question.text.split()))] == []
    assert len(questions) == count
    faults = extraction_faults(questions, pdf, language)
    assert {fault.check for fault in faults} <= {"answers_without_code", "lost_line"}
    assert {fault.question_id for fault in faults if fault.check == "lost_line"} == DOUBTS[name]


@pytest.mark.parametrize(
    ("name", "language"),
    [
        *(("q_gb", "eng"), ("bq_CAPI", "eng"), ("q_fr", "fra"), ("q_es", "spa"), ("q_at", "deu"), ("q_it", "ita")),
        ("q_si", "slv"),
    ],
)
def test_of_the_opinion_items_that_a_form_prints_95_percent_are_read_and_92_are_whole(name, language):
    """What is printed is counted by another library, word for word."""
    pdf = real(name)
    document = pypdfium2.PdfDocument(pdf)
    words = [word for page in document for word in page.get_textpage().get_text_bounded().split()]
    document.close()
    variables = load_variables()
    printed = {f"v{int(match[1])}" for word in words if (match := re.fullmatch(r"\(*[vV](\d{1,3})\)*", word))}
    wanted = printed & variables.opinion_items
    assert len(wanted) >= 209
    questions = {question.id: question for question in questions_of(name, language)}
    whole = [code for code in wanted & set(questions) if len(questions[code].options) == variables.option_count(code)]
    assert len(wanted & set(questions)) >= 0.95 * len(wanted)
    assert len(whole) >= 0.92 * len(wanted)
    recovery = count_recovered(list(questions.values()), pdf)
    assert (recovery.printed, recovery.read) == (len(wanted), len(wanted & set(questions)))
    assert recovery.with_all_options == len(whole)


def test_the_british_form_s_hard_places_are_read():
    by_id = {question.id: question for question in questions_of("q_gb", "eng")}
    assert [by_id[code].item for code in ("v44", "v35", "v60", "v166")] == [
        "A job in which you feel you can achieve something",
        "People you meet for the first time",
        "Heaven?",
        "Britain",
    ]
    assert options(by_id["v105"])[::9] == [(1, "Competition is good"), (10, "Competition is harmful")]
    assert by_id["v111"].text == "And which would be the next most important?"
    assert options(by_id["v111"])[2] == (3, "fighting rising prices")
    assert by_id["v109"].source_id == "Q33a"
    assert by_id["v184"].values == (5, 4, 3, 2, 1)
    assert len(by_id["v204"].options) == 2
    assert by_id["v208"].text == "How often do you follow politics on television?"


def test_a_split_sample_and_an_item_not_asked_are_named_in_the_italian_form():
    assert faults_of("q_it", "ita") == {("v24", "duplicate_id"), ("v27", "gap")} | lost_lines("q_it")


def test_a_form_whose_codes_lead_their_items_and_whose_cards_repeat_them_is_read_whole():
    """Its rules are partly pictures; one row prints `o 2` for its first code; v27 was not asked."""
    questions = questions_of("q_si", "slv")
    assert faults_of("q_si", "slv") == {("v43", "complete"), ("v27", "gap")} | lost_lines("q_si")
    by_id = {question.id: question for question in questions}
    assert len(by_id) == len(questions) == 210
    assert by_id["v49"].item == "Delo je človekova dolžnost do družbe."
    assert by_id["v50"].item.startswith("Delo bi moralo biti vedno na prvem mestu")
    assert by_id["v40"].item == "dobra plača"
    assert options(by_id["v51"]) == [(1, "da"), (2, "ne")]
    assert options(by_id["v108"])[2][1].startswith("poskrbeti, da bodo imeli ljudje več besede")
    assert options(by_id["v171"]) == [(1, "vedno"), (2, "pogosto"), (3, "nikoli")]
    assert options(by_id["v133"])[::9] == [
        (1, "Sploh ni bistvena značilnost demokracije"),
        (10, "Zagotovo je bistvena značilnost demokracije"),
    ]


@pytest.mark.parametrize(("name", "language"), [("q_pl", "pol"), ("q_bg", "bul")])
def test_a_damaged_text_layer_is_said_loudly_and_first(name, language):
    pdf = real(name)
    questions = questions_of(name, language)
    faults = extraction_faults(questions, pdf, language)
    assert (faults[0].question_id, faults[0].check) == (None, "damaged_text")
    assert "run text recognition (OCR)" in faults[0].message
    counted = Counter(fault.check for fault in faults)
    assert counted["damaged_text"] > 0.9 * len(questions)
