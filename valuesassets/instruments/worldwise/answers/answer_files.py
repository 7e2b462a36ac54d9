"""Answers to dilemmas that were made anywhere and are scored again: CSV, JSON, JSONL or parquet."""

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
"""Columns in which every answer has a name."""
COLUMNS = (*NAMES, "decision", "values", "explanation")
WHOLE = "raw_response"
"""A column that may be there: the answer as it was written, which the stereotype score reads."""
KINDS = (".csv", ".json", ".jsonl", ".parquet")
ANSWER_ROW = re.compile(rf'(?:^|,)"?(?:{"|".join(AXES)})"?(?:,|$)')
"""A line of a CSV file that begins an answer, and is not one of many in an explanation: it has the code of an axis."""
Answer = tuple[str, dict[str, Any]]
"""Where an answer stands, and its columns."""


def read_answer_file(path: Path) -> pd.DataFrame:
    """Answers of a file: `COLUMNS`, values as lists, and `raw_response` (None where the file has none).

    Args:
        path: `.csv` (values separated by semicolons), `.json` (an array of objects), `.jsonl` or `.parquet`.

    Raises:
        InputError: another kind of file, a column is missing, or an answer has no name, an unknown axis, values that
            are no list, no text at all, the id of another or a scenario that has another axis; names file and row.
    """
    answers, ids, axes = [], dict[str, str](), dict[str, tuple[str, str]]()
    for where, entry in _given(path):
        answer = _answer(f"{path}: {where}", entry)
        name, scenario, axis = (answer[column] for column in NAMES[:3])
        if name in ids:
            raise InputError(f"{path}: {where}: response_id {name!r} stands in {ids[name]} too; each once was expected")
        ids[name] = where
        first, first_axis = axes.setdefault(scenario, (where, axis))
        if first_axis != axis:
            raise InputError(
                f"{path}: {where}: scenario {scenario} is on {axis}, but on {first_axis} in {first}; one axis was expected; "
                "mend it"
            )
        answers.append(answer)
    if not answers:
        raise InputError(f"{path}: holds no answer; name another file")
    return pd.DataFrame(answers, columns=pd.Index([*COLUMNS, WHOLE]))


def _given(path: Path) -> Iterator[Answer]:
    """The answers of a file as they stand there."""
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise InputError(
            f"{path}: {kind or 'no ending'} found, one of {', '.join(KINDS)} was expected; name such a file"
        )
    if kind == ".parquet":
        return _of_parquet(path)
    if kind == ".csv":
        return _of_csv(path)
    return _of_lines(path) if kind == ".jsonl" else _of_array(path)


def _of_csv(path: Path) -> Iterator[Answer]:
    for row in read_rows(path, COLUMNS, is_row=lambda line: bool(ANSWER_ROW.search(line))):
        listed = [value.strip() for value in row.fields["values"].split(";")]
        yield f"row {row.number}", row.fields | {"values": [value for value in listed if value]}


def _of_lines(path: Path) -> Iterator[Answer]:
    for number, line in enumerate(read_text(path, "a file of JSON lines", InputError).splitlines(), 1):
        if line.strip():
            yield f"line {number}", parse_json(line, str(path), InputError, number)


def _of_array(path: Path) -> Iterator[Answer]:
    listed = read_json(path, InputError)
    if not isinstance(listed, list):
        raise InputError(f"{path}: no array found, a list of answers in [ ] was expected; mend the file")
    yield from ((f"answer {number}", each) for number, each in enumerate(listed, 1))


def _of_parquet(path: Path) -> Iterator[Answer]:
    yield from ((f"row {number}", each) for number, each in enumerate(read_given(path).to_pylist(), 1))


def _answer(where: str, entry: Any) -> dict[str, Any]:
    """An answer in its columns, each of them looked at."""
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
    """A text without thoughts that its maker left in it."""
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
