"""Which tables of a study are stored: their records, and their files by partition."""

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from valuesassets.records.csv_tables import read_csv
from valuesassets.records.errors import StorageError
from valuesassets.records.parquet import read_rows
from valuesassets.records.table import Table
from valuesassets.records.tables import table_of_asset

PERSON = "respondent_id"
"""The column that only tables with a row for each person have."""


@dataclass(frozen=True)
class StoredTable:
    """A table in the storage: its record, and its files by partition; the key is `""` if it has no partitions."""

    table: Table
    files: dict[str, Path] = field(default_factory=dict)

    @property
    def has_persons(self) -> bool:
        """Whether it has a row for each person."""
        return PERSON in self.table.names


def stored_tables(folder: Path, instrument: str, names: Collection[str] | None = None) -> dict[str, StoredTable]:
    """The stored tables of an instrument, by `<asset>` or `<asset>/<table>`, in the order of names.

    Args:
        folder: the study's folder below the storage. The instrument's own tables have to be declared by now.
        names: names of parts, families and languages; files under other names are passed over. All files if left out.
    """
    stored: dict[str, StoredTable] = {}
    for path in sorted((folder / instrument).glob("*/**/*")):
        if path.suffix not in (".parquet", ".csv") or path.name.startswith("."):
            continue
        asset, *between = path.relative_to(folder / instrument).with_suffix("").parts
        single_table, one_of_several = (None, between), (between[-1], between[:-1])
        for noun, partition in (single_table, one_of_several) if between == [asset] else (one_of_several, single_table):
            try:
                table = table_of_asset(instrument, asset, noun)
            except StorageError:
                continue
            if path.suffix == ".csv" and not _has_columns(path, table):
                break
            name = f"{asset}/{noun}" if noun else asset
            whole = "/".join(partition) if partition != [asset] else ""
            if names is None or {*whole.split("/")} - {""} <= {*names}:
                stored.setdefault(name, StoredTable(table)).files[whole] = path
            break
    return dict(sorted(stored.items()))


def checked_frame(path: Path, table: Table) -> pd.DataFrame:
    """A stored file of a table as a frame; StorageError where a value has another type than the table, or is out of
    its range."""
    if path.suffix == ".csv":
        return read_csv(path, table)
    return table.checked(read_rows(path, table), path).to_pandas()


def _has_columns(path: Path, table: Table) -> bool:
    """Whether the first line of a CSV file names the columns of a table; files for other programs do not."""
    with path.open(encoding="utf-8") as stream:
        return {*table.names} <= {name.strip('"') for name in stream.readline().rstrip("\n").split(",")}
