"""Reads tables of text (CSV) that users write: rows by column, and clear errors for faulty files."""

import contextlib
import csv
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from valuesassets.records.errors import InputError
from valuesassets.records.files import read_lines


class Row(NamedTuple):
    """A row of a file: its number (the header is row 1), its last line, and its fields by column."""

    number: int
    line: int
    fields: dict[str, str]


def too_many_rows(path: Path, most_rows: int) -> str:
    """The error message for a table with more rows than a questionnaire has."""
    return f"{path}: more than {most_rows:,} rows, no questionnaire has so many; is it a file of answers?"


def _kept(lines: Iterable[str], consumed: list[str]) -> Iterator[str]:
    """The lines one by one; those that were taken are in `consumed`."""
    for line in lines:
        consumed.append(line)
        yield line


def line_of_stray_quote(lines: Iterable[str], delimiter: str, is_row: Callable[[str], bool]) -> int | None:
    r"""Number, from 1, of the first line whose quotation mark closes inside a field, rows later, or never; or None.

    A field in quotation marks may span lines, if marks in it are doubled and its lines do not look like rows.

    Args:
        lines: the lines of the file, with their ends.
        is_row: whether a line looks like a whole row.

    >>> line_of_stray_quote(['a,b\n', '1,"x\n', '2,y\n'], ",", lambda line: "," in line)
    2
    >>> line_of_stray_quote(['a,b\n', '1,"x\n', 'y"\n'], ",", lambda line: "," in line) is None
    True
    """
    row: list[str] = []
    reader, first = csv.reader(_kept(lines, row), delimiter=delimiter, strict=True), 1
    try:
        for _ in reader:
            if len(row) > 1 and sum(map(is_row, row)) > 1:
                return first
            row.clear()
            first = reader.line_num + 1
    except csv.Error:
        return first
    return None


def _first_rows(lines: Iterable[str], delimiter: str, most_rows: int) -> list[str]:
    """The lines of the first rows, one row more than the limit."""
    consumed: list[str] = []
    reader = csv.reader(_kept(lines, consumed), delimiter=delimiter)
    rows = (row for row in reader if any(field.strip() for field in row))
    with contextlib.suppress(csv.Error):  # an unclosed field, which `line_of_stray_quote` reports later
        next(itertools.islice(rows, most_rows, None), None)
    return consumed


def read_rows(
    path: Path,
    columns: Sequence[str],
    error: type[InputError] = InputError,
    *,
    delimiters: str = ",",
    is_row: Callable[[str], bool] | None = None,
    by_line: bool = False,
    most_rows: int | None = None,
) -> list[Row]:
    """The rows of a CSV file, which has to have these columns in any order; blank rows are left out.

    Args:
        delimiters: possible separators; the most frequent one in the header is used.
        is_row: whether a line looks like a whole row, for fields that span lines; by default its separators decide.
        by_line: whether messages name lines instead of rows; the caller then reports a file without rows.
        most_rows: most rows that the file may have; no more of it is read.

    Raises:
        error: the file is no such table, has other separators, lacks or repeats a column, has a row of another length,
            an unclosed quotation mark, no row, or more than `most_rows`; names file and row.
    """
    expected = f"a table (CSV) with columns {', '.join(columns)}"
    lines = read_lines(path, expected, error)
    header, place = next(lines, ""), f"{path}: {'line' if by_line else 'row'}"
    if not header:
        raise error(f"{path}: holds nothing but a byte order mark, {expected} was expected; name another file")
    delimiter = max(delimiters, key=header.count)
    lines = [header, *(lines if most_rows is None else _first_rows(lines, delimiter, most_rows))]
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if delimiter not in header and separator in header and not by_line:
            raise error(f"{place} 1: found {name} between fields, commas were expected; save it with these")
    has_all: Callable[[str], bool] = lambda line: line.count(delimiter) >= header.count(delimiter) > 0  # noqa: E731
    if "\0" in header:
        raise error(f"{place} 1: holds NULs, {expected} was expected; save the file as UTF-8")
    if (stray := line_of_stray_quote(lines, delimiter, is_row or has_all)) is not None:
        if '"' not in lines[stray - 1]:
            raise error(f"{place} {stray}: a field has more than {csv.field_size_limit():,} characters; mend the row")
        raise error(
            f"{place} {stray}: a quotation mark takes in what follows it; close it in its field, double it or leave "
            "it out"
        )
    reader = csv.reader(lines, delimiter=delimiter)
    names = [name.strip().lower() for name in next(reader)]
    if missing := [name for name in columns if name not in names]:
        header_text = " ".join(", ".join(names).split())[:80]
        if by_line:
            raise error(f"{place} 1: {header_text or 'nothing'} found, a header {','.join(columns)} was expected")
        raise error(f"{place} 1: no column {missing[0]} (found {header_text}); {expected} was expected; add it")
    if repeated := [name for name, count in Counter(names).items() if name and count > 1]:
        raise error(f"{place} 1: column {repeated[0]} stands twice; leave one of them")
    rows = []
    for number, fields in enumerate(reader, 2):
        if not any(field.strip() for field in fields):
            continue
        if (n := len(fields)) != len(names):
            if by_line:
                raise error(f"{place} {reader.line_num}: {n} fields found, {len(names)} were expected")
            raise error(f"{place} {number}: {n} fields, {len(names)} were expected as in the header; mend the row")
        row = {name: field.strip() for name, field in zip(names, fields, strict=True)}
        rows.append(Row(number, reader.line_num, row))
        if most_rows is not None and len(rows) > most_rows:
            raise error(too_many_rows(path, most_rows))
    if not rows and not by_line:
        raise error(f"{path}: holds no row below its header; {expected} was expected; name another file")
    return rows
