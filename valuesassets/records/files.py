"""Writes files whole or not at all, and reads them with clear errors for missing or wrong ones."""

import contextlib
import difflib
import hashlib
import io
import json
import os
import secrets
import shutil
import threading
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from valuesassets.records.errors import StorageError, ValuesAssetsError
from valuesassets.records.zips import PACKED, packed_file

LONGEST_LINE = 10 * 2**20
"""Limit on a line's length in bytes; no line that people write is longer."""
_BEGINNINGS = {
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a ZIP archive or an Office document",
    b"\x1f\x8b\x08": "a gzip archive",
    b"PAR1": "a parquet file",
    b"$FL": "an SPSS file",
    b"<stata_dta>": "a Stata file",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
    b"<!doctype html": "an HTML page",
    b"<html": "an HTML page",
    b"version https://git-lfs": "a Git LFS pointer (the file itself was not downloaded)",
    b"[": "JSON",
    b"{": "JSON",
}


def kind_of(content: bytes) -> str | None:
    """The kind of a file by its first bytes, with its article; None where they do not show it.

    >>> kind_of(b"%PDF-1.7"), kind_of(b"v1,v2")
    ('a PDF', None)
    """
    if not content:
        return "an empty file"
    head = content[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    return next((kind for beginning, kind in _BEGINNINGS.items() if head.startswith(beginning.lower())), None)


def kind_of_file(path: Path) -> str | None:
    """The kind of a file by its first bytes (see `kind_of`)."""
    with open(path, "rb") as stream:
        return kind_of(stream.read(1024))


def no_such_file(path: Path | str, what: str = "file", others: Iterable[str] = ()) -> str:
    """The error message for a missing file, with a likely reason or a similar name.

    Args:
        others: names that are valid beside those of the folder's files.
    """
    text = str(path)
    label = text if text and text == text.strip() else repr(text)
    return f"{label}: no such {what}; {_hint(text, list(others))}"


def no_such_name(name: str, what: str, choices: Iterable[str]) -> str:
    """The error message for an unknown name, with a similar one or the list of names.

    >>> no_such_name("egn", "language", ["deu", "eng"])
    'egn: no such language; did you mean eng?'
    >>> no_such_name("a", "code", map(str, range(22)))[-17:]
    '18, 19 and 2 more'
    """
    names = list(choices)
    matches = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"{name}: no such {what}; " + (f"did you mean {matches[0]}?" if matches else f"name one of {listed}")


def _hint(text: str, others: list[str]) -> str:
    if text.startswith("~"):
        return "~ stands for the home folder only where the shell expands it: leave out the quotes or write it in full"
    if "\\" in text:
        return "it looks like a Windows path: write the path as it is on this machine, with / between folders"
    path = Path(text)
    if not path.parent.is_dir():
        return f"there is no folder {path.parent} either; check the path"
    names = sorted(entry.name for entry in path.parent.iterdir())
    bare = path.name.strip(" \t\r\n\"'")
    if bare in names and bare != path.name:
        return f"there is {path.parent / bare}: leave out the blanks or quotes"
    matches = difflib.get_close_matches(path.name, [*others, *names], n=1, cutoff=0.8)
    if matches:
        return f"did you mean {matches[0] if matches[0] in others else path.parent / matches[0]}?"
    return "check the path" + (f", or name one of {', '.join(others)}" if others else "")


_change = threading.Condition()
_unbroken = 0


def _none_unbroken() -> None:
    """A fork does not finish what the threads of its parent had begun."""
    global _change, _unbroken
    _change, _unbroken = threading.Condition(), 0


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_none_unbroken)


@contextlib.contextmanager
def unbroken() -> Iterator[None]:
    """A block, such as one that writes, which the process finishes before it ends (see `nothing_unbroken`)."""
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
    """A block for ending the process: it waits for the `unbroken` blocks of other threads and lets no new one begin."""
    with _change:
        _change.wait_for(lambda: _unbroken == 0)
        yield


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary path that replaces `path` when the block ends without an error.

    Raises:
        StorageError: the folder or the file cannot be written, for example because the disk is full.
    """
    path = Path(path)
    # The name is chosen before the file exists, so that the file is removed wherever an error occurs.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{path.suffix}")
    with unbroken():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.touch(0o644, exist_ok=False)
            yield temporary
            if path.is_dir() and not path.is_symlink():
                if any(path.iterdir()):
                    raise StorageError(f"{path}: is a folder with files in it, a file is to be written; move it away")
                path.rmdir()
            temporary.replace(path)
        except OSError as error:
            raise _not_written(path, error) from error
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A temporary folder that becomes `path`, which has to be new or empty, when the block ends without an error.

    Raises:
        StorageError: `path` exists already, or the folder cannot be written.
    """
    path = Path(path)
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise StorageError(f"{path}: is there already; name a folder that is new or empty")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with unbroken():
        try:
            temporary.mkdir(parents=True)
            yield temporary
            temporary.replace(path)
        except StorageError as error:  # from a file in the folder
            raise StorageError(str(error).replace(str(temporary), str(path))) from error
        except OSError as error:
            raise _not_written(path, error) from error
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _not_written(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{path}: cannot be written: {_reason(error)}; nothing was changed; free space or choose another folder"
    )


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write readable JSON (UTF-8, two spaces) whole or not at all."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def read_json(path: Path, error: type[ValuesAssetsError] = StorageError) -> Any:
    """The value in a JSON file.

    Raises:
        error: the file is absent, not UTF-8 or not JSON; names line and column.
    """
    return parse_json(read_text(path, "a JSON file", error), str(path), error)


