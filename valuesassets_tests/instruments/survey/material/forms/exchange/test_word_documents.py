"""Questionnaires in Word: five small ones of our own, with the questions that come of them."""

import docx
import pytest

from valuesassets.instruments.survey.material.forms.imported_questions import read_imported, read_with_left_out
from valuesassets.records.errors import QuestionError
from valuesassets_tests.instruments.survey.material.forms.exchange.reading import left_out, read, unfit
from valuesassets_tests.instruments.survey.material.forms.exchange.test_xlsform import workbook

BULLET, NUMBER = "List Bullet", "List Number"
NOT_CERTAIN = "which text is the question of these answers is not certain"


def document(tmp_path, *parts):
    """A document of paragraphs (a text, or text and style) and tables (lists of rows)."""
    whole = docx.Document()
    for part in parts:
        if isinstance(part, list):
            table = whole.add_table(len(part), len(part[0]))
            for row, texts in zip(table.rows, part, strict=True):
                for cell, text in zip(row.cells, texts, strict=True):
                    cell.text = text
        else:
            text, style = part if isinstance(part, tuple) else (part, None)
            whole.add_paragraph(text, style)
    path = tmp_path / "form.docx"
    whole.save(str(path))
    return path


def bullets(*texts):
    return [(text, BULLET) for text in texts]


def reasons(path):
    return [each.reason for each in read_with_left_out(path)[2]]


def test_a_list_below_a_question_is_its_answers(tmp_path):
    path = document(
        tmp_path,
        "Survey of values",
        "Are you happy?",
        *bullets("Yes", "No", "Don't know"),
        "Q7. Your sex",
        "(One answer only)",
        *bullets("Female (2)", "Male (1)"),
        "How do you feel?",
        "1. Good",
        "2. Bad",
    )
    assert read(path) == [
        ("question_1", None, "Are you happy?", {1: "Yes", 2: "No"}, {3: "Don't know"}, None),
        ("Q7", None, "Your sex", {2: "Female", 1: "Male"}, {}, None),
        ("question_3", None, "How do you feel?", {1: "Good", 2: "Bad"}, {}, None),
    ]
    assert not left_out(path)


def test_answers_in_one_line_with_dashes_and_with_codes_before_them_are_lists(tmp_path):
    path = document(
        tmp_path,
        "1. Are you well?",
        "☐ Yes   ☐ No",
        "2. Sex: ○ Female ○ Male",
        "3. Do you work?",
        "- Full time",
        "- Not at all",
        "4. How is it?",
        "2 = Good",
        "1 = Bad",
        "9 = Don't know",
        "5. Which one?",
        "(1) This",
        "(2) Other: ________",
    )
    assert [row[1:5] for row in read(path)] == [
        (None, "Are you well?", {1: "Yes", 2: "No"}, {}),
        (None, "Sex:", {1: "Female", 2: "Male"}, {}),
        (None, "Do you work?", {1: "Full time", 2: "Not at all"}, {}),
        (None, "How is it?", {2: "Good", 1: "Bad"}, {9: "Don't know"}),
        (None, "Which one?", {1: "This", 2: "Other"}, {}),
    ]


def test_the_codes_and_names_that_qualtrics_writes_behind_texts_are_codes_and_names(tmp_path):
    path = document(
        tmp_path,
        "Q1 Are you well?",
        *bullets("Yes  (1) ", "No  (2) ", "Other  (3) ________________", "Don't know  (-9) "),
        "Q2 Do you agree?",
        [["", "Agree (1)", "Disagree (2)"], ["Work matters (Q2_1)", "o", "o"], ["Pay matters (Q2_4)", "o", "o"]],
    )
    agree = {1: "Agree", 2: "Disagree"}
    assert read(path) == [
        ("Q1", None, "Are you well?", {1: "Yes", 2: "No", 3: "Other"}, {-9: "Don't know"}, None),
        ("Q2_1", "Do you agree?", "Work matters", agree, {}, None),
        ("Q2_4", "Do you agree?", "Pay matters", agree, {}, None),
    ]


def test_tables_may_have_headings_boxes_letters_and_words_at_the_ends_alone(tmp_path):
    path = document(
        tmp_path,
        "1. How are you?",
        [["Answer", "Code"], ["Well", "1"], ["Ill", "2"]],
        "2. Are you rich?",
        [["☐", "Yes"], ["☐", "No"]],
        "3. Are you poor?",
        [["☐ Yes", "☐ No"]],
        "4. How important are these?",
        [["", "Not at all", "", "Very"], ["a. Work", "1", "2", "3"], ["b. Leisure", "1", "2", "3"]],
    )
    yes_no, ends = {1: "Yes", 2: "No"}, {1: "Not at all", 2: "", 3: "Very"}
    assert [row[2:4] for row in read(path)] == [
        ("How are you?", {1: "Well", 2: "Ill"}),
        ("Are you rich?", yes_no),
        ("Are you poor?", yes_no),
        ("Work", ends),
        ("Leisure", ends),
    ]


