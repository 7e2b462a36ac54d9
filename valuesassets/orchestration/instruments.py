"""The instruments as the graph has them: those of this package, and those of other packages (`records/plugins.py`)."""

from dataclasses import asdict
from importlib import import_module

import dagster as dg

from valuesassets import instruments
from valuesassets.records.instruments import Instrument as InstrumentRecord
from valuesassets.records.plugins import call_of, installed
from valuesassets.records.study import Cell, Part, Study, cells_of


class Instrument(InstrumentRecord):
    """An instrument with what Dagster knows of it: the keys of its assets, and these."""

    @property
    def asked(self) -> dg.AssetKey:
        """The key of the asset whose partitions are its cells, the only step that needs a GPU."""
        return self.key(self.asks)

    def key(self, noun: str) -> dg.AssetKey:
        """The full key of its asset with this name."""
        return dg.AssetKey([self.name, noun])

    def called(self, name: str) -> str:
        """The name of its group or job among those of all instruments."""
        return f"{self.name}_{name}" if self.is_named_everywhere else name

    def assets(self, study: Study) -> list[dg.AssetsDefinition]:
        """Its assets in a study.

        Raises:
            StudyError: of an instrument of another package, which cannot be imported or fails.
        """
        return call_of(self, self.wiring, study)

    def parts_of(self, study: Study) -> tuple[Part, ...]:
        """Its parts in a study, in the order of tables and pages; errors as of `assets`."""
        return tuple(call_of(self, self.parts, study))

    def part_of(self, study: Study, name: str) -> Part:
        """Its part with this name; KeyError where the study has no such part."""
        return {part.name: part for part in self.parts_of(study)}[name]

    def cells(self, study: Study) -> list[Cell]:
        """Its cells: every family with every part whose language the family supports."""
        return cells_of(study, self.parts_of(study))


def wired(record: InstrumentRecord) -> Instrument:
    """An instrument of its record."""
    return Instrument(**asdict(record))


SURVEY = wired(instruments.SURVEY)
WORLDVALUESBENCH = wired(instruments.WORLDVALUESBENCH)
PSYCH_TASKS = wired(instruments.PSYCH_TASKS)
CULTURAL_ROBUSTNESS = wired(instruments.CULTURAL_ROBUSTNESS)
WORLDWISE = wired(instruments.WORLDWISE)
INSTRUMENTS = (SURVEY, WORLDVALUESBENCH, PSYCH_TASKS, CULTURAL_ROBUSTNESS, WORLDWISE)
MODELS = Instrument(
    "models",
    settings="valuesassets.records.settings.cells:Family",
    wiring="valuesassets.orchestration.assets.weights:weights_assets",
    package="valuesassets.instruments.models",
    is_named_everywhere=False,
    table="families",
)
"""Wired like an instrument: the models' weights, which all instruments share."""


def instruments_of(study: Study) -> list[Instrument]:
    """The instruments that a study runs, which are those with a table in its file."""
    tables = study.instrument_tables()
    others = [wired(record) for record in installed().instruments.values()] if {*tables} - {*Study.model_fields} else []
    return [instrument for instrument in (*INSTRUMENTS, *others) if instrument.study_key in tables]


def declare_own_tables() -> None:
    """Declare the tables of all instruments of this package."""
    for instrument in INSTRUMENTS:
        import_module(f"{instrument.package}.tables")
