"""Files that are whole or absent: written under a temporary name, then renamed."""

import contextlib
import hashlib
import json
import os
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from valuesassets.records.errors import StorageError
from valuesassets.records.found_files import kind_of, no_such_file

_change = threading.Condition()
_unbroken = 0


@contextlib.contextmanager
def unbroken() -> Iterator[None]:
    """A block, such as one of writing, that is waited for before the process is ended (`nothing_unbroken`)."""
    global _unbroken
    with _change:
        _unbroken += 1
    try:
        yield
    finally:
        with _change:
            _unbroken -= 1
            _change.notify_all()


@contextlib.contextmanager
def nothing_unbroken() -> Iterator[None]:
    """A block that begins when the other threads' `unbroken` ones have ended, and holds back new ones: for the end."""
    with _change:
        _change.wait_for(lambda: _unbroken == 0)
        yield


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place when the block ends without an error.

    Raises:
        StorageError: the folder or the file cannot be written (the disk is full, the folder is read-only, ...).
    """
    path = Path(path)
    # The name is known before the file is there: whatever stops us, and wherever, the file goes.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{path.suffix}")
    with unbroken():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.touch(0o644, exist_ok=False)
            yield temporary
            temporary.replace(path)
        except OSError as error:
            raise StorageError(
                f"{path}: cannot be written: {_reason(error)}; nothing was changed; free space or choose another folder"
            ) from error
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write readable JSON (UTF-8, two spaces) whole or not at all."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """The value in a JSON file.

    Raises:
        StorageError: absent, not UTF-8 or not JSON; the message names line and column.
    """
    content = read_file(path, "a JSON file")
    try:
        value = json.loads(content.decode("utf-8-sig"))
        json.dumps(value, ensure_ascii=False).encode()  # refuses half characters (\ud800), which no file can hold
    except UnicodeDecodeError as error:
        raise StorageError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except json.JSONDecodeError as error:
        raise StorageError(
            f"{path}: line {error.lineno}, column {error.colno}: not JSON ({error.msg}); mend the file there"
        ) from None
    except UnicodeEncodeError as error:
        raise StorageError(f"{path}: holds half a character ({error.object[error.start]!a}); mend the text") from None
    except (RecursionError, ValueError) as error:  # nested too deep; a number of thousands of digits
        raise StorageError(f"{path}: cannot be read: {str(error).split(';')[0]}; is it the right file?") from None
    return value


def read_file(path: Path, expected: str) -> bytes:
    """The bytes of a file of text.

    Args:
        expected: what the file should be, with its article.

    Raises:
        StorageError: absent, a folder, empty, plainly another kind of file, or not for us to read.
    """
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        raise StorageError(no_such_file(path)) from None
    except IsADirectoryError:
        raise StorageError(f"{path}: is a folder, {expected} was expected; name the file") from None
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {_reason(error)}; check who may read it") from None
    kind = kind_of(content)
    if kind is not None and kind != "JSON":
        what_to_do = "save the file as UTF-8" if "UTF-16" in kind else "name another file"
        raise StorageError(f"{path}: is {kind}, {expected} was expected; {what_to_do}")
    return content


def sha256_file(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_json(value: Any) -> str:
    """Hexadecimal SHA-256 of a JSON value, the same for every key order."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
