"""The instruments as the command line finds them: the packages that there are, and what each says of itself."""

import pkgutil
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from valuesassets import instruments
from valuesassets.records.study import Part, Study, language_parts

NAMES = tuple(each.name for each in pkgutil.iter_modules(instruments.__path__))
"""All of them; each has a folder of its name in the storage."""


def said_of(instrument: str, what: str, default: Any = None) -> Any:
    """What an instrument's package says of itself under this name."""
    return getattr(import_module(f"{instruments.__name__}.{instrument}"), what, default)


def command_of(instrument: str) -> str:
    """The word by which the command line calls an instrument, and the module of its commands."""
    return said_of(instrument, "COMMAND", instrument)


def commands_of(instrument: str) -> ModuleType:
    """The module of an instrument's commands."""
    return import_module(f"valuesassets.cli.{command_of(instrument)}")


def parts_of(instrument: str, study: Study) -> Iterable[Part]:
    """An instrument's parts in a study: what its module `parts` gives, else the study's languages."""
    name = f"{instruments.__name__}.{instrument}"
    own = any(each.name == "parts" for each in pkgutil.iter_modules(import_module(name).__path__))
    return import_module(f"{name}.parts").parts(study) if own else language_parts(study)


def stored_instruments(folder: Path) -> list[str]:
    """The instruments that a study's folder has files of, by name; tables that only they have are then declared."""
    found = [name for name in NAMES if (folder / name).is_dir()]
    for name in found:
        package = import_module(f"{instruments.__name__}.{name}")
        for module in pkgutil.iter_modules(package.__path__):
            if module.name.endswith("tables"):
                import_module(f"{package.__name__}.{module.name}")
    return found
