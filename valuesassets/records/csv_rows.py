"""Rows of CSV files that people write, each with its line, so that a message can name it."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from valuesassets.records.errors import InputError
from valuesassets.records.files import read_text


def csv_rows(
    path: Path, needed: tuple[str, ...], error: type[InputError], delimiters: str = ","
) -> Iterable[tuple[int, dict[str, str]]]:
    """The rows below a CSV file's header, each with its line; blank ones left out.

    Args:
        needed: columns that must be there; others may be.
        delimiters: what may separate fields; the one that the header has most of does.

    Raises:
        error: no readable file, a column lacks, or a row has more or fewer fields than the header; names the line.
    """
    text = read_text(path, "a CSV file", error)
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(delimiters, key=first.count))
    header = [name.strip() for name in next(reader, [])]
    if not set(needed) <= set(header):
        raise error(f"{path}: line 1: {', '.join(header) or 'nothing'} found, a header {','.join(needed)} was expected")
    for fields in reader:
        if any(field.strip() for field in fields):
            if len(fields) != len(header):
                raise error(f"{path}: line {reader.line_num}: {len(fields)} fields found, {len(header)} were expected")
            yield reader.line_num, dict(zip(header, map(str.strip, fields), strict=True))
