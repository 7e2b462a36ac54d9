"""Tables of text (CSV) that people give: their rows by column, with what is said of a file that is none."""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from valuesassets.records.errors import InputError
from valuesassets.records.files import read_text
from valuesassets.records.quotes import line_of_stray_quote


class Row(NamedTuple):
    """A row of a file: its number, the header being row 1, and its fields by column."""

    number: int
    fields: dict[str, str]


def read_rows(path: Path, columns: Sequence[str], is_row: Callable[[str], bool] | None = None) -> list[Row]:
    """The rows of a CSV file whose columns are these and perhaps more, in any order; blank ones are left out.

    Args:
        is_row: whether a line has the look of a whole row, for fields of many lines; else by its number of commas.

    Raises:
        InputError: no such table, other separators, a column missing or twice, a row of another length, a quotation
            mark that nothing closes, no row; names file and row.
    """
    expected = f"a table (CSV) with columns {', '.join(columns)}"
    text = read_text(path, expected, InputError)
    lines = io.StringIO(text, newline="").readlines()
    header = lines[0]
    for separator, name in ((";", "semicolons"), ("\t", "tabs")):
        if "," not in header and separator in header:
            raise InputError(f"{path}: row 1: found {name} between fields, commas were expected; save it with these")
    has_commas: Callable[[str], bool] = lambda line: line.count(",") >= header.count(",") > 0  # noqa: E731
    stray = line_of_stray_quote(lines, ",", is_row or has_commas)
    if stray is not None:
        raise InputError(
            f"{path}: row {stray}: a quotation mark takes in what follows it; close it in its field, double it or "
            "leave it out"
        )
    names, *rest = csv.reader(lines)
    names = [name.strip().lower() for name in names]
    if missing := [name for name in columns if name not in names]:
        shown = ", ".join(names)[:80]
        raise InputError(f"{path}: row 1: no column {missing[0]} (found {shown}); {expected} was expected; add it")
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise InputError(f"{path}: row 1: column {twice[0]} stands twice; leave one of them")
    found = []
    for number, fields in enumerate(rest, 2):
        if not any(field.strip() for field in fields):
            continue
        if len(fields) != len(names):
            raise InputError(
                f"{path}: row {number}: {len(fields)} fields, {len(names)} were expected as in the header; mend the row"
            )
        found.append(Row(number, {name: field.strip() for name, field in zip(names, fields, strict=True)}))
    if not found:
        raise InputError(f"{path}: holds no row below its header; {expected} was expected; name another file")
    return found
