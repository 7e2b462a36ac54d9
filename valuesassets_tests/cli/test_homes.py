"""`init` and `--home`: a folder in which commands need no study's name."""

import os
import re
import shutil

import pytest
from dotenv import dotenv_values

from valuesassets.cli.studies import own_file_or
from valuesassets.records import home
from valuesassets.records.home import MARKER, VARIABLE
from valuesassets.records.study import load_study
from valuesassets_tests.cli.commands import refuse, run, succeed

FILES = {
    "study.toml",
    "questions/eng.csv",
    "study.schema.json",
    "README.md",
    "dagster.yaml",
    "workspace.yaml",
    ".env",
    MARKER,
}


@pytest.fixture(autouse=True)
def installed(monkeypatch, tmp_path):
    """The package as pip installs it, and an empty working folder; no variable names a folder or a study."""
    for name in (VARIABLE, "VALUESASSETS_STORAGE", "VALUESASSETS_DAGSTER", "VALUESASSETS_STUDY", "DAGSTER_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(home, "PACKAGES", tmp_path / "site-packages")
    monkeypatch.chdir(tmp_path)


def files_in(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_init_makes_a_home_whose_study_is_sound_and_needs_no_name(tmp_path, monkeypatch):
    assert "valuesassets run" in succeed("init", "My Study")
    assert files_in(tmp_path / "My Study") == FILES
    monkeypatch.chdir(tmp_path / "My Study" / "questions")
    lines = succeed("study")
    assert lines.startswith("my_study: ")
    assert "cells: 1;" in lines
    assert f"is stored in {tmp_path / 'My Study' / 'storage' / 'my_study'}; run it first" in refuse("bundle")


def test_the_study_of_a_home_is_known_by_its_name_everywhere_in_it(tmp_path, monkeypatch):
    succeed("init", "own")
    monkeypatch.chdir(tmp_path / "own")
    assert succeed("study", "own") == succeed("study")
    line = refuse("trace", "own", "reference-mono", "eng", "happy")
    assert "no such study file" not in line
    assert str(tmp_path / "own" / "storage" / "own" / "survey") in line
    assert own_file_or("own") == str(tmp_path / "own" / "study.toml")
    (tmp_path / "own" / "storage" / "own").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "own" / "storage")  # a folder of its name is no study
    assert succeed("study", "own").startswith("own: ")


def test_a_name_that_is_nearly_that_of_the_homes_study_is_mended_and_a_broken_file_hides_no_other(
    tmp_path, monkeypatch
):
    succeed("init", "own_study")
    monkeypatch.chdir(tmp_path / "own_study")
    assert refuse("study", "own_stduy") == "own_stduy: no such study file; did you mean own_study?"
    (tmp_path / "own_study" / "study.toml").write_text("name = [", encoding="utf-8")
    assert refuse("study", "own_study").startswith("own_study: no such study file; ")
    assert succeed("study", "demo_survey").startswith("demo_survey: ")


def test_the_schema_beside_a_study_describes_its_keys(tmp_path):
    succeed("init", "new")
    schema = (tmp_path / "new" / "study.schema.json").read_text(encoding="utf-8")
    assert '"questionnaires"' in schema
    assert (tmp_path / "new" / "study.toml").read_text(encoding="utf-8").startswith("#:schema ./study.schema.json\n")


def test_nothing_is_overwritten_and_nothing_written_where_a_file_is_there(tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "README.md").write_text("mine", encoding="utf-8")
    line = refuse("init", "full")
    assert line == f"{tmp_path / 'full'}: has README.md already, and nothing is overwritten; name another folder"
    assert files_in(tmp_path / "full") == {"README.md"}


def test_init_goes_into_a_folder_with_other_files(tmp_path):
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "notes.txt").touch()
    succeed("init", "paper")
    assert files_in(tmp_path / "paper") == FILES | {"notes.txt"}


def test_the_real_model_of_a_new_study_is_valid_once_its_marks_are_gone(tmp_path):
    succeed("init", "new")
    study = tmp_path / "new" / "study.toml"
    head, mark, real = study.read_text(encoding="utf-8").partition("# [families.smollm2]")
    study.write_text(head + re.sub("^# ", "", mark + real, flags=re.MULTILINE), encoding="utf-8")
    family = load_study(str(study)).families["smollm2"]
    assert (family.model_id, family.prompting.is_chat) == ("index:smollm2-135m-instruct", True)


def test_a_second_init_names_the_repair():
    succeed("init", "new")
    assert "is a home already; `valuesassets init --repair" in refuse("init", "new")


def test_repair_after_a_move_and_a_new_name(tmp_path):
    succeed("init", "old")
    shutil.move(tmp_path / "old", tmp_path / "new")
    study = tmp_path / "new" / "study.toml"
    study.write_text(study.read_text(encoding="utf-8").replace('name = "old"', 'name = "renamed"'), encoding="utf-8")
    (tmp_path / "new" / "workspace.yaml").unlink()
    assert "renamed" in succeed("init", "--repair", "new")
    values = dotenv_values(tmp_path / "new" / ".env")
    assert values["DAGSTER_HOME"] == str(tmp_path / "new")
    assert values["VALUESASSETS_DAGSTER"] == str(tmp_path / "new" / "storage" / "renamed" / "dagster")
    assert files_in(tmp_path / "new") == FILES


def test_what_is_no_home_is_not_repaired(tmp_path):
    assert f"{tmp_path} is no home; make one" in refuse("init", "--repair", ".")
    assert list(tmp_path.iterdir()) == []


def test_a_moved_home_does_not_run(tmp_path):
    succeed("init", "old")
    shutil.move(tmp_path / "old", tmp_path / "new")
    line = refuse("--home", "new", "run", "demo_survey", "--only", "trials")
    assert line.endswith(f"`valuesassets init --repair {tmp_path / 'new'}` writes where it is now")


def test_home_names_the_folder_for_one_command(tmp_path):
    succeed("init", "here")
    assert succeed("--home", "here", "study").startswith("here: ")
    assert run("study").returncode == 2
    assert VARIABLE not in os.environ


def test_a_command_without_a_study_and_a_home_says_what_to_do():
    line = refuse("study", code=2)
    assert "name a study or its file, or make a home with `valuesassets init FOLDER`" in line


def test_init_without_a_folder_is_wrong_usage(tmp_path):
    assert "name the folder to make" in refuse("init", code=2)
    assert list(tmp_path.iterdir()) == []
