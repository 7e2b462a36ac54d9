"""Tables as parquet files: checked against their record when written, whole or not at all; and trials as their rows."""

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
from valuesassets.records.trials import Answer, NoTrials, Reading, Trial, Turn, answer_of, reading_of

if TYPE_CHECKING:
    import pandas as pd

OUR_METADATA = (b"ARROW:schema", SEAL.encode())
REFUSED = (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError)


def write_table(
    path: Path, rows: Iterable[Mapping[str, Any]], table: Table, metadata: Mapping[str, object] | None = None
) -> None:
    """Write rows as parquet in exactly a table's schema; `metadata` goes into the file's own.

    What is no text in `metadata` is written as JSON.

    Raises:
        StorageError: a row does not fit the table, or the file cannot be written.
    """
    texts = {
        key: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for key, value in sorted((metadata or {}).items())
    }
    listed, described = [dict(row) for row in rows], table.schema.with_metadata(texts)
    try:
        found = pa.Table.from_pylist(listed, schema=described)
        found.validate(full=True)
    except REFUSED:
        raise StorageError(f"{path}: table {table.name}, {table.misfit(listed)}") from None
    _write(path, found, table)


def write_frame(path: Path, frame: "pd.DataFrame", table: Table) -> None:
    """Write a frame as parquet, with its own types where they fit the table's; `attrs["file_metadata"]` goes with it.

    Raises:
        StorageError: a column or a row does not fit the table, or the file cannot be written.
    """
    from valuesassets.records.frames import records

    if table.is_exact:
        rows = records(frame.astype(object).where(frame.notna(), None))
        write_table(path, rows, table, frame.attrs.get("file_metadata"))
        return
    try:
        found = pa.Table.from_pandas(frame, preserve_index=False)
    except REFUSED:
        raise StorageError(f"{path}: table {table.name}, {table.misfit(records(frame))}") from None
    _write(path, found, table)


def read_table(path: Path, table: Table) -> pa.Table:
    """A parquet file's rows in the columns of a table (extra ones dropped, those `added_later` empty where absent).

    Raises:
        StorageError: absent, not whole parquet, or a column is missing or of another type.
    """
    found = read_rows(path, table)
    missing = [name for name in table.names if name not in found.column_names]
    if missing:
        raise StorageError(
            f"{path}: column {missing[0]} is missing; it was written by another command or version: name another file"
        )
    try:
        return found.select(table.names).cast(table.schema.with_metadata(found.schema.metadata))
    except (pa.ArrowInvalid, ValueError) as error:
        raise StorageError(f"{path}: {error}") from None


def read_frame(path: Path, table: Table) -> "pd.DataFrame":
    """A parquet file as a frame, with all its columns; those `added_later` are empty where it lacks them.

    Raises:
        StorageError: absent, or not whole parquet.
    """
    return read_rows(path, table).to_pandas()


def stored_frame(path: Path) -> "pd.DataFrame":
    """A parquet file that we wrote as a frame, whatever table it is.

    Raises:
        StorageError: absent, or not whole parquet.
    """
    return _stored(path, lambda path: _opened(path).read()).to_pandas()


def read_given(path: Path) -> pa.Table:
    """All columns of a parquet file that a person made, whatever they are.

    Raises:
        InputError: absent, a folder, or no whole parquet file.
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
        StorageError: absent, or not whole parquet.
    """
    found = _stored(path, _opened).schema_arrow.metadata or {}
    return {key.decode(): value.decode() for key, value in found.items() if key not in OUR_METADATA}


def _write(path: Path, found: pa.Table, table: Table) -> None:
    content = parquet_bytes(table.checked(found, path))
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


def read_rows(path: Path, table: Table) -> pa.Table:
    """A parquet file's rows as they are, with all its columns; those `added_later` are empty where it lacks them.

    Raises:
        StorageError: absent, or not whole parquet.
    """
    found = _stored(path, lambda path: _opened(path).read())
    told = {key: value for key, value in (found.schema.metadata or {}).items() if key not in OUR_METADATA}
    found = found.replace_schema_metadata(told)
    for field in table.schema:
        if field.name in table.added_later and field.name not in found.column_names:
            found = found.append_column(field, pa.nulls(len(found), field.type))
    return found


def _opened(path: Path) -> pq.ParquetFile:
    content = path.read_bytes()
    if not is_whole_parquet(content):
        raise pa.ArrowInvalid("another digest")
    return pq.ParquetFile(pa.BufferReader(content), page_checksum_verification=True)


def _stored(path: Path, read: Callable[[Path], Any]) -> Any:
    """What is read of a file that we wrote; where it cannot be, an error says why and what to do."""
    try:
        return read(path)
    except FileNotFoundError:
        raise StorageError(f"{no_such_file(path)}; {made_again(path)}") from None
    except PermissionError:
        raise StorageError(f"{path}: cannot be read: Permission denied; check who may read it") from None
    except (OSError, pa.ArrowException):
        raise StorageError(f"{path}: not a readable parquet file but {_what(path)}; {made_again(path)}") from None


