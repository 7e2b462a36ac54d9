"""`study --schema` and `study --explain`: help while a study file is written."""

import json

import pytest

from valuesassets.records.study_schema import study_keys, study_schema
from valuesassets_tests.cli.commands import refuse, succeed
from valuesassets_tests.test_architecture import HEAVY, loaded_by


def test_the_schema_that_is_printed_is_json():
    assert json.loads(succeed("study", "--schema")) == study_schema()


@pytest.mark.parametrize("place", study_keys())
def test_every_key_is_explained(place):
    first, *lines = succeed("study", "--explain", place).splitlines()
    assert first == place
    assert [line.split(":")[0].strip() for line in lines if line.startswith(("  type:", "  makes stale:"))] == [
        "type",
        "makes stale",
    ]
    assert lines[0].startswith("  ")
    assert not lines[0].startswith("  type:")


def test_a_key_has_its_type_its_default_and_what_goes_stale():
    printed = succeed("study", "--explain", "families.mine.dtype")
    assert 'type: "float32", "bfloat16", "auto"' in printed
    assert 'left out: "auto"' in printed
    assert "models: weights" in printed
    assert "left out: it is needed" in succeed("study", "--explain", "seed")
    assert "makes stale: nothing" in succeed("study", "--explain", "slurm.partition")
    assert "the assets of worldwise that read it" in succeed("study", "--explain", "worldwise.scenarios")


def test_a_key_that_is_none_is_one_line_with_the_one_that_was_meant():
    assert refuse("study", "--explain", "human.sorce").startswith(
        "human.sorce: no such key of a study file; did you mean human.source"
    )
    assert refuse("study", "--explain", "survey").endswith("; the table of this instrument is questionnaires")
    assert refuse("study", "--explain", "psych-tasks").endswith("; the table of this instrument is psych_tasks")
    assert "at the top of the file there are name, title" in refuse("study", "--explain", "qqqqqq")


def test_without_a_study_and_without_a_question_one_line_says_what_to_give():
    assert refuse("study", code=2) == (
        "Invalid value: no study is named, and this folder is in no home with a study; name a study or its file, or "
        "make a home with `valuesassets init FOLDER`; see `valuesassets study --help`"
    )


@pytest.mark.parametrize("words", [["--schema"], ["--explain", "human.source"]], ids=" ".join)
def test_help_on_keys_imports_neither_dagster_nor_frames(words):
    program = f"import sys; from valuesassets.cli.app import app; app({['study', *words]!r}, standalone_mode=False)"
    assert not HEAVY & {*loaded_by(program)}
