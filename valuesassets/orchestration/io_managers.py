"""Assets as files: written under a temporary name and renamed, their schema enforced on write."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.desk.staleness import WRITTEN, hashes_of
from valuesassets.orchestration.instruments import declare_own_tables
from valuesassets.orchestration.partitions import family_and_part, why_no_cell
from valuesassets.orchestration.resources import Storage, partition_path
from valuesassets.records.csv_tables import read_csv, write_csv
from valuesassets.records.errors import StorageError
from valuesassets.records.files import read_json, write_json, write_text
from valuesassets.records.parquet import (
    read_answers,
    read_frame,
    read_readings,
    read_trials,
    trial_rows,
    write_frame,
    write_trials,
)
from valuesassets.records.questions import questions_to_rows, read_questions, write_questions
from valuesassets.records.table import Table
from valuesassets.records.tables import QUESTIONS, TRIALS, table_of_asset

PREVIEW_ROWS = 12
"""Rows of a table that the UI shows; it would render all of them."""

DICT_OF_PARTITIONS: Mapping[str, bool] = {"allow_missing_partitions": True}
"""Input metadata of an asset that takes a dict of the partitions that exist; with `tables`, these of several alone."""


@dataclass(frozen=True)
class Format:
    """How a kind of value is written to a file, read back, and shown in the UI.

    Attributes:
        write: takes the file, the value, the asset's key, and the folder for tables that stand beside the file.
    """

    extension: str
    write: Callable[[Path, Any, dg.AssetKey, Path], None]
    read: Callable[[Path, dg.AssetKey], Any]
    shown: Callable[[Any, dg.AssetKey], dict[str, Any]] = lambda value, key: {}


def declared_table(key: dg.AssetKey, name: str | None = None) -> Table:
    """The record of an asset's table, or of that one of its tables.

    Raises:
        StorageError: none is declared.
    """
    declare_own_tables()
    return table_of_asset(key.path[0], key.path[-1], name)


def _write_frames(path: Path, frames: Mapping[str, pd.DataFrame], key: dg.AssetKey, folder: Path) -> None:
    """Several tables beside each other; the index is written last, so that it stands for all of them."""
    before: Collection[str] = ()
    with suppress(StorageError):  # there is none, or it is damaged
        before = read_json(path)["tables"]
    path.unlink(missing_ok=True)
    for name in {*before} - {*frames}:  # of a derivation that gave others, such as why it was refused
        (folder / f"{name}.parquet").unlink(missing_ok=True)
    for name, frame in frames.items():
        write_frame(folder / f"{name}.parquet", frame, declared_table(key, name))
    place = {} if folder == path.parent else {"folder": folder.name}
    write_json(path, {"tables": list(frames)} | place)


def _read_frames(path: Path, key: dg.AssetKey, only: Collection[str] = ()) -> dict[str, pd.DataFrame]:
    index = read_json(path)
    folder = path.parent / index.get("folder", "")
    names = [name for name in index["tables"] if not only or name in only]
    return {name: read_frame(folder / f"{name}.parquet", declared_table(key, name)) for name in names}


def _frames_metadata(frames: Mapping[str, pd.DataFrame], key: dg.AssetKey) -> dict[str, Any]:
    """The first table, and what there is."""
    tables = {name: declared_table(key, name) for name in frames}
    rows = [
        {"table": f"{name}.parquet", "a row is": tables[name].row, "rows": len(frame), "columns": ", ".join(frame)}
        for name, frame in frames.items()
    ]
    first = next(iter(frames))
    return frame_metadata(frames[first], tables[first]) | {"tables": table_of(rows)}


FORMATS = {
    "questions": Format(
        "json",
        lambda path, value, *_: write_questions(path, value),
        lambda path, _: read_questions(path),
        lambda value, _: frame_metadata(flat_frame(questions_to_rows(value)), QUESTIONS),
    ),
    "trials": Format(
        "parquet",
        lambda path, value, *_: write_trials(path, value),
        lambda path, _: read_trials(path),
        lambda value, _: frame_metadata(flat_frame(trial_rows(value)), TRIALS),
    ),
    "readings": Format("parquet", lambda *_: None, lambda path, _: read_readings(path)),
    "answers": Format("parquet", lambda *_: None, lambda path, _: read_answers(path)),
    "csv": Format(
        "csv",
        lambda path, value, key, _: write_csv(path, value, declared_table(key)),
        lambda path, key: read_csv(path, declared_table(key)),
        lambda value, key: frame_metadata(value, declared_table(key)),
    ),
    "frame": Format(
        "parquet",
        lambda path, value, key, _: write_frame(path, value, declared_table(key)),
        lambda path, key: read_frame(path, declared_table(key)),
        lambda value, key: frame_metadata(value, declared_table(key)),
    ),
    "frames": Format("json", _write_frames, _read_frames, _frames_metadata),
    "html": Format("html", lambda path, value, *_: write_text(path, value), lambda path, _: path.read_text("utf-8")),
    "json": Format("json", lambda path, value, *_: write_json(path, value), lambda path, _: read_json(path)),
}


class StudyIOManager(dg.IOManager):
    """One kind of value below the study's storage folder."""

    def __init__(self, storage: Storage, kind: str) -> None:
        self._storage = storage
        self._format = FORMATS[kind]

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Write the value and show its path, size and first rows in the UI."""
        partition = context.partition_key if context.has_asset_partitions else None
        if partition is not None and why_no_cell(context.asset_partitions_def, partition):
            return
        path = self._path(context.asset_key, partition)
        # Tables of several partitions have the same names: each has a folder, where there are more than one.
        shares = partition is not None and len(context.asset_partitions_def.get_partition_keys()) > 1
        folder = path.with_suffix("") if shares else path.parent
        self._format.write(path, obj, context.asset_key, folder)
        shown = self._format.shown(obj, context.asset_key)
        beside = [folder / f"{name}.parquet" for name in obj] if self._format is FORMATS["frames"] else []
        told = {"path": dg.MetadataValue.path(str(path)), WRITTEN: hashes_of([path, *beside], path.parent)}
        context.add_output_metadata(told | shown)

    def load_input(self, context: dg.InputContext) -> Any:
        """The value; or, for an input that takes many partitions, a dict of those that exist.

        Keys are part or family, and (family, part) for cells; what is missing is logged.
        """
        told = context.definition_metadata or {}
        only = told.get("tables", ())
        if not context.has_asset_partitions:
            return self._read(context.asset_key, None, only)
        keys = list(context.asset_partition_keys)
        if not told.get("allow_missing_partitions"):
            (key,) = keys
            if why_no_cell(context.asset_partitions_def, key):
                return None
            return self._read(context.asset_key, key, only)
        there = [key for key in keys if self._path(context.asset_key, key).exists()]
        if missing := [str(key) for key in keys if key not in there]:
            name = context.asset_key.to_user_string()
            context.log.warning(f"{name}: {len(missing)} of {len(keys)} partitions are missing: {', '.join(missing)}")
        return {
            family_and_part(key) if isinstance(key, dg.MultiPartitionKey) else key: self._read(
                context.asset_key, key, only
            )
            for key in there
        }

    def _path(self, key: dg.AssetKey, partition: str | None) -> Path:
        return self._storage.path(key, partition, self._format.extension)

    def _read(self, key: dg.AssetKey, partition: str | None, only: Collection[str] = ()) -> Any:
        """A value; `only`: those of its tables that are taken, where it has several.

        Raises:
            StorageError: it was not made yet.
        """
        path = self._path(key, partition)
        if not path.exists():
            name = key.to_user_string() if partition is None else f"{key.to_user_string()} {partition_path(partition)}"
            raise StorageError(f"{name} is needed and was not made; materialise it first, or see why it failed")
        return _read_frames(path, key, only) if only else self._format.read(path, key)


def study_io_managers(storage: Storage) -> dict[str, dg.IOManager]:
    """One IO manager per kind of value, by `io_manager_key`."""
    return {kind: StudyIOManager(storage, kind) for kind in FORMATS}


def frame_metadata(frame: pd.DataFrame, table: Table) -> dict[str, Any]:
    """Row count, columns and a preview of a frame, as the UI shows them; what columns hold is in the table's record."""
    return {
        "dagster/row_count": len(frame),
        "dagster/column_schema": dg.TableSchema(columns=[_shown_column(str(name), table) for name in frame]),
        "preview": table_of(frame.head(PREVIEW_ROWS).to_dict("records")),
    }


def _shown_column(name: str, table: Table) -> dg.TableColumn:
    column = table.column(name)
    if column is None:
        return dg.TableColumn(name)
    limits = dg.TableColumnConstraints(column.may_be_empty, other=[column.bounds] if column.bounds else None)
    return dg.TableColumn(name, column.kind, f"{column.words}{f' ({column.unit})' if column.unit else ''}", limits)


def table_of(rows: list[dict[Any, Any]]) -> dg.TableMetadataValue:
    """Rows as a table in the UI, every value as short text; rows of several kinds leave each other's columns empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    records = [dg.TableRecord({str(name): _cell(row.get(name)) for name in names}) for row in rows]
    schema = dg.TableSchema(columns=[dg.TableColumn(str(name), "string") for name in names])
    return dg.MetadataValue.table(records=records, schema=schema)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.4g}"
    text = "" if value is None else str(value)
    return text if len(text) <= 200 else text[:199] + "…"


def flat_frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows with nested values as text."""
    return pd.DataFrame(rows).map(lambda value: str(value) if isinstance(value, list | dict) else value)