def _what(path: Path) -> str:
    """What a file is that is no whole parquet file."""
    kind = kind_of_file(path) if path.is_file() else "a folder"
    return "truncated or damaged" if kind in ("a parquet file", None) else kind


READOUTS: dict[str, type[Readout]] = {readout.__name__: readout for readout in (ScoreLabels, ScoreSpans, Generate)}


LEFT_OUT = "left_out"
"""Metadata of a file of trials without any: why no model is asked."""


class _Chat(pydantic.BaseModel):
    chat: pydantic.Json[tuple[Turn, ...]] | None


def write_trials(path: Path, trials: Sequence[Trial]) -> None:
    """Write trials, or that a part has none and why."""
    told = {LEFT_OUT: trials.reason} if isinstance(trials, NoTrials) else None
    write_table(path, trial_rows(trials), TRIALS, told)


def trial_rows(trials: Iterable[Trial]) -> list[dict[str, Any]]:
    """Rows of `TRIALS`: labels and values in columns of their own, the fields of any other readout as JSON."""
    rows = []
    for trial in trials:
        row, read = asdict(trial), asdict(trial.readout)
        row |= {"readout": type(trial.readout).__name__, "settings": None, "labels": (), "values": ()}
        row |= read if isinstance(trial.readout, ScoreLabels) else {"settings": _json(read)}
        if trial.chat is not None:
            row["chat"] = _json([turn._asdict() for turn in trial.chat])
        rows.append(row)
    return rows


def _json(content: object) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False)


def read_trials(path: Path) -> list[Trial]:
    """The trials of a parquet file in `TRIALS`; all of one readout.

    Raises:
        StorageError: no such file; or a trial's settings or chat are none, or its name is another's: names file, row
            and trial.
    """
    found = read_table(path, TRIALS)
    if (reason := (found.schema.metadata or {}).get(LEFT_OUT.encode())) is not None:
        return NoTrials(reason.decode())
    trials: list[Trial] = []
    rows: dict[str, int] = {}
    for place, row in enumerate(found.to_pylist(), 1):
        named = f"trial {row['trial_id']}"
        where = f"{path}: row {place} ({named})"
        if row["readout"] not in READOUTS:
            known = ", ".join(READOUTS)
            raise StorageError(f"{where}: readout {row['readout']} is unknown; one of {known} was expected")
        if trials and row["readout"] != (first := type(trials[0].readout).__name__):
            raise StorageError(f"{where}: readout {row['readout']}, {first} before it; write a file for each readout")
        if (other := rows.setdefault(row["trial_id"], place)) != place:
            raise StorageError(f"{where}: row {other} has this trial_id too; name trials apart")
        try:
            trials.append(_trial_of(row))
        except pydantic.ValidationError as error:
            found = error.errors()
            if found[0]["type"] == "json_invalid":
                column = "chat is" if found[0]["loc"] else "settings are"
                raise StorageError(f"{where}: {column} not JSON (found {found[0]['input'][:60]!r}); mend it") from None
            column = "" if found[0]["loc"] else "settings: "
            raise StorageError(f"{where}: {column}{describe_faults(found, _fields(row['readout']))}") from None
        except QuestionError as error:
            raise StorageError(f"{where}: {str(error).removeprefix(f'{named}: ')}") from None
    return trials


def _fields(readout: str) -> list[str]:
    return [field.name for field in fields(READOUTS[readout])]


def _trial_of(row: dict[str, Any]) -> Trial:
    kind, settings, shown = READOUTS[row["readout"]], row.pop("settings"), _Chat(chat=row.pop("chat"))
    labels, values = row.pop("labels"), row.pop("values")
    if kind is ScoreLabels:
        readout: Readout = ScoreLabels(tuple(labels), tuple(values))
    else:
        readout = pydantic.TypeAdapter(kind).validate_json(settings or "{}")
    return Trial(**(row | {"readout": readout, "chat": shown.chat}))


def reading_rows(readings: Iterable[Reading]) -> list[dict[str, object]]:
    """Rows of `READINGS`."""
    rows = []
    for reading in readings:
        row = dict(vars(reading))  # flat: no copies of its probabilities are needed
        outside = row.pop("outside")
        row |= {"outside_text": [text for text, _ in outside], "outside_prob": [prob for _, prob in outside]}
        rows.append(row | {"status": str(reading.status)})
    return rows


def answer_rows(trials: Iterable[Trial], answers: Iterable[Mapping[str, int]]) -> list[dict[str, object]]:
    """Rows of `SAMPLED_ANSWERS`: what was written to each trial's prompt, and how often."""
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
