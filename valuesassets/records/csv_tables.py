"""Tables as CSV files: checked against their record when written, and read back with its types.

Spreadsheets compute any text that begins like a formula. Every CSV file that is written here therefore has an
apostrophe before such a text; reading removes it.
"""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import csv

from valuesassets.records.errors import StorageError
from valuesassets.records.files import no_such_file, write_text
from valuesassets.records.parquet import REFUSED
from valuesassets.records.table import Table

if TYPE_CHECKING:
    import pandas as pd


FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
"""The beginning of a text that a spreadsheet may compute; apostrophes before it count, so that one can be removed."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def guarded(text: str) -> str:
    """A text with an apostrophe before it where a spreadsheet would compute it; numbers stay as they are.

    >>> guarded("=1+1"), guarded("-0.5"), guarded("a = b")
    ("'=1+1", '-0.5', 'a = b')
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def unguarded(text: str) -> str:
    """The text that `guarded` was given.

    >>> unguarded("'=1+1"), unguarded("'tis")
    ('=1+1', "'tis")
    """
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def with_texts(table: pa.Table, change: Callable[[str], str]) -> pa.Table:
    """A table with a function applied to all its texts."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            changed = [None if text is None else change(text) for text in table.column(place).to_pylist()]
            table = table.set_column(place, field, pa.array(changed, field.type))
    return table


def csv_text(frame: "pd.DataFrame") -> str:
    """A frame without a record as CSV, its index left out."""
    texts = [name for name, kind in frame.dtypes.items() if kind.kind == "O"]
    columns = {name: [guarded(text) if isinstance(text, str) else text for text in frame[name]] for name in texts}
    # Fields are quoted where they hold the line end: with \n alone, a carriage return in a field would begin a row.
    ends = "\r\n" if any(isinstance(text, str) and "\r" in text for name in texts for text in columns[name]) else "\n"
    return frame.astype(dict.fromkeys(texts, object)).assign(**columns).to_csv(index=False, lineterminator=ends)


def write_csv(path: Path, frame: "pd.DataFrame", table: Table) -> None:
    """Write a frame as CSV with all columns of a table; what is missing is empty.

    Raises:
        StorageError: a column or a row does not fit the table, or the file cannot be written.
    """
    from valuesassets.records.frames import records

    rows = records(frame.astype(object).where(frame.notna(), None))
    try:
        content = pa.Table.from_pylist(rows, schema=table.schema_with(map(str, frame.columns)))
    except REFUSED:
        raise StorageError(f"{path}: table {table.name}, {table.misfit(rows)}") from None
    stream = io.BytesIO()
    csv.write_csv(with_texts(table.checked(content, path), guarded), stream, csv.WriteOptions(quoting_style="needed"))
    write_text(path, stream.getvalue().decode())


def read_csv(path: Path, table: Table) -> "pd.DataFrame":
    """The rows of a CSV file in the columns and types of a table.

    Raises:
        StorageError: the file is absent or does not hold the table.
    """
    if not path.exists():
        raise StorageError(no_such_file(path))
    types = {field.name: field.type for field in table.schema_with(())}
    options = csv.ConvertOptions(column_types=types, strings_can_be_null=True, include_columns=[*types])
    try:
        parsing = csv.ParseOptions(newlines_in_values=True)
        content = csv.read_csv(path, parse_options=parsing, convert_options=options)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        message = str(error).splitlines()[0]
        raise StorageError(f"{path}: holds no table {table.name} ({message}); write it again") from None
    return with_texts(content, unguarded).to_pandas()