def test_an_open_question_never_has_the_answers_of_the_next_one(tmp_path):
    path = document(
        tmp_path,
        "What is your job?",
        "Please think of the last year.",
        *bullets("Good", "Bad"),
        "Who are you?",
        "Tick one:",
        *bullets("This", "That"),
        "12. Sex",
        *bullets("Female", "Male"),
    )
    assert [row[:3] for row in read(path)] == [("q12", None, "Sex")]
    others = read_with_left_out(path)[2]
    assert [(each.text, each.reason) for each in others] == [
        ("Good; Bad", NOT_CERTAIN),
        ("This; That", NOT_CERTAIN),
        ("What is your job?", "no list of answers right below it"),
        ("Who are you?", "no list of answers right below it"),
    ]


def test_a_table_gives_an_item_for_each_row(tmp_path):
    head = ["", "Agree (1)", "Disagree (2)"]
    path = document(
        tmp_path,
        "Q3 How much do you agree?",
        [head, ["Work matters (1)", "o", "o"], ["Pay matters (2)", "o", "o"]],
        "How much do you trust?",
        [["", "A lot", "Little"], ["the police", "3", "1"], ["the press", "3", "1"]],
        "How are you?",
        [["5", "Well"], ["4", "Ill"], ["-9", "Refused"]],
        "What do you earn?",
        [["Pay", "Bonus"], ["much", "little"]],
    )
    agree, trust = {1: "Agree", 2: "Disagree"}, {3: "A lot", 1: "Little"}
    assert read(path) == [
        ("Q3_1", "How much do you agree?", "Work matters", agree, {}, None),
        ("Q3_2", "How much do you agree?", "Pay matters", agree, {}, None),
        ("question_2_1", "How much do you trust?", "the police", trust, {}, None),
        ("question_2_2", "How much do you trust?", "the press", trust, {}, None),
        ("question_3", None, "How are you?", {5: "Well", 4: "Ill"}, {-9: "Refused"}, None),
    ]
    assert "a table that is no list of items with answers, nor one of codes" in reasons(path)


def test_several_answers_are_left_out_and_texts_that_quote_are_unfit(tmp_path):
    path = document(
        tmp_path,
        "Q1 Which of these do you read? Select all that apply.",
        *bullets("Books", "Papers"),
        "Q2 Do you like ${q://QID1/ChoiceGroup/SelectedChoices}?",
        *bullets("Yes", "No"),
    )
    assert left_out(path) == {"Q1": "several answers may be chosen"}
    assert list(unfit(path)) == ["Q2"]


def test_questions_that_word_numbers_have_the_answers_below_them(tmp_path):
    path = document(
        tmp_path,
        ("Your sex", NUMBER),
        *bullets("Female", "Male"),
        ("What is your job?", NUMBER),
        ("Are you well?", NUMBER),
        *bullets("Yes", "No"),
    )
    assert [row[2:4] for row in read(path)] == [
        ("Your sex", {1: "Female", 2: "Male"}),
        ("Are you well?", {1: "Yes", 2: "No"}),
    ]
    assert [each.text for each in read_with_left_out(path)[2]] == ["What is your job?"]


def test_a_typed_list_that_runs_into_the_next_question_is_left_out(tmp_path):
    path = document(tmp_path, "Sex?", "1. Female", "2. Male", "3. Are you well?", *bullets("Yes", "No"))
    assert [(row[0], row[2]) for row in read(path)] == [("q3", "Are you well?")]
    assert NOT_CERTAIN in reasons(path)


def test_a_bad_document_is_one_line(tmp_path):
    path = tmp_path / "form.docx"
    path.write_bytes(b"PK\x03\x04 damaged")
    with pytest.raises(QuestionError, match="is damaged, or is not a Word document"):
        read_imported(path)
    workbook(path, survey=[("type",)])
    with pytest.raises(QuestionError, match="is damaged, or is not a Word document"):
        read_imported(path)
    with pytest.raises(QuestionError, match="names no languages; leave --form-language out"):
        read(document(tmp_path, "Well?", *bullets("Yes", "No")), "de")
    with pytest.raises(QuestionError, match=r"among 1 entry of the form \(-: no list of answers right below it\)"):
        read(document(tmp_path, "Well?"))
