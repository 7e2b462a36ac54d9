"""Reads and writes tables as parquet files, checked against their record, and trials and readings as their rows."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pydantic

from valuesassets.records.errors import InputError, QuestionError, StorageError
from valuesassets.records.faults import describe_faults
from valuesassets.records.files import kind_of_file, no_such_file, whole_file
from valuesassets.records.places import made_again
from valuesassets.records.readouts import Generate, Readout, ScoreLabels, ScoreSpans
from valuesassets.records.seals import SEAL, is_whole_parquet, parquet_bytes
from valuesassets.records.table import Table
from valuesassets.records.tables import ANSWERS, READINGS, TRIALS
from valuesassets.records.trials import OF_DRAWS, Answer, NoTrials, Reading, Trial, Turn, answer_of, reading_of

if TYPE_CHECKING:
    import pandas as pd

OUR_METADATA = (b"ARROW:schema", SEAL.encode())
REFUSED = (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError)


def write_table(
    path: Path, rows: Iterable[Mapping[str, Any]], table: Table, metadata: Mapping[str, object] | None = None
) -> None:
    """Write rows as parquet in exactly a table's schema, with `metadata` in the file's metadata.

    Values of `metadata` that are not text are written as JSON.

    Raises:
        StorageError: a row does not fit the table, or the file cannot be written.
    """
    texts = {
        key: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for key, value in sorted((metadata or {}).items())
    }
    row_list = [dict(row) for row in rows]
    schema = table.schema_with({name for row in row_list for name in row}).with_metadata(texts)
    try:
        content = pa.Table.from_pylist(row_list, schema=schema)
        content.validate(full=True)
    except REFUSED:
        raise StorageError(f"{path}: table {table.name}, {table.misfit(row_list)}") from None
    _write(path, content, table)


def write_frame(path: Path, frame: "pd.DataFrame", table: Table) -> None:
    """Write a frame as parquet, with its own types where they fit the table, and with `attrs["file_metadata"]`.

    Raises:
        StorageError: a column or a row does not fit the table, or the file cannot be written.
    """
    from valuesassets.records.frames import records

    if table.is_exact:
        rows = records(frame.astype(object).where(frame.notna(), None))
        write_table(path, rows, table, frame.attrs.get("file_metadata"))
        return
    try:
        content = pa.Table.from_pandas(frame, preserve_index=False)
    except REFUSED:
        raise StorageError(f"{path}: table {table.name}, {table.misfit(records(frame))}") from None
    _write(path, content, table)


def read_table(path: Path, table: Table) -> pa.Table:
    """A parquet file's rows in the columns of a table; further ones are dropped, absent `added_later` ones are empty.

    Raises:
        StorageError: the file is absent or damaged, or a column is missing or of another type.
    """
    rows = read_rows(path, table)
    schema = table.schema_with(rows.column_names)
    missing = [name for name in schema.names if name not in rows.column_names]
    if missing:
        raise StorageError(
            f"{path}: column {missing[0]} is missing; it was written by another command or version: name another file"
        )
    try:
        return rows.select(schema.names).cast(schema.with_metadata(rows.schema.metadata))
    except (pa.ArrowInvalid, ValueError) as error:
        raise StorageError(f"{path}: {error}") from None


def read_frame(path: Path, table: Table) -> "pd.DataFrame":
    """A parquet file as a frame, with all its columns; absent `added_later` ones are empty.

    Raises:
        StorageError: the file is absent or damaged.
    """
    return read_rows(path, table).to_pandas()


def stored_frame(path: Path) -> "pd.DataFrame":
    """A parquet file of the storage as a frame, whatever table it holds.

    Raises:
        StorageError: the file is absent or damaged.
    """
    return _stored(path, lambda path: _opened(path).read()).to_pandas()


def read_given(path: Path) -> pa.Table:
    """A user's parquet file, with all its columns.

    Raises:
        InputError: the file is absent, a folder, or no whole parquet file.
    """
    if not path.is_file():
        raise InputError(no_such_file(path) if not path.exists() else f"{path}: is a folder; name the parquet file")
    try:
        return _opened(path).read()
    except (OSError, pa.ArrowException):
        raise InputError(f"{path}: is {_what(path)}, a parquet file was expected; write it again") from None


def table_metadata(path: Path) -> dict[str, str]:
    """The file metadata that `write_table` was given.

    Raises:
        StorageError: the file is absent or damaged.
    """
    metadata = _stored(path, _opened).schema_arrow.metadata or {}
    return {key.decode(): value.decode() for key, value in metadata.items() if key not in OUR_METADATA}


def _write(path: Path, rows: pa.Table, table: Table) -> None:
    data = parquet_bytes(table.checked(rows, path))
    with whole_file(path) as temporary:
        temporary.write_bytes(data)


def read_rows(path: Path, table: Table) -> pa.Table:
    """A parquet file's rows, with all its columns; absent `added_later` ones are empty.

    Raises:
        StorageError: the file is absent or damaged.
    """
    rows = _stored(path, lambda path: _opened(path).read())
    metadata = {key: value for key, value in (rows.schema.metadata or {}).items() if key not in OUR_METADATA}
    rows = rows.replace_schema_metadata(metadata)
    for field in table.schema:
        if field.name in table.added_later and field.name not in rows.column_names:
            rows = rows.append_column(field, pa.nulls(len(rows), field.type))
    return rows


def _opened(path: Path) -> pq.ParquetFile:
    content = path.read_bytes()
    if not is_whole_parquet(content):
        raise pa.ArrowInvalid("another digest")
    return pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)


def _stored(path: Path, read: Callable[[Path], Any]) -> Any:
    """The result of reading a file of the storage.

    Raises:
        StorageError: it cannot be read; says why, and what to do.
    """
    try:
        return read(path)
    except FileNotFoundError:
        raise StorageError(f"{no_such_file(path)}; {made_again(path)}") from None
    except PermissionError:
        raise StorageError(f"{path}: cannot be read: Permission denied; check who may read it") from None
    except (OSError, pa.ArrowException):
        raise StorageError(f"{path}: not a readable parquet file but {_what(path)}; {made_again(path)}") from None


def _what(path: Path) -> str:
    """The kind of a file that is no whole parquet file."""
    kind = kind_of_file(path) if path.is_file() else "a folder"
    return "truncated or damaged" if kind in ("a parquet file", None) else kind


READOUTS: dict[str, type[Readout]] = {readout.__name__: readout for readout in (ScoreLabels, ScoreSpans, Generate)}


LEFT_OUT = "left_out"
"""Key in the metadata of a file without trials; its value says why no model is asked."""


class _Chat(pydantic.BaseModel):
    chat: pydantic.Json[tuple[Turn, ...]] | None


def write_trials(path: Path, trials: Sequence[Trial]) -> None:
    """Write trials, or the reason why a part has none."""
    metadata = {LEFT_OUT: trials.reason} if isinstance(trials, NoTrials) else None
    write_table(path, trial_rows(trials), TRIALS, metadata)


def trial_rows(trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """Rows of `TRIALS`: labels and values in their own columns, the fields of other readouts as JSON."""
    rows = []
    for trial in trials:
        row, fields = asdict(trial), asdict(trial.readout)
        row |= {"readout": type(trial.readout).__name__, "settings": None, "labels": (), "values": ()}
        row |= fields if isinstance(trial.readout, ScoreLabels) else {"settings": _json(fields)}
        if trial.chat is not None:
            row["chat"] = _json([turn._asdict() for turn in trial.chat])
        rows.append(row)
    return rows


def _json(content: object) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False)


def read_trials(path: Path) -> list[Trial]:
    """The trials of a parquet file in `TRIALS`, which all have the same readout.

    Raises:
        StorageError: the file is absent, a trial's settings or chat are faulty, or two trials have one id; names file,
            row and trial.
    """
    table = read_table(path, TRIALS)
    if (reason := (table.schema.metadata or {}).get(LEFT_OUT.encode())) is not None:
        return NoTrials(reason.decode())
    trials: list[Trial] = []
    row_of_id: dict[str, int] = {}
    for place, row in enumerate(table.to_pylist(), 1):
        label = f"trial {row['trial_id']}"
        where = f"{path}: row {place} ({label})"
        if row["readout"] not in READOUTS:
            names = ", ".join(READOUTS)
            raise StorageError(f"{where}: readout {row['readout']} is unknown; one of {names} was expected")
        if trials and row["readout"] != (first := type(trials[0].readout).__name__):
            raise StorageError(f"{where}: readout {row['readout']}, {first} before it; write a file for each readout")
        if (earlier := row_of_id.setdefault(row["trial_id"], place)) != place:
            raise StorageError(f"{where}: row {earlier} has this trial_id too; give each trial its own")
        try:
            trials.append(_trial_of(row))
        except pydantic.ValidationError as error:
            faults = error.errors()
            if faults[0]["type"] == "json_invalid":
                column = "chat is" if faults[0]["loc"] else "settings are"
                raise StorageError(f"{where}: {column} not JSON (found {faults[0]['input'][:60]!r}); mend it") from None
            column = "" if faults[0]["loc"] else "settings: "
            raise StorageError(f"{where}: {column}{describe_faults(faults, _fields(row['readout']))}") from None
        except QuestionError as error:
            raise StorageError(f"{where}: {str(error).removeprefix(f'{label}: ')}") from None
    return trials


def _fields(readout: str) -> list[str]:
    return [field.name for field in fields(READOUTS[readout])]


def _trial_of(row: dict[str, Any]) -> Trial:
    kind, settings, chat = READOUTS[row["readout"]], row.pop("settings"), _Chat(chat=row.pop("chat"))
    labels, values = row.pop("labels"), row.pop("values")
    if kind is ScoreLabels:
        readout: Readout = ScoreLabels(tuple(labels), tuple(values))
    else:
        readout = pydantic.TypeAdapter(kind).validate_json(settings or "{}")
    return Trial(**(row | {"readout": readout, "chat": chat.chat}))


def reading_rows(readings: Iterable[Reading]) -> list[dict[str, object]]:
    """Rows of `READINGS`."""
    rows = []
    for reading in readings:
        row = dict(vars(reading))  # a shallow copy, since its fields are flat
        outside = row.pop("outside")
        row |= {"outside_text": [text for text, _ in outside], "outside_prob": [prob for _, prob in outside]}
        rows.append(row | {"status": str(reading.status)})
    if all(row[name] is None for row in rows for name in OF_DRAWS):
        return [{name: value for name, value in row.items() if name not in OF_DRAWS} for row in rows]
    return rows


def answer_rows(trials: Iterable[Trial], answers: Iterable[Mapping[str, int]]) -> list[dict[str, object]]:
    """Rows of `SAMPLED_ANSWERS`: the texts that were written to each trial's prompt, with their numbers."""
    return [
        {"trial_id": trial.trial_id, "prompt": trial.prompt, "answer_text": text, "n": count}
        for trial, texts in zip(trials, answers, strict=True)
        for text, count in sorted(texts.items())
    ]


def read_readings(path: Path) -> list[Reading]:
    """The readings of a parquet file in `READINGS`."""
    readings = []
    for row in read_table(path, READINGS).to_pylist():
        row["outside"] = zip(row.pop("outside_text"), row.pop("outside_prob"), strict=True)
        readings.append(reading_of(row))
    return readings


def written_rows(answers: Iterable[Answer]) -> list[dict[str, Any]]:
    """Rows of `ANSWERS`."""
    rows = [vars(answer) | {"status": str(answer.status)} for answer in answers]
    return [{name: value for name, value in row.items() if name != "token_ids"} for row in rows]


def read_answers(path: Path) -> list[Answer]:
    """The answers of a parquet file in `ANSWERS`."""
    return [answer_of(row) for row in read_table(path, ANSWERS).to_pylist()]
