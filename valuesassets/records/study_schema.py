"""The study file described: a JSON Schema for editors, and single keys for people."""

import ast
import difflib
import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, get_args

from valuesassets.records.settings.kinds import PATTERNS, Record
from valuesassets.records.study import Study

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NAME = "<name>"
"""Stands in a key's place for a name that the study gives, such as a language's code."""
_WORDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
_BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "exclusiveMaximum": "less than",
}


@dataclass(frozen=True)
class Key:
    """A key of the study file.

    Attributes:
        place: its tables and its name, such as `families.<name>.model_id`.
        kind: the values that it takes, in words.
        default: its value where it is left out, as TOML has it; `-` where the description says what holds.
        is_needed: whether it may not be left out.
        description: what it is.
        keys: of a table, the names of its keys.
    """

    place: str
    kind: str
    default: str
    is_needed: bool
    description: str
    keys: tuple[str, ...] = ()


def study_schema(study: type[Study] = Study) -> dict[str, Any]:
    """A JSON Schema of the study file, with a description of every key; editors check and complete by it.

    Args:
        study: `Study`, or a subclass with tables of further instruments.
    """
    schema = study.model_json_schema()
    below = records_in(study)
    tables = schema.pop("$defs")
    described = {name: _described(table, below[name]) for name, table in tables.items()}
    return {"$schema": DIALECT, **_described(schema, study), "title": "A study of valuesassets", "$defs": described}


def _described(table: dict[str, Any], record: type[Record]) -> dict[str, Any]:
    """The schema of a table with the descriptions of its keys."""
    words = key_descriptions(record)
    keys = {key: _of_toml(entry) | {"description": words[key]} for key, entry in table["properties"].items()}
    return table | {"description": summary_of(record), "properties": keys}


def _of_toml(entry: Any) -> Any:
    """A key's schema as TOML has it, which knows no null; a table of names has no other keys than these names."""
    if isinstance(entry, list):
        return [_of_toml(each) for each in entry]
    if not isinstance(entry, dict):
        return entry
    entry = {key: _of_toml(value) for key, value in entry.items() if key != "title"}
    if "anyOf" in entry:
        choices = [choice for choice in entry.pop("anyOf") if choice != {"type": "null"}]
        entry |= choices[0] if len(choices) == 1 else {"anyOf": choices}
    if "patternProperties" in entry:
        entry["additionalProperties"] = False
    return {key: value for key, value in entry.items() if (key, value) != ("default", None)}


@cache
def study_keys(study: type[Study] = Study) -> dict[str, Key]:
    """Every key of the study file by its place, tables included."""
    return {key.place: key for key in _keys_below("", study)}


def find_key(name: str, keys: dict[str, Key]) -> Key | None:
    """The key of a name, in which names that a study gives may stand for `<name>`; None where there is none.

    >>> find_key("families.reference-mono.dtype", study_keys()).place
    'families.<name>.dtype'
    """
    bare = name.strip().strip("[]")
    places = [place for place in keys if re.fullmatch(re.escape(place).replace(NAME, ".+"), bare)]
    return keys[max(places, key=len)] if places else None


def close_keys(name: str, keys: dict[str, Key]) -> list[str]:
    """The places of keys that may be meant by a name that is none: those with its last word, else similar ones."""
    last = name.rpartition(".")[2]
    for word in (last, *difflib.get_close_matches(last, {place.rpartition(".")[2] for place in keys}, n=1)):
        if places := [place for place in keys if place.rpartition(".")[2] == word]:
            return difflib.get_close_matches(name, places, n=3, cutoff=0)
    return []


def _keys_below(place: str, record: type[Record]) -> Iterator[Key]:
    """The keys of a record, each table followed by its own."""
    schema, words = record.model_json_schema(), key_descriptions(record)
    for key, entry in schema["properties"].items():
        here, inner = f"{place}.{key}".lstrip("."), record_in(entry, record)
        is_needed, is_named = key in schema.get("required", ()), "patternProperties" in entry
        if inner is None:
            yield Key(here, type_in_words(entry), default_in_words(entry), is_needed, words[key])
            continue
        kind = "tables, one for each name" if is_named else "array of tables" if "items" in entry else "table"
        below = tuple(inner.model_json_schema()["properties"])
        yield Key(here, kind, "-", is_needed, words[key], () if is_named else below)
        if is_named:
            yield Key(f"{here}.{NAME}", "table", "-", False, summary_of(inner), below)
        yield from _keys_below(f"{here}.{NAME}" if is_named else here, inner)


