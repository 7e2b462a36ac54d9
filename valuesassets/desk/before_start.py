"""Checks before the UI starts: folders, the lock and ports.

Only one UI at a time may write to an instance of Dagster, and it holds a lock: two daemons would start every run
twice.
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

from valuesassets.desk.instance_settings import require_instance_settings
from valuesassets.desk.ui_settings import UiSettings
from valuesassets.records.errors import StorageError, UiError
from valuesassets.records.files import read_json, write_json
from valuesassets.records.home import command_to

PROBE = b"\0" * 65_536
"""Bytes to write as a test, since a full disk may still accept an empty file."""
UNWRITABLE = {
    errno.EEXIST: "a file stands in its place; make it writable for you",
    errno.ENOTDIR: "a file stands in its place; make it writable for you",
    errno.EROFS: "the disk is mounted read-only; make it writable for you",
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "your share of the disk is full; free some space",
    errno.EACCES: "you may not write there; make it writable for you",
}


def require_startable(settings: UiSettings) -> None:
    """Require that the UI's folders can be used; StorageError where one cannot be written, DAGSTER_HOME is no
    folder, or its dagster.yaml has a fault; InputError where that names Postgres without the extra."""
    if not (settings.home.is_absolute() and (settings.home / "dagster.yaml").is_file()):
        raise StorageError(
            f"DAGSTER_HOME={settings.home}: a folder with a dagster.yaml was expected, by its absolute path; or leave "
            "it unset"
            if os.environ.get("DAGSTER_HOME")
            else f"{settings.home}: this home has lost its dagster.yaml; `valuesassets init --repair {settings.home}` "
            "writes it again"
        )
    require_instance_settings(settings.home, settings.environment(os.environ))
    hint = "; a read-only UI writes its log there: who owns the study starts it" if settings.is_read_only else ""
    _require_written(settings.dagster, "VALUESASSETS_DAGSTER", hint)
    if not settings.is_read_only:
        _require_written(settings.storage, "VALUESASSETS_STORAGE")


@contextmanager
def ui_lock(settings: UiSettings, folder: str) -> Iterator[None]:
    """Hold the instance's lock while the UI is up; a read-only UI needs no lock.

    Args:
        folder: the temporary folder of this UI; the folder of a killed UI is removed.

    Raises:
        UiError: another UI holds the lock; names its address and process.
    """
    if settings.is_read_only:
        yield
        return
    lock, record = FileLock(settings.dagster / "ui.lock"), settings.dagster / "ui.json"
    place = ""
    with suppress(StorageError, KeyError, TypeError):
        last = read_json(record)
        place = f" at {last['address']} (process {last['pid']})"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UiError(
            f"{settings.dagster}: another UI is up{place}; use that one, or stop it with Ctrl-C where it runs, "
            f"or look on beside it with `{_ui_command(settings.port + 10, is_read_only=True)}`"
        ) from None
    except OSError as error:
        raise StorageError(
            f"{lock.lock_file}: cannot be locked: {error.strerror}; set VALUESASSETS_DAGSTER to a folder on a local "
            "disk"
        ) from None
    try:
        with suppress(StorageError, KeyError, TypeError):
            shutil.rmtree(read_json(record)["run_folder"], ignore_errors=True)
        write_json(record, {"pid": os.getpid(), "address": settings.address, "run_folder": folder})
        yield
        record.unlink(missing_ok=True)
    finally:
        lock.release()


def require_free_ports(settings: UiSettings) -> None:
    """Require that both ports are free and allowed, else UiError; called after the lock, whose message on another UI
    says more."""
    command = f"`{_ui_command(settings.port + 10, settings.is_read_only)}`"
    for port, serves, what_to_do in (
        (settings.port, "the UI", f"choose another one: {command}"),
        (settings.pages_port, "the pages", f"choose other ports: {command} takes that one and the one after it"),
    ):
        try:
            socket.create_server((settings.host, port)).close()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise UiError(f"port {port}, for {serves}: is taken; {what_to_do}") from None
            if error.errno == errno.EADDRNOTAVAIL:
                raise UiError(
                    f"--host {settings.host}: this machine has no such address; 0.0.0.0 stands for all that it has"
                ) from None
            raise UiError(f"port {port}, for {serves}: cannot be used: {error.strerror}; {what_to_do}") from None


def _ui_command(port: int, is_read_only: bool) -> str:
    """The command that starts a UI at a port."""
    make, program = (" READ_ONLY=1", " --read-only") if is_read_only else ("", "")
    return command_to(f"make ui{make} PORT={port}", f"valuesassets ui{program} --port {port}")


def _require_written(folder: Path, variable: str, hint: str = "") -> None:
    """Require that a folder, which an environment variable names, can be written, by writing a file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(PROBE)
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        why = UNWRITABLE.get(error.errno or 0, f"{error.strerror}; make it writable for you")
        raise StorageError(f"{folder}: cannot be written: {why}, or set {variable} to another folder{hint}") from None
