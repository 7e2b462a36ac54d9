"""Dagster's SQLite storage, with connections that stay open (named in dagster.yaml).

Dagster opens and closes a run's database for every event. SQLite then ends its write-ahead log each time: it copies the
log into the database, waits for the disk and deletes the log. With an open connection, an event costs a third of the
processor time and fewer waits for the disk. Tables, files and content are the same as Dagster's.

A new database is stamped with the newest of Dagster's migrations, of which there are some 90 files. Dagster reads them
twice for each database, and each run has one; here they are read once a process: a run's database costs 8 ms of
processor time, not 38.

Connections write ahead from the first table on, and wait for the disk when a log is copied into its database, not at
every event: a killed process loses nothing. After a power failure the databases are whole, and the last events may be
missing (decision 079).
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from alembic.config import Config
from alembic.script import ScriptDirectory
from dagster import EventLogEntry
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.pool import QueuePool

from valuesassets.dagster_internals.tags import INPUT_EVENT_POINTER_TAG_PREFIX, MADE_OF

_scripts_of = ScriptDirectory.from_config
_SCRIPTS: dict[str, ScriptDirectory] = {}
"""Dagster's migrations that were read, by their folder."""


def _known_scripts(config: Config) -> ScriptDirectory:
    """The migrations of a configuration; Dagster's are read once a process, in which its files do not change."""
    folder = config.get_main_option("script_location")
    if folder is None or not folder.startswith("dagster:"):
        return _scripts_of(config)
    if folder not in _SCRIPTS:
        _SCRIPTS[folder] = _scripts_of(config)
    return _SCRIPTS[folder]


ScriptDirectory.from_config = _known_scripts  # type: ignore[method-assign, assignment]
MOST_OPEN = 8
"""Most databases that a process keeps open; each run has its own."""
_INHERITED: list[Any] = []
"""Connections that a fork has inherited; SQLite forbids a fork to use or close them."""


class OpenDatabases:
    """Engines of the most recently used databases, each with one open connection."""

    def __init__(self) -> None:
        self._begin()

    def engine(self, address: str) -> Engine:
        """The engine of a database, with a new connection where its file was replaced."""
        if self._process != os.getpid():
            _INHERITED.append(self._engines)
            self._begin()
        file = make_url(address).database or ""
        with self._lock:
            engine, file_number = self._engines.pop(address, (None, None))
            current_number = _file_number(file)
            if engine is not None and file_number not in (None, current_number):
                engine.dispose()
                engine = None
            if engine is None:
                options = {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False}
                engine = create_engine(address, poolclass=QueuePool, pool_size=1, max_overflow=-1, connect_args=options)
                event.listen(engine, "connect", _write_ahead)
            self._engines[address] = engine, current_number
            while len(self._engines) > MOST_OPEN:
                self._engines.pop(next(iter(self._engines)))[0].dispose()
        return engine

    def _begin(self) -> None:
        self._process, self._lock = os.getpid(), threading.Lock()
        self._engines: dict[str, tuple[Engine, int | None]] = {}


class EventLog(SqliteEventLogStorage):
    """Dagster's event log: a database for each run, and one for all runs."""

    def __init__(self, base_dir: str) -> None:
        self._databases = OpenDatabases()
        super().__init__(base_dir)

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._db_lock:
            if not os.path.exists(self.path_for_shard(shard)):
                self._initialized_dbs.discard(shard)
            engine = self._databases.engine(self.conn_string_for_shard(shard))
            if shard not in self._initialized_dbs:
                self._initdb(engine)
                self._initialized_dbs.add(shard)
            with engine.begin() as connection:
                yield connection

    def get_asset_tags_to_index(self, tag_keys: set[str]) -> set[str]:
        """Also index our tags on a materialisation's inputs, so that one query reads them for a whole grid."""
        ours = {tag for tag in tag_keys if tag == MADE_OF or tag.startswith(INPUT_EVENT_POINTER_TAG_PREFIX)}
        return super().get_asset_tags_to_index(tag_keys) | ours

    def store_event(self, event: EventLogEntry) -> None:
        """Write an event, and touch the run's file for its watchers, since SQLite writes to the log beside it."""
        super().store_event(event)
        with suppress(OSError):
            os.utime(self.path_for_shard(event.run_id))


class _OpenConnection:
    """A storage of one database, whose connection stays open."""

    _conn_string: str

    def __init__(self, *arguments: Any) -> None:
        self._databases = OpenDatabases()
        super().__init__(*arguments)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        with self._databases.engine(self._conn_string).begin() as connection:
            yield connection


class Runs(_OpenConnection, SqliteRunStorage):
    """Dagster's storage of runs."""


class Schedules(_OpenConnection, SqliteScheduleStorage):
    """Dagster's storage of schedules and sensors."""


class SqliteStorage(DagsterSqliteStorage):
    """The three storages together, with the same folder and files as Dagster's `storage: sqlite`."""

    def __init__(self, base_dir: str, inst_data: Any = None) -> None:
        super(DagsterSqliteStorage, self).__init__()  # the parent's constructor would open the databases too
        self.base_dir, self._inst_data = base_dir, inst_data
        history = Path(base_dir) / "history"
        self._run_storage = Runs.from_local(str(history))
        self._event_log_storage = EventLog(str(history / "runs"))
        self._schedule_storage = Schedules.from_local(str(Path(base_dir) / "schedules"))

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> Self:
        """The storage in the folder that dagster.yaml names."""
        return cls.from_local(inst_data=inst_data, **config_value)


def _write_ahead(connection: sqlite3.Connection, _: object) -> None:
    """Settings of a new connection, which fail where the database may not be written."""
    with suppress(sqlite3.OperationalError):
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")


def _file_number(file: str) -> int | None:
    with suppress(OSError):
        return os.stat(file).st_ino
    return None
