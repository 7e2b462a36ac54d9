"""IO managers that store assets as files, written whole or not at all, with their schema checked."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from valuesassets.desk.staleness import WRITTEN, files_below, hashes_of, latest_hashes, require_written
from valuesassets.orchestration.instruments import declare_own_tables
from valuesassets.orchestration.partitions import family_and_part, why_no_cell
from valuesassets.orchestration.resources import Storage, partition_path
from valuesassets.records.csv_tables import read_csv, write_csv
from valuesassets.records.errors import StorageError
from valuesassets.records.files import write_text
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
from valuesassets.records.seals import read_record, write_record
from valuesassets.records.table import Table
from valuesassets.records.tables import QUESTIONS, TRIALS, table_of_asset

PREVIEW_ROWS = 12
"""Most rows of a table in the UI, which would render all of them."""

DICT_OF_PARTITIONS: Mapping[str, bool] = {"allow_missing_partitions": True}
"""Metadata of an input that takes a dict of its existing partitions; `tables` restricts it to these tables."""


@dataclass(frozen=True)
class Format:
    """How a kind of value is written to a file, read, and shown in the UI.

    Attributes:
        write: takes the file, the value, the asset's key, and the folder for further tables of the asset.
    """

    extension: str
    write: Callable[[Path, Any, dg.AssetKey, Path], None]
    read: Callable[[Path, dg.AssetKey], Any]
    describe: Callable[[Any, dg.AssetKey], dict[str, Any]] = lambda value, key: {}


def declared_table(key: dg.AssetKey, name: str | None = None) -> Table:
    """The record of an asset's table, or of the one with this name; StorageError where there is none."""
    declare_own_tables()
    return table_of_asset(key.path[0], key.path[-1], name)


def _write_frames(path: Path, frames: Mapping[str, pd.DataFrame], key: dg.AssetKey, folder: Path) -> None:
    """Write several tables; the index is written last, so that it exists only if all tables do."""
    if path.is_file():
        path.unlink()
    for file in folder.glob("*.parquet"):  # tables of an earlier derivation, such as `refused`
        if file.stem not in frames and file.is_file():
            file.unlink()
    for name, frame in frames.items():
        write_frame(folder / f"{name}.parquet", frame, declared_table(key, name))
    place = {} if folder == path.parent else {"folder": folder.name}
    write_record(path, {"tables": list(frames)} | place)


def _read_frames(path: Path, key: dg.AssetKey, only: Collection[str] = ()) -> dict[str, pd.DataFrame]:
    return {name: read_frame(file, declared_table(key, name)) for name, file in _places_of_frames(path, only).items()}


def _places_of_frames(path: Path, only: Collection[str]) -> dict[str, Path]:
    index = read_record(path)
    folder = path.parent / index.get("folder", "")
    return {name: folder / f"{name}.parquet" for name in index["tables"] if not only or name in only}


def _frames_metadata(frames: Mapping[str, pd.DataFrame], key: dg.AssetKey) -> dict[str, Any]:
    """The first table, and a list of all tables."""
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
    "json": Format("json", lambda path, value, *_: write_record(path, value), lambda path, _: read_record(path)),
}


def _own_files(path: Path, partitions: Collection[str]) -> Iterator[Path]:
    """An asset's file and further ones, such as pictures; for a partition those with its name."""
    if not partitions:
        yield from files_below(path.parent)
        return
    yield from files_below(path.parent / path.stem)
    others = {partition_path(name).rpartition("/")[2] for name in partitions} - {path.stem}
    other_prefixes = tuple(f"{name}." for name in others if name.startswith(f"{path.stem}."))
    for file in path.parent.iterdir():
        if file.name.startswith(f"{path.stem}.") and not file.name.startswith(other_prefixes) and file.is_file():
            yield file


