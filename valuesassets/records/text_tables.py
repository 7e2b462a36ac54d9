"""Tables of text (CSV) that people write: their rows by column, with what is said of a file that is none."""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from valuesassets.records.errors import InputError
from valuesassets.records.files import read_text
from valuesassets.records.quotes import line_of_stray_quote


class Row(NamedTuple):
    """A row of a file: its number, the header being row 1, the line that it ends on, and its fields by column."""

    number: int
    line: int
    fields: dict[str, str]


def read_rows(
    path: Path,
    columns: Sequence[str],
    error: type[InputError] = InputError,
    *,
    delimiters: str = ",",
    is_row: Callable[[str], bool] | None = None,
    by_line: bool = False,
) -> list[Row]:
    """The rows of a CSV file whose columns are these and perhaps more, in any order; blank ones are left out.

    Args:
        delimiters: what may separate fields; the one that the header has most of does.
        is_row: whether a line has the look of a whole row, for fields of many lines; else by its number of separators.
        by_line: whether messages name lines and not rows; what a file without a row lacks is then the caller's to say.

    Raises:
        error: no such table, other separators, a column missing or twice, a row of another length, a quotation mark
            that nothing closes, no row; names file and row.
    """
    expected = f"a table (CSV) with columns {', '.join(columns)}"
    lines = io.StringIO(read_text(path, expected, error), newline="").readlines()
    header, place = lines[0], f"{path}: {'line' if by_line else 'row'}"
    delimiter = max(delimiters, key=header.count)
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if delimiter not in header and separator in header and not by_line:
            raise error(f"{place} 1: found {name} between fields, commas were expected; save it with these")
    has_all: Callable[[str], bool] = lambda line: line.count(delimiter) >= header.count(delimiter) > 0  # noqa: E731
    if (stray := line_of_stray_quote(lines, delimiter, is_row or has_all)) is not None:
        raise error(
            f"{place} {stray}: a quotation mark takes in what follows it; close it in its field, double it or leave "
            "it out"
        )
    reader = csv.reader(lines, delimiter=delimiter)
    names = [name.strip().lower() for name in next(reader)]
    if missing := [name for name in columns if name not in names]:
        shown = ", ".join(names)[:80]
        if by_line:
            raise error(f"{place} 1: {shown or 'nothing'} found, a header {','.join(columns)} was expected")
        raise error(f"{place} 1: no column {missing[0]} (found {shown}); {expected} was expected; add it")
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise error(f"{place} 1: column {twice[0]} stands twice; leave one of them")
    found = []
    for number, fields in enumerate(reader, 2):
        if not any(field.strip() for field in fields):
            continue
        if (n := len(fields)) != len(names):
            if by_line:
                raise error(f"{place} {reader.line_num}: {n} fields found, {len(names)} were expected")
            raise error(f"{place} {number}: {n} fields, {len(names)} were expected as in the header; mend the row")
        row = {name: field.strip() for name, field in zip(names, fields, strict=True)}
        found.append(Row(number, reader.line_num, row))
    if not found and not by_line:
        raise error(f"{path}: holds no row below its header; {expected} was expected; name another file")
    return found
