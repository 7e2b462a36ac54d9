"""A database of another version of Dagster, and one that is none, is told before any server is started."""

import sqlite3
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest

from valuesassets.desk.database import open_instance
from valuesassets.records.errors import StorageError
from valuesassets_tests.orchestration.small_study import study_environment

PARTS = {"runs": "history/runs.db", "events": "history/runs/index.db", "schedules": "schedules/schedules.db"}
OLDER = "7e2f3204cf8e"  # of Dagster 1.5


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a database that today's Dagster has made."""
    for name, value in study_environment(tmp_path, Path("demo_survey")).items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "storage" / "dagster"
    open_instance(str(folder), False).dispose()
    return folder


def stamp(folder, part, version):
    with closing(sqlite3.connect(folder / PARTS[part])) as database:
        database.execute("UPDATE alembic_version SET version_num = ?", [version])
        database.commit()


@pytest.mark.slow
def test_the_database_of_today_is_opened(folder):
    with open_instance(str(folder), False) as instance:
        assert instance.get_runs() == []


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.slow
def test_an_older_database_is_named_with_the_command_that_mends_it(folder, part):
    stamp(folder, part, OLDER)
    with pytest.raises(StorageError, match=f"older version .{part} at {OLDER}.*make ui MIGRATE=1"):
        open_instance(str(folder), False)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("is_migrated", [True, False])
@pytest.mark.slow
def test_a_newer_database_is_named_and_left_as_it_is(folder, part, is_migrated):
    stamp(folder, part, "f00000000000")
    with pytest.raises(StorageError, match=f"newer Dagster than {dg.__version__} .{part} at f00000000000"):
        open_instance(str(folder), is_migrated)


@pytest.mark.slow
def test_an_older_database_is_brought_up_to_date_where_that_is_asked_for(folder):
    for part in PARTS:
        stamp(folder, part, OLDER)
    open_instance(str(folder), True).dispose()
    open_instance(str(folder), False).dispose()


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.slow
def test_a_file_that_is_no_database_is_named(folder, part):
    (folder / PARTS[part]).write_bytes(b"not a database" * 1000)
    with pytest.raises(StorageError, match="cannot be used: file is not a database"):
        open_instance(str(folder), False)
