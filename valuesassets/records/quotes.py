"""Finds stray quotation marks in CSV files, which would pull the rows after them into one field."""

import csv
from collections.abc import Callable, Iterable


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

    def record_lines() -> Iterable[str]:
        for line in lines:
            row.append(line)
            yield line

    reader, first = csv.reader(record_lines(), delimiter=delimiter, strict=True), 1
    try:
        for _ in reader:
            if len(row) > 1 and sum(map(is_row, row)) > 1:
                return first
            row.clear()
            first = reader.line_num + 1
    except csv.Error:
        return first
    return None
