"""`Table`: one record per table, from which follow its schema, the check on write, and what the UI and the docs say."""

import re
from collections.abc import Iterator, Mapping, Sequence
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
"""By which a number may leave its range: what rounding does."""
NAMED_COLUMNS = 4
"""Columns at most that name a row in a message."""


class Table:
    """A table: its name, what a row is, its columns.

    Args:
        name: `<asset>`, or `<asset>/<table>` where an asset has several; of an instrument's own asset
            `<instrument>/<asset>/<table>`.
        row: what one row is.
        columns: columns, or names of the vocabulary separated by blanks; a name may end in `?` (values may be missing)
            or `!` (none may), where that is not as the vocabulary has it, or in `~`: its interval stands behind it.
        added_later: columns that files of earlier versions lack; they read as empty.
        is_exact: other programs read it, so that it is written in exactly these types, without those of pandas.
    """

    def __init__(
        self, name: str, row: str, *columns: str | Column, added_later: Sequence[str] = (), is_exact: bool = False
    ) -> None:
        self.name, self.row, self.added_later, self.is_exact = name, row, frozenset(added_later), is_exact
        self.columns = tuple(column for given in columns for column in _columns_of(given))

    @cached_property
    def names(self) -> list[str]:
        """Names of its columns, but for those of which only a pattern is known."""
        return [column.name for column in self.columns if not column.pattern]

    @cached_property
    def schema(self) -> pa.Schema:
        """Its parquet schema."""
        return pa.schema([pa.field(c.name, c.type, c.may_be_empty) for c in self.columns if not c.pattern])

    def empty_frame(self) -> "pd.DataFrame":
        """A frame without rows."""
        return self.schema.empty_table().to_pandas()

    def frame(self, rows: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
        """Rows as a frame with all columns of the table; what a row lacks is missing there."""
        import pandas as pd

        return pd.DataFrame(rows, columns=pd.Index(self.names))

    def column(self, name: str) -> Column | None:
        """Its column of that name; None where it has none."""
        exact = (column for column in self.columns if column.name == name and not column.pattern)
        like = (column for column in self.columns if column.pattern and re.fullmatch(column.pattern, name))
        return next(exact, None) or next(like, None)

    def checked(self, found: pa.Table, where: object) -> pa.Table:
        """Rows as they may be written: a table without rows has all columns, and what may be empty need not be there.

        Args:
            where: begins the message; the file.

        Raises:
            StorageError: names table, column and row, what was found and what was expected.
        """
        where = f"{where}: table {self.name}"
        for name in found.column_names:
            if self.column(name) is None:
                raise StorageError(f"{where}: column {name} found, {', '.join(self.names)} were expected")
        missing = [column for column in self.columns if not column.pattern and column.name not in found.column_names]
        for column in missing:
            if found.num_rows and not column.may_be_empty:
                raise StorageError(f"{where}: column {column.name} is missing")
            found = found.append_column(column.name, pa.nulls(found.num_rows, column.type))
        if missing or not found.num_rows:
            found = found.select([*self.names, *(name for name in found.column_names if name not in self.names)])
        if not found.num_rows:
            fields = [self.schema.field(f.name) if f.name in self.names else f for f in found.schema]
            return pa.schema(fields, found.schema.metadata).empty_table()  # not all types can be cast, even of no row
        for name in found.column_names:
            self._check(found, name, where)
        return found

    def misfit(self, rows: Sequence[Mapping[str, Any]]) -> str:
        """Column, row and value that keep rows from being a table, in words; why they were refused is known."""
        for column in self.columns:
            for place, row in enumerate(rows):
                for name in (name for name in row if self.column(name) is column):
                    try:
                        pa.array([row[name]], column.type)
                    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
                        return f"column {name}, row {place + 1}: {row[name]!r} found, a {column.kind} was expected"
        return "rows do not fit the schema"

    def _check(self, found: pa.Table, name: str, where: str) -> None:
        column, values = self.column(name), found.column(name)
        assert column is not None  # noqa: S101
        if values.null_count and not column.may_be_empty:
            row = _row(found, values.is_null())
            raise StorageError(f"{where}, column {name}, {row}: empty, {_wanted(column)}")
        if values.null_count == len(values):
            return
        if not _fits(column, values.type):
            raise StorageError(f"{where}, column {name}: values are {values.type}, {_wanted(column)}")
        if not column.bounds:
            return
        is_list, held = pa.types.is_list(values.type), values.combine_chunks()
        while pa.types.is_list(held.type):
            held = held.flatten()
        numbers = held.cast(pa.float64()).to_numpy(zero_copy_only=False)
        is_off = (numbers < column.range[0] - SLACK) | (numbers > column.range[1] + SLACK)
        if is_off.any():
            row = "a list" if is_list else _row(found, is_off)
            raise StorageError(f"{where}, column {name}, {row}: {numbers[is_off][0]:g} found, {_wanted(column)}")


def _columns_of(given: str | Column) -> Iterator[Column]:
    """The columns that a table is given: one, or the names of several, with their marks."""
    if isinstance(given, Column):
        yield given
        return
    for word in given.split():
        name = word.rstrip("?!~")
        column = column_named(name)
        yield replace(column, may_be_empty=word.endswith("?")) if word[-1] in "?!" else column
        if word.endswith("~"):
            yield from (column_named(f"{name}_low"), column_named(f"{name}_high"))


def _fits(column: Column, found: pa.DataType) -> bool:
    """Whether values of this type are such as the column holds; pandas has no whole numbers that may be missing."""
    if pa.types.is_integer(column.type):
        return pa.types.is_integer(found) or (column.may_be_empty and pa.types.is_floating(found))
    if pa.types.is_list(column.type):
        return pa.types.is_list(found)
    return column.type == found or (column.is_number and (pa.types.is_integer(found) or pa.types.is_floating(found)))


def _wanted(column: Column) -> str:
    return f"a {column.kind}{f' ({column.bounds})' if column.bounds else ''} was expected"


def _row(found: pa.Table, is_it: Any) -> str:
    """The first row of which something is true, by its number and by the texts that name it."""
    place = int(np.argmax(np.asarray(is_it)))
    texts = [field.name for field in found.schema if pa.types.is_string(field.type)][:NAMED_COLUMNS]
    named = [str(value) for name in texts if (value := found.column(name)[place].as_py()) is not None]
    return f"row {place + 1} ({', '.join(named)})"
