"""Dagster's SQLite databases, with connections that stay open (dagster.yaml names this storage).

Dagster opens a run's database for every event and closes it after it. SQLite then ends its write-ahead log each time:
it copies the log into the database, waits for the disk and deletes the log. Where a connection stays open, an event
costs a third of the processor time and fewer waits for the disk. Tables, files and what is written are Dagster's.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from dagster import EventLogEntry
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage
from sqlalchemy import Connection, Engine, create_engine, make_url
from sqlalchemy.pool import QueuePool

from valuesassets.dagster_internals.tags import INPUT_EVENT_POINTER_TAG_PREFIX, MADE_OF

MOST_OPEN = 8
"""Databases of one process that stay open; each run has its own."""
_OF_THE_PARENT: list[Any] = []
"""Connections that a fork has inherited: SQLite forbids it to use them, and to close them."""


class OpenDatabases:
    """Engines of databases, each with one connection that stays open; those used last are kept."""

    def __init__(self) -> None:
        self._begin()

    def engine(self, address: str) -> Engine:
        """The engine of a database, with a new connection where its file was replaced."""
        if self._process != os.getpid():
            _OF_THE_PARENT.append(self._engines)
            self._begin()
        file = make_url(address).database or ""
        with self._lock:
            engine, old_number = self._engines.pop(address, (None, None))
            number = _file_number(file)
            if engine is not None and old_number not in (None, number):
                engine.dispose()
                engine = None
            if engine is None:
                options = {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS, "check_same_thread": False}
                engine = create_engine(address, poolclass=QueuePool, pool_size=1, max_overflow=-1, connect_args=options)
            self._engines[address] = engine, number
            while len(self._engines) > MOST_OPEN:
                self._engines.pop(next(iter(self._engines)))[0].dispose()
        return engine

    def _begin(self) -> None:
        self._process, self._lock = os.getpid(), threading.Lock()
        self._engines: dict[str, tuple[Engine, int | None]] = {}


class EventLog(SqliteEventLogStorage):
    """Dagster's record of events: a database for each run, and one for all of them."""

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
        """Also those that say what a materialisation was made of: one query asks for them of a whole grid."""
        ours = {tag for tag in tag_keys if tag == MADE_OF or tag.startswith(INPUT_EVENT_POINTER_TAG_PREFIX)}
        return super().get_asset_tags_to_index(tag_keys) | ours

    def store_event(self, event: EventLogEntry) -> None:
        """Write an event, and tell those who watch the run's file: what was written stands in the log beside it."""
        super().store_event(event)
        with suppress(OSError):
            os.utime(self.path_for_shard(event.run_id))


class _KeptOpen:
    """A storage of one database."""

    _conn_string: str

    def __init__(self, *arguments: Any) -> None:
        self._databases = OpenDatabases()
        super().__init__(*arguments)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        with self._databases.engine(self._conn_string).begin() as connection:
            yield connection


class Runs(_KeptOpen, SqliteRunStorage):
    """Dagster's record of runs."""


class Schedules(_KeptOpen, SqliteScheduleStorage):
    """Dagster's record of schedules and sensors."""


class SqliteStorage(DagsterSqliteStorage):
    """Dagster's storage of these three; its folder and files are those of `storage: sqlite`."""

    def __init__(self, base_dir: str, inst_data: Any = None) -> None:
        super(DagsterSqliteStorage, self).__init__()  # its own would open the same databases in its way
        self.base_dir, self._inst_data = base_dir, inst_data
        history = Path(base_dir) / "history"
        self._run_storage = Runs.from_local(str(history))
        self._event_log_storage = EventLog(str(history / "runs"))
        self._schedule_storage = Schedules.from_local(str(Path(base_dir) / "schedules"))

    @classmethod
    def from_config_value(cls, inst_data: Any, config_value: Any) -> Self:
        """The storage of the folder that an instance's settings name."""
        return cls.from_local(inst_data=inst_data, **config_value)


def _file_number(file: str) -> int | None:
    with suppress(OSError):
        return os.stat(file).st_ino
    return None
