"""Tables as CSV files, for people to open: checked against their record when written, and read back in its types."""

import io
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
    csv.write_csv(table.checked(found, path), written, csv.WriteOptions(quoting_style="needed"))
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
        return csv.read_csv(path, parse_options=parsed, convert_options=options).to_pandas()
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        said = str(error).splitlines()[0]
        raise StorageError(f"{path}: holds no table {table.name} ({said}); write it again") from None
