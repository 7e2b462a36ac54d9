"""`Table`: one record per table. Its schema, the check on write, and the texts of UI and docs follow from it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from valuesassets.records.columns import Column, column_named
from valuesassets.records.errors import StorageError

if TYPE_CHECKING:
    import pandas as pd

SLACK = 1e-6
"""How far rounding may carry a number out of its range."""
NAMED_COLUMNS = 4
"""Most columns that name a row in a message."""


class Table:
    """A table: its name, what a row is, its columns.

    Args:
        name: `<asset>`, or `<asset>/<table>` where an asset has several; of an instrument's own asset
            `<instrument>/<asset>/<table>`.
        row: what one row is.
        columns: columns, or names from the vocabulary separated by blanks. `?` behind a name allows missing values,
            `!` forbids them, whatever the vocabulary says; `~` adds the columns of its interval.
        vocabulary: an instrument's own columns, which come before those of the shared vocabulary.
        added_later: columns that files of earlier versions lack; they read as empty.
        where_used: columns that only files with such values have.
        is_exact: whether it is written in exactly these types, without those of pandas, because other programs read it.
    """

    def __init__(
        self,
        name: str,
        row: str,
        *columns: str | Column,
        added_later: Sequence[str] = (),
        where_used: Sequence[str] = (),
        is_exact: bool = False,
        vocabulary: Sequence[Column] = (),
    ) -> None:
        self.name, self.row, self.is_exact = name, row, is_exact
        self.added_later, self.where_used = frozenset(added_later), frozenset(where_used)
        self.columns = tuple(column for entry in columns for column in _columns_of(entry, vocabulary))

    @cached_property
    def names(self) -> list[str]:
        """Names of its columns, except those that only a pattern describes."""
        return [column.name for column in self.columns if not column.pattern]

    @cached_property
    def schema(self) -> pa.Schema:
        """Its parquet schema."""
        return pa.schema([pa.field(c.name, c.type, c.may_be_empty) for c in self.columns if not c.pattern])

    def schema_with(self, used: Iterable[str]) -> pa.Schema:
        """Its parquet schema for a file that has values of these columns."""
        absent = self.where_used - set(used)
        return pa.schema([field for field in self.schema if field.name not in absent])

    def empty_frame(self) -> "pd.DataFrame":
        """A frame without rows."""
        return self.schema_with(()).empty_table().to_pandas()

    def frame(self, rows: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
        """Rows as a frame with all columns of the table; keys that a row lacks become missing values."""
        import pandas as pd

        return pd.DataFrame(rows, columns=pd.Index(self.schema_with({name for row in rows for name in row}).names))

    def column(self, name: str) -> Column | None:
        """Its column of that name; None where it has none."""
        exact = (column for column in self.columns if column.name == name and not column.pattern)
        like = (column for column in self.columns if column.pattern and re.fullmatch(column.pattern, name))
        return next(exact, None) or next(like, None)

    def checked(self, rows: pa.Table, where: object) -> pa.Table:
        """Rows that fit the table, with absent columns added as empty ones where values may be missing.

        Args:
            where: the file; messages begin with it.

        Raises:
            StorageError: rows do not fit; names table, column and row, what was found and what was expected.
        """
        where = f"{where}: table {self.name}"
        for name in rows.column_names:
            if self.column(name) is None:
                raise StorageError(f"{where}: column {name} found, {', '.join(self.names)} were expected")
        missing = [
            column
            for column in self.columns
            if not column.pattern and column.name not in self.where_used and column.name not in rows.column_names
        ]
        for column in missing:
            if rows.num_rows and not column.may_be_empty:
                raise StorageError(f"{where}: column {column.name} is missing")
            rows = rows.append_column(column.name, pa.nulls(rows.num_rows, column.type))
        if missing or not rows.num_rows:
            names = self.schema_with(rows.column_names).names
            rows = rows.select([*names, *(name for name in rows.column_names if name not in names)])
        if not rows.num_rows:
            fields = [self.schema.field(f.name) if f.name in self.names else f for f in rows.schema]
            return pa.schema(fields, rows.schema.metadata).empty_table()  # some types cannot be cast, even without rows
        for name in rows.column_names:
            self._check(rows, name, where)
        return rows

    def misfit(self, rows: Sequence[Mapping[str, Any]]) -> str:
        """The column, row and value because of which pyarrow refused the rows, in words."""
        for column in self.columns:
            for place, row in enumerate(rows):
                for name in (name for name in row if self.column(name) is column):
                    try:
                        pa.array([row[name]], column.type)
                    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
                        return f"column {name}, row {place + 1}: {row[name]!r} found, a {column.kind} was expected"
        return "rows do not fit the schema"

    def _check(self, rows: pa.Table, name: str, where: str) -> None:
        column, values = self.column(name), rows.column(name)
        assert column is not None  # noqa: S101
        if values.null_count and not column.may_be_empty:
            row = _row(rows, values.is_null())
            raise StorageError(f"{where}, column {name}, {row}: empty, {_wanted(column)}")
        if values.null_count == len(values):
            return
        if not _fits(column, values.type):
            raise StorageError(f"{where}, column {name}: values are {values.type}, {_wanted(column)}")
        if not column.bounds:
            return
        is_list, content = pa.types.is_list(values.type), values.combine_chunks()
        while pa.types.is_list(content.type):
            content = content.flatten()
        numbers = content.cast(pa.float64()).to_numpy(zero_copy_only=False)
        is_off = (numbers < column.range[0] - SLACK) | (numbers > column.range[1] + SLACK)
        if is_off.any():
            row = "a list" if is_list else _row(rows, is_off)
            raise StorageError(f"{where}, column {name}, {row}: {numbers[is_off][0]:g} found, {_wanted(column)}")


def _columns_of(entry: str | Column, vocabulary: Sequence[Column]) -> Iterator[Column]:
    """The columns of one entry: a column, or several names with their marks."""
    if isinstance(entry, Column):
        yield entry
        return
    own = {column.name: column for column in vocabulary}
    for word in entry.split():
        name = word.rstrip("?!~")
        column = own.get(name) or column_named(name)
        yield replace(column, may_be_empty=word.endswith("?")) if word[-1] in "?!" else column
        if word.endswith("~"):
            yield from (column_named(f"{name}_low"), column_named(f"{name}_high"))


def _fits(column: Column, kind: pa.DataType) -> bool:
    """Whether a column may hold values of this type; pandas has no whole numbers that may be missing."""
    if pa.types.is_integer(column.type):
        return pa.types.is_integer(kind) or (column.may_be_empty and pa.types.is_floating(kind))
    if pa.types.is_list(column.type):
        return pa.types.is_list(kind)
    return column.type == kind or (column.is_number and (pa.types.is_integer(kind) or pa.types.is_floating(kind)))


def _wanted(column: Column) -> str:
    return f"a {column.kind}{f' ({column.bounds})' if column.bounds else ''} was expected"


def _row(rows: pa.Table, is_match: Any) -> str:
    """The number of the first row that a mask marks, with the texts in it that identify the row."""
    place = int(np.argmax(np.asarray(is_match)))
    names = [field.name for field in rows.schema if pa.types.is_string(field.type)][:NAMED_COLUMNS]
    texts = [str(value) for name in names if (value := rows.column(name)[place].as_py()) is not None]
    return f"row {place + 1} ({', '.join(texts)})"