def record_in(entry: dict[str, Any], record: type[Record]) -> type[Record] | None:
    """The record that a key holds, on its own, in an array or in a table of names; None for plain values.

    Args:
        record: the record that has the key.
    """
    match = re.search(r"#/\$defs/(\w+)", json.dumps(entry))
    return records_in(record)[match[1]] if match else None


@cache
def records_in(record: type[Record]) -> dict[str, type[Record]]:
    """The records that a record holds, also indirectly, by their names in its schema: with their modules, where two
    packages have one of the same name."""
    kinds, pending = dict[type[Record], None](), [record]
    while pending:
        for field in pending.pop().model_fields.values():
            inner = [kind for kind in _classes_in(field.annotation) if kind not in kinds and issubclass(kind, Record)]
            kinds |= dict.fromkeys(inner)
            pending += inner
    with_modules = {f"{kind.__module__}.{kind.__qualname__}".replace(".", "__"): kind for kind in kinds}
    return {kind.__name__: kind for kind in kinds} | with_modules


def _classes_in(annotation: Any) -> Iterator[type]:
    """The classes in the type of a key."""
    if isinstance(annotation, type) and not get_args(annotation):
        yield annotation
    for part in get_args(annotation):
        yield from _classes_in(part)


@cache
def key_descriptions(record: type[Record]) -> dict[str, str]:
    """The description of each key of a record: the text below it in the source, else its own record's summary."""
    descriptions: dict[str, str] = {}
    for kind in reversed(record.__mro__):
        if issubclass(kind, Record):
            for key, text in _texts_below_keys(kind):
                descriptions[kind.model_fields[key].alias or key] = " ".join(text.split())
    for key, entry in record.model_json_schema()["properties"].items():
        if key not in descriptions and (inner := record_in(entry, record)):
            descriptions[key] = summary_of(inner)
    return descriptions


def _texts_below_keys(record: type[Record]) -> Iterator[tuple[str, str]]:
    try:
        source = inspect.getsource(record)
    except OSError:  # a record that was made of another one has no source of its own
        return
    for lines in pairwise(ast.iter_child_nodes(ast.parse(source).body[0])):
        match lines:
            case ast.AnnAssign(target=ast.Name(key)), ast.Expr(ast.Constant(str(text))) if key in record.model_fields:
                yield key, text


def summary_of(record: type[Record]) -> str:
    """What a table is: its record's docstring without what it says to developers."""
    return " ".join((inspect.getdoc(record) or "").split("\n\nAn instrument")[0].split())


def type_in_words(entry: dict[str, Any]) -> str:
    """The values that a key accepts, with bounds and unit."""
    unit = entry.get("unit", "")
    if unit.startswith("share"):
        return unit
    if "anyOf" in entry:
        return " or ".join(type_in_words(part) for part in entry["anyOf"] if part["type"] != "null")
    if "const" in entry:
        return f"`{json.dumps(entry['const'])}`"
    if "enum" in entry:
        return ", ".join(f"`{json.dumps(value)}`" for value in entry["enum"])
    if entry["type"] == "array":
        return f"array of {type_in_words(entry['items'])}"
    if entry["type"] == "object" and "patternProperties" not in entry:
        return "table of any keys"
    if entry["type"] == "object":
        return f"table of {type_in_words(next(iter(entry['patternProperties'].values())))}"
    kind = PATTERNS.get(entry.get("pattern", "")) or entry.get("format") or _WORDS[entry["type"]]
    limits = [f"{words} {entry[bound]:g}" for bound, words in _BOUNDS.items() if bound in entry]
    return ", ".join([kind, *limits, *filter(None, [unit])])


def default_in_words(entry: dict[str, Any]) -> str:
    """The default of a key; a dash where its description says what holds."""
    default = entry.get("default")
    return "-" if default in (None, [], {}) else f"`{json.dumps(default)}`"
