"""Writes settings as TOML."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import tomlkit


def toml_text(content: Mapping[str, Any]) -> str:
    """Nested settings as a text of TOML; None is left out; a path, or a text that is a whole path, is its last name.

    >>> print(toml_text({"seed": 1, "map": {"axes": "fitted"}, "files": [{"path": PurePath("a/b.sav")}]}))
    seed = 1
    <BLANKLINE>
    [map]
    axes = "fitted"
    <BLANKLINE>
    [[files]]
    path = "b.sav"
    """
    return tomlkit.dumps(_plain(content)).strip()


def _plain(value: Any) -> Any:
    """A value made of types that TOML has."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items() if each is not None}
    if isinstance(value, set | frozenset):
        return [_plain(each) for each in sorted(value)]
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    is_path = isinstance(value, str) and (PurePath(value).is_absolute() or value.startswith("~/"))
    return PurePath(value).name if is_path or isinstance(value, PurePath) else value
