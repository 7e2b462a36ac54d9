"""A study's history of runs lies in its own folder, and an older one is copied there once."""

import shutil
import sqlite3
from contextlib import closing

import pytest
from filelock import FileLock

from valuesassets.desk.history import copy_old_history, dagster_folder
from valuesassets.records.errors import UiError


@pytest.fixture
def storage(tmp_path):
    """A storage folder of an older version, with two studies in one history."""
    runs = tmp_path / "dagster" / "history" / "runs"
    runs.mkdir(parents=True)
    with closing(sqlite3.connect(runs / "index.db")) as database:
        database.execute("create table events (id)")
        database.commit()
    for name in ("logs/daemon.log", "ui.json", "storage/one.out"):
        (tmp_path / "dagster" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "dagster" / name).write_text("said before", encoding="utf-8")
    for study in ("demo", "other"):
        (tmp_path / study / "survey").mkdir(parents=True)
    return tmp_path


def taken(storage, study):
    """The folder of a study's history, and what was said when an older one was taken along."""
    folder, said = dagster_folder(study, storage, None), []
    copy_old_history(study, storage, folder, said.append)
    return folder, said


def test_each_study_has_its_own_folder_unless_another_is_named(tmp_path):
    assert dagster_folder("demo", tmp_path, "") == tmp_path / "demo" / "dagster"
    assert dagster_folder("demo", tmp_path, str(tmp_path / "x")) == tmp_path / "x"


def test_an_older_history_is_copied_once_to_each_study_and_stays(storage):
    for study in ("demo", "other"):
        folder, said = taken(storage, study)
        assert len(said) == 1
        with closing(sqlite3.connect(folder / "history" / "runs" / "index.db")) as database:
            assert database.execute("select count(*) from events").fetchone() == (0,)
        assert (folder / "storage" / "one.out").exists()
        assert not (folder / "logs").exists()
        assert not (folder / "ui.json").exists()
        assert taken(storage, study) == (folder, [])
    assert (storage / "dagster" / "history" / "runs" / "index.db").exists()


def test_a_new_study_begins_without_one(storage):
    folder, said = taken(storage, "new")
    assert (said, folder.exists()) == ([], False)


def test_a_copy_that_was_cut_off_is_made_again(storage):
    folder = dagster_folder("demo", storage, None)
    (folder / "storage").mkdir(parents=True)
    (folder / "storage" / "one.out").write_text("half", encoding="utf-8")
    taken(storage, "demo")
    assert (folder / "storage" / "one.out").read_text("utf-8") == "said before"
    assert [each.name for each in (storage / "demo").iterdir() if each.name.startswith(".")] == []


def test_a_folder_that_is_named_takes_nothing_along(storage):
    folder = storage / "elsewhere"
    copy_old_history("demo", storage, folder, pytest.fail)
    assert not folder.exists()


def test_a_ui_that_is_up_over_the_older_one_is_stopped_first(storage):
    with (
        FileLock(storage / "dagster" / "ui.lock"),
        pytest.raises(UiError, match="a running UI uses it; stop that UI first"),
    ):
        taken(storage, "demo")
    assert not (storage / "demo" / "dagster").exists()
    shutil.rmtree(storage / "dagster")
    assert taken(storage, "demo")[1] == []
