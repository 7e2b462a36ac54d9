"""The instruments as the command line finds them: which there are, their commands, and their parts in a study."""

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import Any

from valuesassets.library.stored import instrument_records
from valuesassets.records.instruments import Instrument
from valuesassets.records.plugins import call_of
from valuesassets.records.study import Part, Study


def names() -> tuple[str, ...]:
    """The instruments of this package and of others, by name."""
    return tuple(instrument_records())


def attribute_of(instrument: str, name: str, default: Any = None) -> Any:
    """A constant of an instrument's package."""
    return getattr(import_module(record_of(instrument).package), name, default)


def record_of(instrument: str) -> Instrument:
    """The record of an instrument."""
    return instrument_records()[instrument]


def commands_of(instrument: str) -> ModuleType | None:
    """The module of an instrument's commands; None where it has none."""
    module = record_of(instrument).commands
    return import_module(module) if module else None


def parts_of(instrument: str, study: Study) -> Iterable[Part]:
    """An instrument's parts in a study: what its module `parts` gives, else the study's languages."""
    record = record_of(instrument)
    return call_of(record, record.parts, study)


def instruments_of(study: Study) -> list[str]:
    """The instruments that a study runs: those whose tables it has."""
    tables = study.instrument_tables()
    return [name for name, record in instrument_records().items() if record.study_key in tables]
