"""The instruments as the command line finds them: which there are, their commands, and their parts in a study."""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from valuesassets import instruments
from valuesassets.library.stored import INSTRUMENTS
from valuesassets.records.study import Part, Study, language_parts

NAMES = INSTRUMENTS


def attribute_of(instrument: str, name: str, default: Any = None) -> Any:
    """A constant of an instrument's package."""
    return getattr(import_module(f"{instruments.__name__}.{instrument}"), name, default)


def commands_of(instrument: str) -> ModuleType | None:
    """The module of an instrument's commands; None where it has none."""
    module = f"valuesassets.cli.{instrument}"
    return import_module(module) if find_spec(module) else None


def parts_of(instrument: str, study: Study) -> Iterable[Part]:
    """An instrument's parts in a study: what its module `parts` gives, else the study's languages."""
    module = f"{instruments.__name__}.{instrument}.material.parts"
    return import_module(module).parts(study) if find_spec(module) else language_parts(study)


def instruments_of(study: Study) -> list[str]:
    """The instruments that a study runs: those whose tables it has."""
    tables = study.instrument_tables()
    return [name for name in NAMES if attribute_of(name, "TABLE", name) in tables]
