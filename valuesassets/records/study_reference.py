"""The reference of all keys of a study file: `python -m valuesassets.records.study_reference > docs/study_file.md`."""

import ast
import inspect
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from valuesassets.records.settings.kinds import PATTERNS, InstrumentTable, Record, records_below
from valuesassets.records.study import Study

_HEAD = """\
# The study file

A study is one TOML file, or a bundled one by its name (`demo_survey`, `evs2017`). `valuesassets study FILE` checks the
file and whether the files it names exist; it reports each problem in one line with file, key and expected value. The
tables below list every key. All paths, also of models and tokenizers, are relative to the folder of the study file. The
column "left out" shows the default; where it has a dash, the description says what holds. [Staleness](staleness.md)
lists what a change makes stale. To write your first study, see [own questionnaire](own_questionnaire.md).

A study runs every instrument that has a table in its file, at least one of {instruments}. All instruments share the
other tables.

<!-- Generated from the records by `python -m valuesassets.records.study_reference`; a test keeps it up to date. -->
"""
_WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
}


def study_reference(study: type[Study] = Study) -> str:
    """The page docs/study_file.md, as Markdown."""
    *others, last = (f"`[{key}]`" for key in study.instrument_keys())
    keys = f"{', '.join(others)} and {last}" if others else last
    parts = [_HEAD.format(instruments=keys)]
    for title, record in _tables("", study):
        parts += [f"## {title}\n\n{_summary(record)}\n", "| key | type | left out | what it is |\n|---|---|---|---|"]
        schema, words = record.model_json_schema(), _descriptions(record)
        for key, entry in schema["properties"].items():
            if _record_in(entry) is None:
                default = "**needed**" if key in schema.get("required", ()) else _default(entry)
                parts.append(f"| `{key}` | {_type(entry)} | {default} | {words[key]} |")
        parts.append("")
    return "\n".join(parts)


def _tables(place: str, record: type[Record], is_array: bool = False) -> Iterator[tuple[str, type[Record]]]:
    """A record and the records in it, each with the heading of its table in TOML."""
    heading = f"`[[{place}]]`" if is_array else f"`[{place}]`"
    yield heading if place else "At the top", record
    for key, entry in record.model_json_schema()["properties"].items():
        if inner := _record_in(entry):
            below = f"{place}.{key}".lstrip(".") + (".<name>" if "patternProperties" in entry else "")
            yield from _tables(below, inner, "items" in entry)


def _record_in(entry: dict[str, Any]) -> type[Record] | None:
    """The record that a key holds, on its own, in an array or in a table of names; None for plain values."""
    match = re.search(r"#/\$defs/(\w+)", json.dumps(entry))
    return next(kind for kind in records_below(Record) if kind.__name__ == match[1]) if match else None


def _descriptions(record: type[Record]) -> dict[str, str]:
    """The description of each key: the text below it in the source."""
    descriptions: dict[str, str] = {}
    for kind in reversed(record.__mro__):
        if issubclass(kind, Record):
            for lines in pairwise(ast.iter_child_nodes(ast.parse(inspect.getsource(kind)).body[0])):
                match lines:
                    case ast.AnnAssign(target=ast.Name(key)), ast.Expr(ast.Constant(str(text))) if (
                        key in kind.model_fields
                    ):
                        descriptions[kind.model_fields[key].alias or key] = " ".join(text.split()).replace("|", "\\|")
    return descriptions


def _summary(record: type[Record]) -> str:
    text = inspect.getdoc(record) or ""
    prefix = "An instrument's table. " if issubclass(record, InstrumentTable) else ""
    return prefix + " ".join(text.split("\n\nAn instrument")[0].split())


def _type(entry: dict[str, Any]) -> str:
    """The values that a key accepts, in words, with bounds and unit."""
    unit = entry.get("unit", "")
    if unit.startswith("share"):
        return unit
    if "anyOf" in entry:
        return " or ".join(_type(part) for part in entry["anyOf"] if part["type"] != "null")
    if "const" in entry:
        return f"`{json.dumps(entry['const'])}`"
    if "enum" in entry:
        return ", ".join(f"`{json.dumps(value)}`" for value in entry["enum"])
    if entry["type"] == "array":
        return f"array of {_type(entry['items'])}"
    if entry["type"] == "object" and "patternProperties" not in entry:
        return "table of any keys"
    if entry["type"] == "object":
        return f"table of {_type(next(iter(entry['patternProperties'].values())))}"
    kind = PATTERNS.get(entry.get("pattern", "")) or entry.get("format") or _WORDS[entry["type"]]
    limits = [f"{words} {entry[bound]:g}" for bound, words in _BOUNDS.items() if bound in entry]
    return ", ".join([kind.replace("<", "&lt;"), *limits, *filter(None, [unit])])


def _default(entry: dict[str, Any]) -> str:
    """The default of a key; a dash where its description says what holds."""
    default = entry.get("default")
    return "-" if default in (None, [], {}) else f"`{json.dumps(default)}`"


if __name__ == "__main__":
    print(study_reference(), end="")
