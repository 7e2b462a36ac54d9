"""Reads files of answers to dilemmas that any program made, to score them again: CSV, JSON, JSONL or parquet."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from valuesassets.instruments.worldwise.material.dimensions import AXES
from valuesassets.records.errors import InputError
from valuesassets.records.files import parse_json, read_json, read_text
from valuesassets.records.parquet import read_given
from valuesassets.records.text_tables import read_rows
from valuesassets.records.thoughts import part_thoughts

NAMES = ("response_id", "scenario_id", "axis", "model", "culture")
"""Columns that no answer may leave empty."""
COLUMNS = (*NAMES, "decision", "values", "explanation")
WHOLE = "raw_response"
"""An optional column: the whole answer, from which the stereotype score is computed."""
ANSWER_ROW = re.compile(rf'(?:^|,)"?(?:{"|".join(AXES)})"?(?:,|$)')
"""Matches a line of a CSV file that begins an answer; other lines belong to an explanation of several lines."""
Answer = tuple[str, dict[str, Any]]
"""The place of an answer in its file, and its columns."""


def read_answer_file(path: Path) -> pd.DataFrame:
    """Answers of a file: `COLUMNS`, values as lists, and `raw_response` (None if the file has none).

    Args:
        path: `.csv` (values separated by semicolons), `.json` (an array of objects), `.jsonl` or `.parquet`.

    Raises:
        InputError: another kind of file, a column is missing, or an answer has an empty name, an unknown axis, values
            that are no list, no text, the id of another answer, or a scenario with another axis elsewhere; names file
            and row.
    """
    answers, ids, axes = [], dict[str, str](), dict[str, tuple[str, str]]()
    kind = path.suffix.lower()
    if kind not in READERS:
        raise InputError(
            f"{path}: {kind or 'no ending'} found, one of {', '.join(READERS)} was expected; name such a file"
        )
    for where, entry in READERS[kind](path):
        answer = _answer(f"{path}: {where}", entry)
        name, scenario, axis = (answer[column] for column in NAMES[:3])
        if name in ids:
            raise InputError(f"{path}: {where}: response_id {name!r} stands in {ids[name]} too; each once was expected")
        ids[name] = where
        first, first_axis = axes.setdefault(scenario, (where, axis))
        if first_axis != axis:
            raise InputError(
                f"{path}: {where}: scenario {scenario} is on {axis}, but on {first_axis} in {first}; one axis was "
                "expected; mend it"
            )
        answers.append(answer)
    if not answers:
        raise InputError(f"{path}: holds no answer; name another file")
    return pd.DataFrame(answers, columns=pd.Index([*COLUMNS, WHOLE]))


def _csv_answers(path: Path) -> Iterator[Answer]:
    for row in read_rows(path, COLUMNS, is_row=lambda line: bool(ANSWER_ROW.search(line))):
        values = [value.strip() for value in row.fields["values"].split(";")]
        yield f"row {row.number}", row.fields | {"values": list(filter(None, values))}


def _jsonl_answers(path: Path) -> Iterator[Answer]:
    for number, line in enumerate(read_text(path, "a file of JSON lines", InputError).splitlines(), 1):
        if line.strip():
            yield f"line {number}", parse_json(line, str(path), InputError, number)


def _json_answers(path: Path) -> Iterator[Answer]:
    entries = read_json(path, InputError)
    if not isinstance(entries, list):
        raise InputError(f"{path}: no array found, a list of answers in [ ] was expected; mend the file")
    yield from ((f"answer {number}", each) for number, each in enumerate(entries, 1))


def _parquet_answers(path: Path) -> Iterator[Answer]:
    yield from ((f"row {number}", each) for number, each in enumerate(read_given(path).to_pylist(), 1))


READERS = {".csv": _csv_answers, ".json": _json_answers, ".jsonl": _jsonl_answers, ".parquet": _parquet_answers}


def _answer(where: str, entry: Any) -> dict[str, Any]:
    """An answer whose columns are checked."""
    if not isinstance(entry, dict):
        raise InputError(f"{where}: no object found, an answer in {{ }} was expected; mend it")
    missing = [name for name in COLUMNS if name not in entry]
    if missing:
        raise InputError(f"{where}: no {missing[0]} found, {', '.join(COLUMNS)} were expected; add it")
    answer: dict[str, Any] = {name: _text(where, name, entry[name]) for name in NAMES}
    answer |= {name: _without_thoughts(where, name, entry[name]) for name in ("decision", "explanation")}
    for name in NAMES:
        if not answer[name].strip():
            raise InputError(f"{where}: {name} is empty, a name was expected; add it")
    if answer["axis"] not in AXES:
        raise InputError(f"{where}: axis {answer['axis']!r} found, one of {', '.join(AXES)} was expected; mend it")
    values = entry["values"]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{where}: values {str(values)[:40]!r} found, a list of texts was expected; mend it")
    answer["values"] = values
    if not any(map(str.isalpha, "".join([answer["decision"], *values, answer["explanation"]]))):
        raise InputError(
            f"{where}: neither decision, values nor explanation holds a letter; leave the answer out or mend it"
        )
    whole = entry.get(WHOLE)
    return answer | {WHOLE: None if whole is None else _without_thoughts(where, WHOLE, whole)}


def _without_thoughts(where: str, name: str, value: Any) -> str:
    """A text without the thoughts that its model left in it."""
    parted = part_thoughts(_text(where, name, value))
    if parted.answer is None:
        raise InputError(f"{where}: {name}: {parted.fault}; leave the answer out or mend it")
    return parted.answer


def _text(where: str, name: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InputError(f"{where}: {name} {value!r} found, a text was expected; mend it")
    return value