def parse_json(text: str, source: str, error: type[ValuesAssetsError], line: int | None = None) -> Any:
    """The value of a JSON text, which is a whole file or one line of it.

    Raises:
        error: it is not JSON, or holds text that no file can hold; names source and line.
    """
    where = source if line is None else f"{source}: line {line}"
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()  # refuses half characters (\ud800), which no file can hold
    except json.JSONDecodeError as fault:
        place = f"line {(line or 1) + fault.lineno - 1}, column {fault.colno}"
        raise error(f"{source}: {place}: not JSON ({fault.msg}); mend the file there") from None
    except UnicodeEncodeError as fault:
        raise error(f"{where}: holds half a character ({fault.object[fault.start]!a}); mend the text") from None
    except (RecursionError, ValueError) as fault:  # nested too deep; a number of thousands of digits
        raise error(f"{where}: cannot be read: {str(fault).split(';')[0]}; is it the right file?") from None
    return value


def read_toml(path: Path, expected: str, error: type[ValuesAssetsError] = StorageError) -> dict[str, Any]:
    """The table in a TOML file.

    Raises:
        error: as in `read_text`, or the file is not TOML; names line and column.
    """
    try:
        return tomllib.loads(read_text(path, expected, error))
    except tomllib.TOMLDecodeError as fault:
        message = str(fault).replace("Cannot overwrite a value", "a key stands twice")
        raise error(f"{path}: not TOML: {message}; mend the file there") from None


def read_text(path: Path, expected: str, error: type[ValuesAssetsError] = StorageError) -> str:
    """The text of a UTF-8 file, unpacked if it is the only file in an archive.

    Args:
        expected: the expected kind of file, with its article.

    Raises:
        error: the file is absent, a folder, empty, of another kind, unreadable for us, or not UTF-8.
    """
    with _text_file(path, expected, error) as stream:
        content = stream.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise error(f"{path}: byte {fault.start} is not UTF-8; save the file as UTF-8") from None


def read_lines(path: Path, expected: str, error: type[ValuesAssetsError] = StorageError) -> Iterator[str]:
    """The lines of a text file with their ends, one at a time; arguments and errors as in `read_text`.

    Raises:
        error: also where a line is longer than `LONGEST_LINE`.
    """
    place = 0
    with _text_file(path, expected, error) as stream:
        while content := stream.readline(LONGEST_LINE + 1):
            if len(content) > LONGEST_LINE:
                raise error(f"{path}: the line at byte {place} has no end, {expected} was expected; name another file")
            try:
                line = content.decode().removeprefix("" if place else "\ufeff")
            except UnicodeDecodeError as fault:
                raise error(f"{path}: byte {place + fault.start} is not UTF-8; save the file as UTF-8") from None
            place += len(content)
            yield from io.StringIO(line, newline="") if "\r" in line else [line]


@contextlib.contextmanager
def _text_file(path: Path, expected: str, error: type[ValuesAssetsError]) -> Iterator[IO[bytes]]:
    try:
        with open(path, "rb") as stream:
            kind, unpacked = kind_of(stream.peek(1024)[:1024]), None
            if kind in PACKED and (content := _unpacked(path, error)) is not None:
                kind, unpacked = kind_of(content[:1024]), io.BytesIO(content)
            if kind is not None and kind != "JSON":
                what_to_do = "save the file as UTF-8" if "UTF-16" in kind else "name another file"
                raise error(f"{path}: is {kind}, {expected} was expected; {what_to_do}")
            yield stream if unpacked is None else unpacked
    except FileNotFoundError:
        raise error(no_such_file(path)) from None
    except IsADirectoryError:
        raise error(f"{path}: is a folder, {expected} was expected; name the file") from None
    except OSError as fault:
        raise error(f"{path}: cannot be read: {_reason(fault)}; check who may read it") from None


def _unpacked(path: Path, error: type[ValuesAssetsError]) -> bytes | None:
    try:
        file = packed_file(path)
    except ValueError as why:
        raise error(f"{path}: {why}") from None
    return file and file[1]


def sha256_file(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sha256_json(value: Any) -> str:
    """Hexadecimal SHA-256 of a JSON value, independent of the order of keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
