"""Tables as CSV files, for people to open: checked against their record when written, and read back in its types.

A spreadsheet computes a text that begins like a formula, whoever wrote it. Such a text has an apostrophe in front in
every CSV file that is written here, and none where the file is read back.
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
"""How a text begins that a spreadsheet may compute; apostrophes before it count, so that one more can be taken off."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def guarded(text: str) -> str:
    """A text that no spreadsheet computes: with an apostrophe in front where one would; numbers stay.

    >>> guarded("=1+1"), guarded("-0.5"), guarded("a = b")
    ("'=1+1", '-0.5', 'a = b')
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def unguarded(shown: str) -> str:
    """What `guarded` was given.

    >>> unguarded("'=1+1"), unguarded("'tis")
    ('=1+1', "'tis")
    """
    return shown[1:] if shown.startswith("'") and FORMULA.match(shown) else shown


def with_texts(table: pa.Table, change: Callable[[str], str]) -> pa.Table:
    """A table with all its texts changed."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            changed = [None if text is None else change(text) for text in table.column(place).to_pylist()]
            table = table.set_column(place, field, pa.array(changed, field.type))
    return table


def csv_text(frame: "pd.DataFrame") -> str:
    """A frame without a record as CSV, its index left out."""
    texts = [name for name, kind in frame.dtypes.items() if kind.kind == "O"]
    shown = {name: [guarded(each) if isinstance(each, str) else each for each in frame[name]] for name in texts}
    # What a field may not have without quotes goes by the ends of lines: a carriage return would else begin a row.
    ends = "\r\n" if any(isinstance(each, str) and "\r" in each for name in texts for each in shown[name]) else "\n"
    return frame.astype(dict.fromkeys(texts, object)).assign(**shown).to_csv(index=False, lineterminator=ends)


def write_csv(path: Path, frame: "pd.DataFrame", table: Table) -> None:
    """Write a frame as CSV with all columns of a table; what is missing is empty.

    Raises:
        StorageError: a column or a row does not fit the table, or the file cannot be written.
    """
    from valuesassets.records.frames import records

    listed = records(frame.astype(object).where(frame.notna(), None))
    try:
        found = pa.Table.from_pylist(listed, schema=table.schema)
    except REFUSED:
        raise StorageError(f"{path}: table {table.name}, {table.misfit(listed)}") from None
    written = io.BytesIO()
    csv.write_csv(with_texts(table.checked(found, path), guarded), written, csv.WriteOptions(quoting_style="needed"))
    write_text(path, written.getvalue().decode())


def read_csv(path: Path, table: Table) -> "pd.DataFrame":
    """The rows of a CSV file in the columns and types of a table.

    Raises:
        StorageError: absent, or it does not hold the table.
    """
    if not path.exists():
        raise StorageError(no_such_file(path))
    types = {field.name: field.type for field in table.schema}
    options = csv.ConvertOptions(column_types=types, strings_can_be_null=True, include_columns=[*types])
    try:
        parsed = csv.ParseOptions(newlines_in_values=True)
        found = csv.read_csv(path, parse_options=parsed, convert_options=options)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        said = str(error).splitlines()[0]
        raise StorageError(f"{path}: holds no table {table.name} ({said}); write it again") from None
    return with_texts(found, unguarded).to_pandas()
