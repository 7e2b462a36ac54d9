"""Databases whose connections stay open hold what Dagster's own would, whoever writes, forks, replaces or looks on."""

import os
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest
from alembic.script import ScriptDirectory
from dagster._core.instance import InstanceRef
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage

from valuesassets.dagster_internals import storage
from valuesassets.dagster_internals.storage import MOST_OPEN, EventLog, OpenDatabases, SqliteStorage, _write_ahead
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.waiting import wait_until

pytestmark = pytest.mark.slow
FIVE = 5


@dg.asset
def observed(context):
    """Says something five times."""
    for number in range(FIVE):
        context.log_event(dg.AssetObservation("observed", metadata={"number": number}))


def instance_of(folder, kind):
    """An instance whose storage is of a kind."""
    overrides = {
        "storage": {"custom": {"module": kind.__module__, "class": kind.__name__, "config": {"base_dir": str(folder)}}}
    }
    return dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(folder), overrides=overrides))


def run_in(instance):
    """Make the asset; gives the run's id."""
    return dg.materialize([observed], instance=instance).run_id


def observations(instance):
    """How many times the asset was observed."""
    return len(instance.fetch_observations(observed.key, limit=1000).records)


def open_databases():
    """Databases that this process holds open, by their paths."""
    links = [Path(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
    return {link.resolve() for link in links if link.exists() and link.resolve().suffix == ".db"}


def test_the_instance_of_this_project_has_it(tmp_path, monkeypatch):
    monkeypatch.setenv("VALUESASSETS_DAGSTER", str(tmp_path))
    with dg.DagsterInstance.from_config(str(REPOSITORY)) as instance:
        assert isinstance(instance.event_log_storage, EventLog)


def test_new_databases_write_ahead_and_wait_for_the_disk_at_checkpoints_alone(tmp_path):
    file = tmp_path / "new.db"
    with OpenDatabases().engine(f"sqlite:///{file}").connect() as connection:
        settings = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]
        assert settings == ["wal", 1]
        connection.exec_driver_sql("CREATE TABLE events (number)")
        assert Path(f"{file}-wal").stat().st_size > 0
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as looker:
        _write_ahead(looker, None)
        assert looker.execute("SELECT count(*) FROM events").fetchone() == (0,)


def test_dagsters_migrations_are_read_once_whatever_databases_are_made(tmp_path, monkeypatch):
    """Each instance has three databases, and each run one of its own."""
    monkeypatch.setattr(storage, "_SCRIPTS", {})
    folders = []
    monkeypatch.setattr(
        ScriptDirectory,
        "_load_revisions",
        lambda self, read=ScriptDirectory._load_revisions: folders.append(self.dir) or read(self),
    )
    with instance_of(tmp_path, SqliteStorage) as instance:
        runs = {run_in(instance), run_in(instance)}
    assert len(folders) == 1
    for name in ("index", *runs):
        with closing(sqlite3.connect(tmp_path / "history" / "runs" / f"{name}.db")) as database:
            ((stamped,),) = database.execute("SELECT version_num FROM alembic_version")
            assert stamped == ScriptDirectory(folders[0]).get_current_head()


@pytest.mark.parametrize("kinds", [(DagsterSqliteStorage, SqliteStorage), (SqliteStorage, DagsterSqliteStorage)])
def test_what_dagsters_own_storage_wrote_is_read_and_gone_on_with_and_the_other_way_round(tmp_path, kinds):
    for number, kind in enumerate(kinds, 1):
        with instance_of(tmp_path, kind) as instance:
            run = run_in(instance)
            assert observations(instance) == number * FIVE
            assert len(instance.get_runs()) == number
            assert {record.event_log_entry.run_id for record in instance.get_records_for_run(run).records} == {run}


def test_many_runs_leave_few_databases_open(tmp_path):
    with instance_of(tmp_path, SqliteStorage) as instance:
        runs = [run_in(instance) for _ in range(MOST_OPEN + 3)]
        opened = {path for path in open_databases() if tmp_path in path.parents}
        assert 0 < len(opened) <= 3 * MOST_OPEN
        for run in runs:
            assert len(instance.get_records_for_run(run, of_type=dg.DagsterEventType.ASSET_OBSERVATION).records) == FIVE


def test_a_fork_and_its_parent_both_write_and_no_database_is_damaged(tmp_path):
    with instance_of(tmp_path, SqliteStorage) as instance:
        run_in(instance)
        pid = os.fork()
        if pid == 0:
            try:
                run_in(instance)
            finally:
                os._exit(0)
        run_in(instance)
        os.waitpid(pid, 0)
        assert observations(instance) == 3 * FIVE
        assert len(instance.get_runs()) == 3
    for file in tmp_path.rglob("*.db"):
        with closing(sqlite3.connect(file)) as database:
            assert database.execute("pragma integrity_check").fetchone() == ("ok",)


def test_threads_write_at_once(tmp_path):
    with instance_of(tmp_path, SqliteStorage) as instance, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: run_in(instance), range(8)))
        assert observations(instance) == 8 * FIVE


def test_a_database_that_was_put_back_is_the_one_that_is_used(tmp_path):
    folder, kept = tmp_path / "instance", tmp_path / "kept"
    folder.mkdir()
    with instance_of(folder, SqliteStorage) as instance:
        run_in(instance)
    shutil.copytree(folder, kept)
    with instance_of(folder, SqliteStorage) as instance:
        run_in(instance)
        assert len(instance.get_runs()) == 2
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
        assert len(instance.get_runs()) == 1
        run_in(instance)
        assert observations(instance) == 2 * FIVE


def test_a_run_whose_database_was_deleted_has_a_new_one(tmp_path):
    with instance_of(tmp_path, SqliteStorage) as instance:
        run = run_in(instance)
        for file in tmp_path.rglob(f"{run}.db*"):
            file.unlink()
        assert list(instance.get_records_for_run(run).records) == []


def test_who_watches_a_run_hears_of_its_events_while_it_goes_on(tmp_path):
    messages = []
    with instance_of(tmp_path, SqliteStorage) as instance, instance_of(tmp_path, SqliteStorage) as other:
        run = instance.create_run_for_job(dg.Definitions([observed]).resolve_implicit_global_asset_job_def())
        other.event_log_storage.watch(run.run_id, None, lambda entry, _: messages.append(entry.message))
        for message in ("it has begun", "it goes on"):
            instance.report_engine_event(message, run)
            wait_until(lambda message=message: message in messages)
