"""What would keep the UI from working, found before anything is started.

One UI at a time writes to an instance of Dagster, and holds its lock: two daemons would start every run twice.
"""

import errno
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from valuesassets.desk.ui_settings import HOST, UiSettings
from valuesassets.records.errors import StorageError, UiError
from valuesassets.records.files import read_json, write_json

PROBE = b"\0" * 65_536
"""A full disk may still hold an empty file."""
UNWRITABLE = {
    errno.EEXIST: "a file stands in its place; make it writable for you",
    errno.ENOTDIR: "a file stands in its place; make it writable for you",
    errno.EROFS: "the disk is mounted read-only; make it writable for you",
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "your share of the disk is full; free some space",
    errno.EACCES: "you may not write there; make it writable for you",
}


def require_startable(settings: UiSettings) -> None:
    """Look at the folders.

    Raises:
        StorageError: a folder cannot be written, or DAGSTER_HOME is no folder.
    """
    if not (settings.home.is_absolute() and (settings.home / "dagster.yaml").is_file()):
        raise StorageError(
            f"DAGSTER_HOME={settings.home}: a folder with a dagster.yaml was expected, by its absolute path; or leave "
            "it unset"
        )
    hint = "; a read-only UI writes its log there: who owns the study starts it" if settings.is_read_only else ""
    _require_written(settings.dagster, "VALUESASSETS_DAGSTER", hint)
    if not settings.is_read_only:
        _require_written(settings.storage, "VALUESASSETS_STORAGE")


@contextmanager
def ui_lock(settings: UiSettings, folder: str) -> Iterator[None]:
    """Hold the instance for as long as the UI is up; a read-only one holds nothing.

    Args:
        folder: the UI's own, short-lived; the one that a killed UI left is removed.

    Raises:
        UiError: another UI has it; names its address and its process.
    """
    if settings.is_read_only:
        yield
        return
    lock, about = FileLock(settings.dagster / "ui.lock"), settings.dagster / "ui.json"
    which = ""
    with suppress(StorageError, KeyError, TypeError):
        before = read_json(about)
        which = f" at {before['address']} (process {before['pid']})"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UiError(
            f"{settings.dagster}: another UI is up{which}; use that one, or stop it with Ctrl-C where it runs, "
            f"or look on beside it with `make ui READ_ONLY=1 PORT={settings.port + 10}`"
        ) from None
    except OSError as error:
        raise StorageError(
            f"{lock.lock_file}: cannot be locked: {error.strerror}; set VALUESASSETS_DAGSTER to a folder on a local "
            "disk"
        ) from None
    try:
        with suppress(StorageError, KeyError, TypeError):
            shutil.rmtree(read_json(about)["run_folder"], ignore_errors=True)
        write_json(about, {"pid": os.getpid(), "address": settings.address, "run_folder": folder})
        yield
        about.unlink(missing_ok=True)
    finally:
        lock.release()


def require_free_ports(settings: UiSettings) -> None:
    """See that both ports can be listened on: after the lock, which tells more of another UI than its port does.

    Raises:
        UiError: one is taken, or not for us.
    """
    other = f"`make ui{' READ_ONLY=1' if settings.is_read_only else ''} PORT={settings.port + 10}`"
    for port, serves, what_to_do in (
        (settings.port, "the UI", f"choose another one: {other}"),
        (settings.pages_port, "the pages", f"choose other ports: {other} takes that one and the one after it"),
    ):
        try:
            socket.create_server((HOST, port)).close()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise UiError(f"port {port}, for {serves}: is taken; {what_to_do}") from None
            raise UiError(f"port {port}, for {serves}: cannot be used: {error.strerror}; {what_to_do}") from None


def _require_written(folder: Path, variable: str, hint: str = "") -> None:
    """See that a folder, which a variable of the environment names, takes files, by writing one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(PROBE)
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        why = UNWRITABLE.get(error.errno or 0, f"{error.strerror}; make it writable for you")
        raise StorageError(f"{folder}: cannot be written: {why}, or set {variable} to another folder{hint}") from None
