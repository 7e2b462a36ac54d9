"""The commands `psych-tasks check` and `draft`: counts by status, files whole or not at all, one line for a fault."""

import json

import pandas as pd
import pytest

from valuesassets.cli.psych_tasks import check, draft
from valuesassets.instruments.psych_tasks.tables import TASK_MARKS
from valuesassets.records.errors import MissingData, QuestionError, StorageError
from valuesassets.records.parquet import read_frame
from valuesassets_tests.cli.commands import refuse, run, succeed
from valuesassets_tests.instruments.psych_tasks.made_situations import situations

TEXT = "How often?\n1. Shout? <<0>>\n2. Push? <<12>>\n3. Leave? <<120>>\n4. Wait? <<3>>\n"


@pytest.fixture
def people(tmp_path):
    return write(tmp_path / "people.jsonl", TEXT, TEXT.replace("<<12>>", "<<12"), "Nobody asked. 3>>")


def write(path, *texts):
    lines = [json.dumps({"text": text, "experiment": "CARE", "participant": n}) for n, text in enumerate(texts, 1)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_counts_by_status_are_printed_and_written_and_add_up_to_the_opening_delimiters(tmp_path, people):
    output = tmp_path / "checked"
    said = succeed("psych-tasks", "check", people, "--task", "care", "--output", output, "--most-unread", 0.2)
    assert said.splitlines() == [
        "read                  5 marks in 2 transcripts",
        "unlisted              2 marks in 2 transcripts; first CARE/1: mark 3: the answer '120' is none of the 100 "
        "candidates",
        "broken                1 marks in 1 transcripts; first CARE/2: mark 2 in line 3: '<<' is not closed before the "
        "next one opens; write '>>' behind the answer",
        "no_marks              0 marks in 1 transcripts; first CARE/3: no << stands in it, though >> does; name the "
        "delimiters that it has in the task file, or leave the transcript out",
        "1 '>>' without '<<' are no marks; first CARE/3: line 1: '>>' closes no mark; write '<<' before the answer, or "
        "leave it where it belongs to the text",
        f"8 marks in 3 transcripts, 1 cannot be asked; see {output / 'marks.parquet'}",
    ]
    ledger = pd.read_csv(output / "ledger.csv", keep_default_na=False)
    assert list(ledger.columns) == ["experiment", "kind", "status", "marks", "transcripts"]
    assert set(ledger.itertuples(index=False, name=None)) == {
        ("CARE", "count", "read", 5, 2),
        ("CARE", "count", "unlisted", 2, 2),
        ("CARE", "count", "broken", 1, 1),
        ("CARE", "", "no_marks", 0, 1),
    }
    marks = read_frame(output / "marks.parquet", TASK_MARKS)
    assert list(marks["mark"].dropna()) == [1, 2, 3, 4] * 2
    assert ledger["marks"].sum() == people.read_text().count("<<") == marks["mark"].notna().sum()


def test_too_many_unread_marks_are_an_error_that_says_which_and_where(tmp_path, people):
    output = tmp_path / "checked"
    done = run("psych-tasks", "check", people, "--task", "care", "--output", output)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"{people}: 1 of 8 marks cannot be asked (12.5%), at most 1.0% may: most are broken; see `status` and `reason` "
        f"in {output / 'marks.parquet'}"
    ]
    assert len(read_frame(output / "marks.parquet", TASK_MARKS)) == 9
    assert (output / "ledger.csv").is_file()


def test_a_file_without_any_mark_is_an_error(tmp_path):
    with pytest.raises(MissingData, match=r"no mark in any transcript: no << stands in it; name the delimiters"):
        check(write(tmp_path / "p.jsonl", "Hello."), "care", tmp_path / "out")
    assert list(pd.read_csv(tmp_path / "out" / "ledger.csv")["status"]) == ["no_marks"]


def test_a_place_that_cannot_be_written_is_refused_and_nothing_is_left(tmp_path, people):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StorageError, match="is a file, not a folder; choose another folder"):
        check(people, "care", tmp_path / "file")
    (tmp_path / "out" / "ledger.csv" / "mine").mkdir(parents=True)
    with pytest.raises(StorageError, match=r"ledger.csv: is a folder with files in it, a file is to be written"):
        check(people, "care", tmp_path / "out", most_unread=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "out", "people.jsonl"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "marks.parquet").write_bytes(b"%PDF-1.7")
    with pytest.raises(StorageError, match=r"is there already and not a parquet file; choose another name"):
        check(people, "care", tmp_path / "other")
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["marks.parquet"]


def test_bad_input_is_one_line(tmp_path, people):
    line = refuse("psych-tasks", "check", people, "--task", "bartt", "--output", tmp_path / "out")
    assert line == "bartt: no such task file; did you mean bart?"
    for command in (draft, lambda path: check(path, "care", tmp_path / "out")):
        with pytest.raises(QuestionError, match=r"no.jsonl: no such file; check the path$"):
            command(tmp_path / "no.jsonl")
        with pytest.raises(QuestionError, match=r"empty.jsonl: "):
            command(write(tmp_path / "empty.jsonl"))
    assert not (tmp_path / "out").exists()


def test_what_draft_prints_is_a_task_file_that_check_takes(tmp_path, people, capsys):
    task = tmp_path / "task.toml"
    task.write_text(succeed("psych-tasks", "draft", people), encoding="utf-8")
    check(people, str(task), tmp_path / "out", most_unread=0.2)
    assert capsys.readouterr().out.splitlines()[0] == "read                  7 marks in 2 transcripts"


def test_marks_whose_item_stands_elsewhere_fail_the_check(tmp_path):
    """Every one of them can be read, and most would be read behind another item."""
    lines = [each.model_dump_json() for each in situations("one line", is_shuffled=True)]
    people, task = tmp_path / "people.jsonl", tmp_path / "task.toml"
    people.write_text("\n".join(lines), encoding="utf-8")
    kinds = "[[kinds]]\nname = 'letter'\nbefore = 'answer $'\ncandidates = { options = '([A-Z])[)]' }\n"
    task.write_text("name = 'situations'\n" + kinds, encoding="utf-8")
    done = run("psych-tasks", "check", people, "--task", task, "--output", tmp_path / "checked")
    assert done.returncode == 1
    assert "read                 32 marks in 8 transcripts" in done.stdout
    assert "24 marks stand without their item; first Situations/0: mark 2: all items are one block" in done.stdout
    assert "24 of 32 marks (75.0%) stand without an item" in done.stderr
    task.write_text("name = 'situations'\nblock = '[0-9][.] (?=[A-Z])'\n" + kinds, encoding="utf-8")
    assert "without" not in succeed("psych-tasks", "check", people, "--task", task, "--output", tmp_path / "again")
