"""Web scripts, printed from the bundled words in three scripts and several ways: read whole, and what is wrong said."""

import pypdfium2
import pytest

from valuesassets.instruments.survey.material.extracted_questions import (
    examine_questions,
    extract_questions,
    extract_with_layout,
)
from valuesassets.instruments.survey.material.forms.layout.checks import extraction_faults
from valuesassets.instruments.survey.material.forms.layout.layouts.web_script import BLANK, TICKED
from valuesassets.people.variables import load_variables
from valuesassets_tests.instruments.survey.material.forms.web_scripts import Script
from valuesassets_tests.needs import shared_file
from valuesassets_tests.studies.expected_questions import expected_questions

KEYS = {"id", "section", "text", "stem", "item", "response_type"}
WRITTEN = {
    "eng": {},
    "ell": {
        "name": lambda number, letter, code: f"(P{number}{letter})" + (f" ({code})" if code else ""),
        "answer": lambda code: f"({code:02})",
    },
    "bul": {
        "name": lambda number, letter, code: f"[В{number}{letter.lower()}]" + (f"[{code.upper()}]" if code else "")
    },
}
"""How numbers, codes and answers are written in a language's script."""


@pytest.fixture(scope="module", params=WRITTEN)
def script(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("scripts") / f"{request.param}.pdf"
    return request.param, Script(lambda _: request.param, **WRITTEN[request.param]).print(path)


@pytest.mark.slow
def test_a_script_is_read_whole_whatever_its_language(script):
    language, pdf = script
    questions, form = extract_with_layout(pdf, language)
    wanted = expected_questions(language)
    assert (form.layout, len(questions)) == ("web_script", len(wanted))
    assert [q.model_dump(include=KEYS) for q in questions] == [q.model_dump(include=KEYS) for q in wanted]
    lists = load_variables().list_of
    for question, expected in zip(questions, wanted, strict=True):
        labels = (TICKED, BLANK) if question.id in lists else tuple(option.label for option in expected.options)
        assert (question.values, tuple(option.label for option in question.options)) == (expected.values, labels), (
            question.id
        )
    assert extraction_faults(questions, pdf, language) == []


def test_a_script_without_variable_codes_names_its_questions_by_their_numbers(tmp_path):
    name = lambda number, letter, code: f"[Q{number}{letter}]"  # noqa: E731
    grids = (0, 4)
    questions, form = extract_with_layout(
        Script(lambda _: "eng", name, places=grids).print(tmp_path / "form.pdf"), "eng"
    )
    assert form.layout == "web_script"
    assert [question.id for question in questions] == ["q1a", "q1b", "q1c", "q2", "q3", "q4"]
    wanted = {question.text for question in expected_questions("eng")}
    assert {question.text for question in questions} <= wanted


def test_codes_that_repeat_are_named(tmp_path):
    twice = lambda number, letter, code: f"[Q{number}{letter}][{'v7' if code == 'v31' else code}]"  # noqa: E731
    pdf = Script(lambda _: "eng", twice, places=(0, 4)).print(tmp_path / "form.pdf")
    faults = extraction_faults(extract_questions(pdf, "eng"), pdf, "eng")
    assert ("v7", "duplicate_id") in {(fault.question_id, fault.check) for fault in faults}


def test_of_half_a_script_what_is_there_is_read_and_a_question_that_broke_off_is_named(script, tmp_path):
    language, pdf = script
    with pypdfium2.PdfDocument(pdf) as whole, pypdfium2.PdfDocument.new() as half:
        half.import_pages(whole, list(range(len(whole) // 2)))
        half.save(tmp_path / "half.pdf")
    wanted = expected_questions(language)
    questions = extract_questions(tmp_path / "half.pdf", language)
    assert 5 < len(questions) < len(wanted)
    assert [question.text for question in questions] == [question.text for question in wanted[: len(questions)]]
    broken = questions[-1].replace(options=())
    faults = extraction_faults([*questions[:-1], broken], tmp_path / "half.pdf", language)
    assert {(fault.question_id, fault.check) for fault in faults} == {(broken.id, "complete")}


@pytest.mark.slow
def test_questions_in_another_language_are_left_out_and_said(tmp_path):
    pdf = Script(lambda place: "hun" if place % 3 == 2 else "slk").print(tmp_path / "form.pdf")
    examined = examine_questions(extract_questions(pdf, "slk"), pdf, "slk")
    gone = {change.question_id for change in examined.changes if change.after is None and change.field == "question"}
    hungarian = {question.id for question in expected_questions("hun")} - {
        question.id for question in examined.questions
    }
    assert gone
    assert gone == hungarian
    assert all("in hun" in change.why for change in examined.changes if change.question_id in gone)


@pytest.mark.published
@pytest.mark.slow
@pytest.mark.group("forms")
def test_the_greek_script_is_read_whole():
    """Words of its English master lie under some answers and are not to be seen."""
    pdf = shared_file("data", "questionnaires", "ZA7546_q_gr.pdf")
    questions, form = extract_with_layout(pdf, "ell")
    variables = load_variables()
    wanted = [code for n in range(1, 225) if not variables.is_excluded(code := f"v{n}")]
    assert (form.layout, [question.id for question in questions]) == ("web_script", wanted)
    assert [each.id for each in questions if len(each.options) != variables.option_count(each.id)] == []
    (doubt,) = extraction_faults(questions, pdf, "ell")  # a list whose answers go on over the page is printed twice
    assert (doubt.question_id, doubt.check) == ("v207", "lost_line")
    latin = [q.id for q in questions for o in q.options if any("a" <= letter <= "z" for letter in o.label)]
    assert latin == []
    by_id = {question.id: question for question in questions}
    assert (by_id["v32"].item, by_id["v33"].stem) == ("την οικογένειά σας", by_id["v32"].stem)
    assert by_id["v104"].options[9].label.endswith("που δεν θέλουν")
