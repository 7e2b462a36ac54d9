"""The checks of questions: each fault is found where it was put, and nothing where there is none."""

import pytest

from valuesassets.instruments.cultural_robustness.material.question_report import count_faults, report_questions
from valuesassets.instruments.cultural_robustness.material.questions import read_questions
from valuesassets.instruments.cultural_robustness.tables import QUESTION_REPORT
from valuesassets.records.parquet import read_table, write_frame
from valuesassets_tests.instruments.cultural_robustness.made_files import (
    ASKED,
    all_rows,
    question_rows,
    write_folder,
)
from valuesassets_tests.needs import shared_file


def faults(folder, rows=None):
    report = report_questions(read_questions(write_folder(folder, rows)))
    return [tuple(row) for row in report[["language", "id", "fault"]].itertuples(index=False)]


def changed(language, kind, changes):
    """All files, with the prompts of some ids of one file put in others' place, or taken out."""
    rows = all_rows()
    lines = [line | {"prompt": changes.get(line["id"], line["prompt"])} for line in rows[language, kind]]
    return rows | {(language, kind): [line for line in lines if line["prompt"] is not None]}


def test_questions_that_ask_the_same_have_no_fault(tmp_path):
    assert faults(tmp_path) == []


@pytest.mark.parametrize(("kind", "name"), [("unspecific", "4"), ("specific", "4-2")])
@pytest.mark.parametrize("spoken", ["eng", "deu"])
def test_a_prompt_in_another_language_than_its_file_is_found(tmp_path, kind, name, spoken):
    foreign = next(line["prompt"] for line in question_rows(spoken)[kind] if line["id"] == name)
    assert faults(tmp_path, changed("ell", kind, {name: foreign})) == [("ell", name, "foreign")]


def test_a_short_prompt_is_judged_by_its_script(tmp_path):
    assert faults(tmp_path / "latin", changed("ell", "unspecific", {"2": "Which fruit?"})) == [("ell", "2", "foreign")]
    assert faults(tmp_path / "own", changed("ell", "unspecific", {"2": "Ποια φρούτα;"})) == []
    assert faults(tmp_path / "names", changed("eng", "unspecific", {"2": "12 + 7 = ?"})) == []


def test_a_prompt_that_one_language_lacks_is_named_there(tmp_path):
    assert faults(tmp_path, changed("deu", "specific", {"5-1": None})) == [("deu", "5-1", "missing")]


def test_a_kind_that_one_language_lacks_is_one_fault(tmp_path):
    rows = all_rows()
    del rows["deu", "specific"]
    assert faults(tmp_path, rows) == [("deu", None, "missing")]


def test_anchors_that_do_not_differ_are_found(tmp_path):
    first, second = (f"{ASKED['deu'][2]} Ich lebe in {place}." for place in ("Österreich", "Österreich"))
    assert faults(tmp_path, changed("deu", "specific", {"3-1": first, "3-2": second})) == [
        ("deu", "3-2", "same anchor")
    ]


def test_an_anchor_that_names_no_country_is_found(tmp_path):
    assert faults(tmp_path, changed("deu", "specific", {"3-2": ASKED["deu"][2]})) == [("deu", "3-2", "same anchor")]


def test_questions_that_read_alike_are_one_warning_whatever_blanks_and_capitals(tmp_path):
    rows = all_rows()
    for kind, lines in question_rows("deu").items():
        first = {line["id"][1:]: line["prompt"] for line in lines if line["id"].startswith("1")}
        rows["deu", kind] = [
            line | {"prompt": f"  {first[line['id'][1:]].upper()} "} if line["id"].startswith("6") else line
            for line in lines
        ]
    report = report_questions(read_questions(write_folder(tmp_path, rows)))
    assert report[["language", "id", "fault"]].to_numpy().tolist() == [["deu", "6", "read alike"]]
    assert report["what"].iloc[0].startswith("reads as question 1 does (without a country, at 2 anchors)")
    assert count_faults(report) == (0, 1)


def test_of_three_questions_that_read_alike_two_count_again(tmp_path):
    report = report_questions(
        read_questions(
            write_folder(tmp_path, changed("eng", "unspecific", dict.fromkeys("246", "Which fruit do you buy?")))
        )
    )
    assert report[["id", "fault", "is_warning"]].to_numpy().tolist() == [
        ["4", "read alike", True],
        ["6", "read alike", True],
    ]


def test_faults_are_stored_as_they_are_found(tmp_path):
    report = report_questions(read_questions(write_folder(tmp_path, changed("deu", "specific", {"5-1": None}))))
    write_frame(tmp_path / "report.parquet", report, QUESTION_REPORT)
    assert read_table(tmp_path / "report.parquet", QUESTION_REPORT).to_pylist() == [
        {"language": "deu", "id": "5-1", "fault": "missing", "is_warning": False,
         "what": "stands in ell, eng and not here; add it"}
    ]  # fmt: skip


@pytest.mark.published
@pytest.mark.slow
def test_in_nineteen_languages_two_danish_pairs_read_alike_and_a_line_of_english_is_found(tmp_path):
    questions = read_questions(shared_file("data", "robustness", "questions"))
    report = report_questions(questions)
    assert report[["language", "id", "fault", "is_warning"]].to_numpy().tolist() == [
        ["dan", "19", "read alike", True],
        ["dan", "21", "read alike", True],
    ]
    english = questions["eng"].set_index("question_id")["prompt"]
    for language, frame in questions.items():
        if language == "eng":
            continue
        part = frame.head(40).copy()
        place = 7 if language < "hin" else 0
        part.loc[place, "prompt"] = english[part.loc[place, "question_id"]].iloc[place]
        report = report_questions({"eng": questions["eng"].head(40), language: part})
        assert report[["language", "id", "fault"]].to_numpy().tolist() == [
            [language, "1-7" if place else "1", "foreign"]
        ], language