class StudyIOManager(dg.IOManager):
    """Stores one kind of value in the study's storage folder."""

    def __init__(self, storage: Storage, kind: str) -> None:
        self._storage = storage
        self._format = FORMATS[kind]

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Write the value, and show its path, size and first rows in the UI."""
        partition = context.partition_key if context.has_asset_partitions else None
        if partition is not None and why_no_cell(context.asset_partitions_def, partition):
            return
        path = self._path(context.asset_key, partition)
        # Tables of different partitions have the same names: if there are several, each partition has a folder.
        has_folder = partition is not None and len(context.asset_partitions_def.get_partition_keys()) > 1
        folder = path.with_suffix("") if has_folder else path.parent
        self._format.write(path, obj, context.asset_key, folder)
        metadata = self._format.describe(obj, context.asset_key)
        partitions = context.asset_partitions_def.get_partition_keys() if partition is not None else []
        paths = (entry.value for entry in context.output_metadata.values() if isinstance(entry, dg.PathMetadataValue))
        folders = [entry for entry in map(Path, filter(None, paths)) if entry.is_dir()]
        files = {*_own_files(path, partitions), *(file for entry in folders for file in files_below(entry))}
        entries = {"path": dg.MetadataValue.path(str(path)), WRITTEN: hashes_of(sorted(files), path.parent)}
        context.add_output_metadata(entries | metadata)

    def load_input(self, context: dg.InputContext) -> Any:
        """The value, or for an input with many partitions a dict of those that exist.

        The keys are parts or families, and (family, part) for cells; missing partitions are logged.
        """
        settings = context.definition_metadata or {}
        only = settings.get("tables", ())
        keys: list[str | None] = [None]
        if context.has_asset_partitions:  # in the order of the study; Dagster's order is random
            requested = {*context.asset_partition_keys}
            keys = [key for key in context.asset_partitions_def.get_partition_keys() if key in requested] or [
                *requested
            ]
        hashes = latest_hashes(context.asset_key, keys, context.instance, self._storage.folder)
        if keys == [None] or not settings.get("allow_missing_partitions"):
            (key,) = keys
            if key is not None and why_no_cell(context.asset_partitions_def, key):
                return None
            return self._read(context.asset_key, key, hashes, only)
        present = [key for key in keys if self._path(context.asset_key, key).exists()]
        if missing := [str(key) for key in keys if key not in present]:
            name = context.asset_key.to_user_string()
            context.log.warning(f"{name}: {len(missing)} of {len(keys)} partitions are missing: {', '.join(missing)}")
        return {
            family_and_part(key) if isinstance(key, dg.MultiPartitionKey) else key: self._read(
                context.asset_key, key, hashes, only
            )
            for key in present
        }

    def _path(self, key: dg.AssetKey, partition: str | None) -> Path:
        return self._storage.path(key, partition, self._format.extension)

    def _read(
        self, key: dg.AssetKey, partition: str | None, hashes: Mapping[Path, str], only: Collection[str] = ()
    ) -> Any:
        """Read a value.

        Args:
            hashes: the recorded hashes of its files.
            only: the tables to read, for an asset with several; empty for all.

        Raises:
            StorageError: it was not made yet, or a file has changed since it was written.
        """
        path = self._path(key, partition)
        if not path.exists():
            name = key.to_user_string() if partition is None else f"{key.to_user_string()} {partition_path(partition)}"
            raise StorageError(f"{name} is needed and was not made; materialise it first, or see why it failed")
        require_written(path, hashes)
        if self._format is not FORMATS["frames"]:
            return self._format.read(path, key)
        for file in _places_of_frames(path, only).values():
            require_written(file, hashes)
        return _read_frames(path, key, only)


def study_io_managers(storage: Storage) -> dict[str, dg.IOManager]:
    """The IO managers by `io_manager_key`, one for each kind of value."""
    return {kind: StudyIOManager(storage, kind) for kind in FORMATS}


def frame_metadata(frame: pd.DataFrame, table: Table) -> dict[str, Any]:
    """A frame's row count, columns and preview for the UI, with descriptions from the table's record."""
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
    """Rows as a table for the UI, with values as short text; keys that a row lacks are empty."""
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
    """Rows as a frame, with nested values as text."""
    return pd.DataFrame(rows).map(lambda value: str(value) if isinstance(value, list | dict) else value)
