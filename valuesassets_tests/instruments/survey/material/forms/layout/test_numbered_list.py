"""Questionnaires without variable codes: ten questions in a PDF, set in the ways in which people set them."""

import pytest

from valuesassets.instruments.survey.material.extracted_questions import examine_questions, extract_with_layout
from valuesassets.instruments.survey.material.forms.layout.checks import extraction_faults
from valuesassets_tests.instruments.survey.material.forms.paper_forms import PaperForm
from valuesassets_tests.instruments.survey.material.forms.ten_questions import QUESTIONS, print_ten

WAYS = {
    "a letter before each answer": {},
    "lettered numbers, capitals in brackets": {"number": "Q{}", "answer": lambda n: f"({'ABCDE'[n]})"},
    "figures alone": {"answer": lambda n: f"{n + 1}"},
    "questions and answers numbered alike": {"answer": lambda n: f"{n + 1}."},
    "numbered alike, at one edge": {"answer": lambda n: f"{n + 1}.", "indent": 0},
    "letters of another alphabet": {"number": "F{}:", "answer": lambda n: f"{'abgde'[n]}."},
    "two columns": {"columns": 2},
    "two columns, numbered alike": {"columns": 2, "number": "Q{}.", "answer": lambda n: f"{n + 1} -"},
}


@pytest.mark.parametrize("way", WAYS)
def test_ten_questions_are_read_and_named_by_their_numbers(way, tmp_path):
    pdf = print_ten(tmp_path / "form.pdf", **WAYS[way])
    questions, form = extract_with_layout(pdf, "eng")
    assert form.layout == "numbered_list"
    assert [question.id for question in questions] == [f"q{n}" for n in range(1, 11)]
    labels = {question.text: tuple(option.label for option in question.options) for question in questions}
    assert labels == QUESTIONS
    assert [fault.message for fault in extraction_faults(questions, pdf, "eng")] == []


def test_a_scale_and_an_answer_that_is_none_are_read_in_such_a_list_too(tmp_path):
    form = PaperForm(tmp_path / "form.pdf")
    for number, text in enumerate(("How happy are you?", "How often do you pray?", "How free are you?"), 1):
        form.text(50, f"{number}.")
        form.text(70, text)
        form.down()
        if number == 3:
            form.text(70, "not at all")
            form.text(380, "completely")
            form.down()
            for value in range(1, 11):
                form.text(45 + 35 * value, str(value))
            form.down(20)
            continue
        for letter, label in zip("abc", ("Often", "Never", "Don't know"), strict=True):
            form.text(70, f"{letter}) {label}")
            form.down()
        form.down(6)
    pdf = form.save()
    questions, _ = extract_with_layout(pdf, "eng")
    examined = examine_questions(questions, pdf, "eng")
    assert [question.values for question in examined.questions] == [(1, 2), (1, 2), tuple(range(1, 11))]
    assert [examined.questions[2].options[n].label for n in (0, 9)] == ["not at all", "completely"]
    assert examined.faults == ()


def test_a_question_whose_answers_cannot_be_read_is_named(tmp_path):
    form = PaperForm(tmp_path / "form.pdf")
    for number, labels in enumerate((("a) Yes", "b) No"), ("Yes", "No"), ("a) Often", "b) Never")), 1):
        form.text(50, f"{number}. What do you say?")
        form.down()
        for label in labels:
            form.text(70, label)
            form.down()
    pdf = form.save()
    faults = extraction_faults(extract_with_layout(pdf, "eng")[0], pdf, "eng")
    assert [(fault.question_id, fault.check) for fault in faults] == [("q2", "complete")]


def test_a_form_of_no_known_layout_says_what_it_shows(tmp_path):
    form = PaperForm(tmp_path / "form.pdf")
    form.text(50, "Dear neighbours, this spring we ask what you think of the park.")
    form.down()
    form.text(50, "3) It opens in May.")
    pdf = form.save()
    questions, read = extract_with_layout(pdf, "eng")
    assert (questions, read.layout) == ([], None)
    (fault,) = extraction_faults(questions, pdf, "eng")
    assert fault.message == (
        "no question was read: the form is set in no layout that is known (1 page, 17 words, 0 variable codes such as "
        "v39, 1 lines that begin with a question number; page 1 has 'Dear neighbours, this spring we ask what you "
        "think of the park.'); write its questions into a table, which `valuesassets template questions` begins"
    )
