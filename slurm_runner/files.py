"""Small JSON files that are whole or absent, and locks; a failing disk raises `SlurmError`."""

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock

from slurm_runner.errors import SlurmError


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """A block that writes files; errors of the disk become `SlurmError`."""
    try:
        yield
    except OSError as error:
        raise SlurmError(
            f"{error.filename or folder}: cannot be written: {error.strerror}; free space or choose a folder that this "
            "machine and the compute nodes can write"
        ) from None


def share(path: Path) -> None:
    """Give the group of a folder write access to a new file or folder in it, whatever the umask."""
    parent = path.parent.stat()
    if parent.st_mode & stat.S_IWGRP:
        with contextlib.suppress(OSError):  # the owner shares it; others get an error when they write
            for each in (path, *path.rglob("*")):
                os.chown(each, -1, parent.st_gid)
                group = stat.S_ISGID | stat.S_IRWXG if each.is_dir() else stat.S_IRGRP | stat.S_IWGRP
                each.chmod(stat.S_IMODE(each.stat().st_mode) | group)


def make_folder(path: Path) -> None:
    """Make a folder and its missing parents, each shared like its parent."""
    if not path.is_dir():
        make_folder(path.parent)
        with writing(path):
            path.mkdir(exist_ok=True)
            share(path)


def write_json(path: Path, value: Any) -> None:
    """Write a file under a temporary name, flush it to the disk, then rename it."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with writing(path):
        with open(temporary, "w", encoding="utf-8") as stream:
            json.dump(value, stream, indent=2)
            stream.flush()
            os.fsync(stream.fileno())
        share(temporary)
        temporary.replace(path)


def read_json(path: Path) -> Any:
    """The value of a JSON file; None where it is absent or not JSON.

    A file that the disk fails to read does not count as absent: otherwise a job could be submitted twice.
    """
    try:
        return json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        raise SlurmError(f"{path}: cannot be read: {error.strerror}; try again when the disk answers") from None


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """A lock among all processes that see the file."""
    lock = FileLock(path)
    with writing(path.parent):
        lock.acquire()
        share(path)
    try:
        yield
    finally:
        lock.release()


def tail(path: Path, lines: int = 15, most: int = 16_384) -> str:
    """The last lines of a log; empty where there is none."""
    try:
        with open(path, "rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(0, stream.tell() - most))
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])
