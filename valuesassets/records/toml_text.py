"""Settings as TOML: what `tomllib` reads and nothing in the standard library writes."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any


def toml_text(content: Mapping[str, Any]) -> str:
    """Nested settings as a text of TOML; None is left out, and a path is written as its last name.

    >>> print(toml_text({"seed": 1, "map": {"axes": "fitted"}, "files": [{"path": PurePath("a/b.sav")}]}))
    seed = 1
    files = [{ path = "b.sav" }]
    <BLANKLINE>
    [map]
    axes = "fitted"
    """
    return "\n".join(_lines(content, ())).strip()


def _lines(content: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[str]:
    if place:
        yield f"\n[{'.'.join(map(_key, place))}]"
    given = {str(name): value for name, value in content.items() if value is not None}
    for name, value in given.items():
        if not isinstance(value, Mapping):
            yield f"{_key(name)} = {_value(value)}"
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from _lines(value, (*place, name))


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = (f"{_key(str(name))} = {_value(each)}" for name, each in value.items() if each is not None)
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list | tuple | set | frozenset):
        listed = sorted(value) if isinstance(value, set | frozenset) else value
        return f"[{', '.join(map(_value, listed))}]"
    if isinstance(value, PurePath):
        return json.dumps(value.name, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)  # texts, numbers, true and false are written alike in both
