"""Tables of questions that a person writes: CSV, TSV and XLSX hold the same, and a fault is one line with its row."""

import csv
import io

import pytest

from valuesassets.cli.outputs import lines_of_changes
from valuesassets.instruments.survey.material.extracted_questions import examine_questions
from valuesassets.instruments.survey.material.forms.imported_questions import read_imported
from valuesassets.instruments.survey.material.forms.question_tables import TEMPLATE, read_question_table
from valuesassets.records.errors import QuestionError
from valuesassets.records.questions import require_sound
from valuesassets_tests.instruments.survey.material.forms.ten_questions import (
    HEADER,
    QUESTIONS,
    rows,
    write_ods,
    write_xlsx,
)


def text_of(table, delimiter=","):
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter).writerows(table)
    return written.getvalue()


def written(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


WAYS = {
    "ten.csv": lambda path: written(path, text_of(rows())),
    "byte_order.csv": lambda path: written(path, "\ufeff" + text_of(rows())),
    "semicolons.csv": lambda path: written(path, text_of(rows(), ";")),
    "ten.tsv": lambda path: written(path, text_of(rows(), "\t")),
    "ten.xlsx": lambda path: write_xlsx(path, rows()),
    "formula.xlsx": lambda path: write_xlsx(path, rows(), formula="C4", has_values=True),
    "ten.ods": lambda path: write_ods(path, rows()),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_table_gives_its_questions_however_it_is_stored(name, tmp_path):
    questions, changes = read_imported(WAYS[name](tmp_path / name))
    assert changes == []
    assert [question.id for question in questions] == [f"q{n}" for n in range(1, 11)]
    assert {q.text: tuple(option.label for option in q.options) for q in questions} == QUESTIONS
    examined = examine_questions(questions, None, "eng")
    assert examined.faults == ()
    assert require_sound(examined.questions, name)


@pytest.mark.parametrize("misspelt", ["respnse_type", "Response type", "orders", "answer_cue_"])
@pytest.mark.parametrize("ending", ["csv", "xlsx", "ods"])
def test_a_misspelt_column_is_refused_with_the_name_that_was_meant(misspelt, ending, tmp_path):
    table = [[*HEADER, misspelt], ["work", "Is work fun?", "", "yes | no | maybe", "ordinal"]]
    write = {"csv": lambda path, rows: written(path, text_of(rows)), "xlsx": write_xlsx, "ods": write_ods}[ending]
    with pytest.raises(
        QuestionError, match=f"column {misspelt.lower()}: did you mean (response_type|order|answer_cue)"
    ):
        read_imported(write(tmp_path / f"t.{ending}", table))


def test_a_column_of_another_name_is_said_not_to_be_read(tmp_path):
    table = [
        [*HEADER, "note", "Author", "response_type"],
        ["work", "Fun?", "", "yes | no | maybe", "n", "a", "ordinal"],
    ]
    questions, (change,) = read_imported(written(tmp_path / "t.csv", text_of(table)))
    assert list(lines_of_changes([change])) == ["columns not read: note, author"]
    assert str(questions[0].response_type) == "ordinal"


def test_the_template_is_a_sound_table_with_a_list_and_a_whole_scale(tmp_path):
    examined = examine_questions(read_question_table(written(tmp_path / "t.csv", TEMPLATE)), None, "eng")
    assert examined.faults == ()
    happy, police, press, life = examined.questions
    assert happy.values == (1, 2, 3, 4)
    assert police.stem == press.stem == "How much do you trust the following?"
    assert (police.item, police.text) == ("the police", "How much do you trust the following? the police")
    assert (life.values, life.options[9].label) == (tuple(range(1, 11)), "completely satisfied")


def test_columns_beside_the_four_are_the_record_s_own(tmp_path):
    table = [
        (*HEADER, "section", "response_type", "answer_cue"),
        ("q1", "How?", "", "a|b|c", "Work", "categorical", "So"),
    ]
    (question,) = read_question_table(write_xlsx(tmp_path / "q.xlsx", table))
    assert (question.section, question.response_type, question.answer_cue) == ("Work", "categorical", "So")


ONE = ("q1", "How?", "", "1 = a | 2 = b")
FAULTS = {
    "an empty text": ([HEADER, ("q1", "", "", "a|b")], "row 2: no text; write it there"),
    "an id twice": (
        [HEADER, ONE, ("q2", *ONE[1:]), ONE],
        "row 4: the id q1 stands in row 2 too; give each question its own",
    ),
    "one option": (
        [HEADER, ("q1", "How?", "", "yes; no")],
        "row 2: options 'yes; no': at least two were expected, separated by |, as 1 = yes | 2 = no; of a "
        "scale its ends are enough, as 0 = never | 10 = always",
    ),
    "half of the codes": (
        [HEADER, ("q1", "How?", "", "1 = a | b")],
        "row 2: options '1 = a | b': some have a code and some have none; give all or none",
    ),
    "options in no order": (
        [HEADER, ("q1", "How?", "", "3 = a | 1 = b | 2 = c")],
        "row 2: options 3, 1, 2: no order; write them from one end of the scale to the other, or say "
        "response_type = ordinal (they go by their codes) or categorical (by none), or the order of the codes in a "
        "column order, as 3, 1, 2",
    ),
    "another type": (
        [(*HEADER, "response_type"), (*ONE, "likert7")],
        "row 2: response_type likert7: one of likert3, likert4, likert5, likert10, binary, categorical, frequency, "
        "action, ordinal was expected",
    ),
    "a type of other length": (
        [(*HEADER, "response_type"), (*ONE, "likert4")],
        "row 2: response_type likert4 has 4 answers, found 2; mend one",
    ),
    "3,000 rows": (
        [HEADER, *((f"q{n}", *ONE[1:]) for n in range(3000))],
        "more than 1,000 rows, no questionnaire has so many; is it a file of answers?",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_one_line_with_file_and_row(name, tmp_path):
    table, message = FAULTS[name]
    path = written(tmp_path / "q.csv", text_of(table))
    with pytest.raises(QuestionError) as caught:
        read_question_table(path)
    assert str(caught.value) == f"{path}: {message}"


SPREADSHEETS = {
    "merged": (
        lambda path: write_xlsx(path, rows(), merged="B2:B3"),
        "cells B2:B3 are merged; part them and write each row's own words",
    ),
    "formula": (
        lambda path: write_xlsx(path, rows(), formula="C4"),
        "cell C4 holds a formula without its value; open the file in a spreadsheet program and save it",
    ),
    "column": (
        lambda path: write_xlsx(path, [row[:3] for row in rows()]),
        "row 1: column options is not there (found id, text, item); a sheet with columns id, text, item, options was "
        "expected; mend its header",
    ),
    "other": (
        lambda path: written(path, b"PK\x03\x04 and no more"),
        "is no spreadsheet (XLSX); save it as XLSX or CSV",
    ),
    "text": (lambda path: written(path, b"id,text"), "is no spreadsheet (XLSX); save it as XLSX or CSV"),
    "header": (
        lambda path: write_xlsx(path, rows()[:1]),
        "holds no row below its header; a sheet with columns id, text, item, options was expected; name another file",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPREADSHEETS)
def test_a_spreadsheet_that_cannot_be_read_as_it_stands_is_refused(name, tmp_path):
    make, message = SPREADSHEETS[name]
    path = make(tmp_path / "q.xlsx")
    with pytest.raises(QuestionError) as caught:
        read_question_table(path)
    assert str(caught.value) == f"{path}: {message}"
