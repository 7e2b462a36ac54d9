"""The gate of repeated code sees statements that were written again with other names, and only where they are added."""

import pytest

from valuesassets_tests.repeated_code import complaints

FIRST = """
def read_people(path, columns):
    frame = read_table(path)
    kept = frame.dropna(subset=columns)
    if not len(kept):
        raise InputError(f"{path}: no rows")
    rows = kept.to_dict("records")
    for row in rows:
        row["id"] = str(row["id"])
        row["path"] = path
    return rows
"""
AGAIN = (
    FIRST.replace("frame", "table")
    .replace("kept", "complete")
    .replace("no rows", "is empty")
    .replace("people", "texts")
)


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "first.py", tmp_path / "again.py"]
    paths[0].write_text(FIRST)
    return paths


def lines_of(path):
    return {(path, line) for line in range(1, 20)}


def test_code_that_is_written_again_with_other_names_is_named_with_its_twin(files):
    files[1].write_text(AGAIN)
    assert complaints(files, lines_of(files[1])) == [f"{files[1]}:3-10 repeats {files[0]}:3-10; write it once"]


def test_what_stood_there_before_fails_nothing(files):
    files[1].write_text(AGAIN)
    assert complaints(files, set()) == []


@pytest.mark.parametrize("change", [("dropna", "fillna"), ("str(", "int("), ("if not len", "if len")])
def test_code_that_does_something_else_is_no_repetition(files, change):
    files[1].write_text(AGAIN.replace(*change))
    assert complaints(files, lines_of(files[1])) == []
