"""What `study --schema` and `study --explain` print: the keys of a study file, for editors and for people."""

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

from valuesassets.library.stored import instrument_records
from valuesassets.records.errors import InputError
from valuesassets.records.study import Study, installed_kind
from valuesassets.records.study_schema import Key, close_keys, find_key, study_keys, study_schema

WIDTH = 100
STALE = Path(__file__).with_name("what_goes_stale.txt")
"""Written by `python -m valuesassets.orchestration.what_goes_stale --keys`: the assets that read each key."""


def print_schema() -> None:
    """Print the JSON Schema of a study file."""
    print(json.dumps(study_schema(installed_kind(_tell)), ensure_ascii=False, indent=1))


def _tell(fault: str) -> None:
    print(fault, file=sys.stderr)


def explain_key(name: str) -> None:
    """Print what a key of a study file is; InputError where there is none."""
    keys = study_keys(installed_kind(_tell))
    key = find_key(name, keys)
    if key is None:
        raise InputError(_no_such_key(name, keys))
    for line in _lines(key):
        print(line)


def _no_such_key(name: str, keys: dict[str, Key]) -> str:
    record = instrument_records().get(name.replace("-", "_"))
    if record is not None and record.study_key != name:
        return f"{name}: no such key of a study file; the table of this instrument is {record.study_key}"
    meant = close_keys(name, keys)
    top = ", ".join(Study.model_fields)
    advice = f"did you mean {', or '.join(meant)}?" if meant else f"at the top of the file there are {top}"
    return f"{name}: no such key of a study file; {advice}"


def _lines(key: Key) -> Iterator[str]:
    yield key.place
    for line in key.description.splitlines():
        yield fill(line, WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    left_out = "it is needed" if key.is_needed else "" if "table" in key.kind else key.default
    left_out = "its description says what holds" if left_out == "-" else left_out
    parts = {"type": key.kind.replace("`", ""), "left out": left_out.replace("`", ""), "keys": ", ".join(key.keys)}
    for title, text in (parts | {"makes stale": _stale(key.place)}).items():
        if text:
            yield fill(f"{title}: {text}", WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def stale_assets() -> dict[str, list[str]]:
    """The names of the assets that a change of each key makes stale, by the key's place."""
    lines = (line.split(":") for line in STALE.read_text("utf-8").splitlines())
    return {place: names.split() for place, names in lines}


def _stale(place: str) -> str:
    """The assets that a change of a key makes stale, by instrument."""
    if place == "name":
        return "everything: another study has its own files"
    by_place = stale_assets()
    words = place.split(".")
    nearest = (".".join(words[:n]) for n in range(len(words), 0, -1))
    names = next((by_place[each] for each in nearest if each in by_place), None)
    if names is None:
        return f"the assets of {words[0]} that read it, and what rests on them"
    by_instrument: dict[str, list[str]] = defaultdict(list)
    for name in names:
        instrument, _, noun = name.partition("/")
        by_instrument[instrument].append(noun)
    listed = "; ".join(f"{instrument}: {', '.join(nouns)}" for instrument, nouns in by_instrument.items())
    return f"{listed}; and what rests on these, where it comes out differently" if names else "nothing"
