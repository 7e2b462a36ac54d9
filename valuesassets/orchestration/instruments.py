"""The instruments, one entry each: its name, its cells, and the modules that wire its assets.

Modules are named by strings, so that loading one instrument's graph does not import the others.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Literal

import dagster as dg

from valuesassets.records.study import Cell, Part, Study, cells_of
from valuesassets.reporting.analyses import named


@dataclass(frozen=True)
class Instrument:
    """One instrument of a study.

    Attributes:
        name: first word of its assets' keys, folder of its files, and its command.
        settings: its table in the study file; a study with this table runs the instrument.
        wiring: `module:function`; the function returns its assets in a study.
        part: name of the second dimension of its partitions, beside `model`.
        parts: `module:function`; the function returns its parts in a study. The module imports no derivation.
        jobs: `module:function`; the function returns the jobs in a study that only this instrument has.
        home: the package that derives its assets; `valuesassets.instruments.<name>` if empty.
        is_named_everywhere: whether names of its groups and jobs contain its name; the survey's do not.
        checks: names of checks in `orchestration/record_checks.py` on its cells' records.
        asks: the asset of its cells: `readings` of probabilities, or `answers` that models write.
        chat_trials: the asset with the trials for chat models; others are asked `trials`.
        answer_pages: the asset that writes a page for each cell, `<model>/<part>.html`, with prompts and answers.
        scale: `module:function`, which gives the places of the codes of each ordinal question; families with `draws`
            are asked for written answers in the instruments that have one.
    """

    name: str
    settings: str
    wiring: str
    part: str = "language"
    parts: str = "valuesassets.records.study:language_parts"
    jobs: str = ""
    home: str = ""
    is_named_everywhere: bool = True
    checks: tuple[str, ...] = ()
    asks: Literal["readings", "answers"] = "readings"
    chat_trials: str = "trials"
    answer_pages: str = ""
    scale: str = ""

    @property
    def package(self) -> str:
        """The name of the package that derives its assets."""
        return self.home or f"valuesassets.instruments.{self.name}"

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
        """Its assets in a study."""
        return named(self.wiring)(study)

    def parts_of(self, study: Study) -> tuple[Part, ...]:
        """Its parts in a study, in the order of tables and pages."""
        return tuple(named(self.parts)(study))

    def part_of(self, study: Study, name: str) -> Part:
        """Its part with this name; KeyError where the study has no such part."""
        return {part.name: part for part in self.parts_of(study)}[name]

    def cells(self, study: Study) -> list[Cell]:
        """Its cells: every family with every part whose language the family supports."""
        return cells_of(study, self.parts_of(study))


SURVEY = Instrument(
    "survey",
    settings="questionnaires",
    wiring="valuesassets.orchestration.assets.survey.material:survey_assets",
    jobs="valuesassets.orchestration.assets.survey.material:survey_jobs",
    is_named_everywhere=False,
    scale="valuesassets.instruments.survey.material.analysis_scale:ordinal_places",
)
WORLDVALUESBENCH = Instrument(
    "worldvaluesbench",
    settings="worldvaluesbench",
    wiring="valuesassets.orchestration.assets.worldvaluesbench.material:worldvaluesbench_assets",
    part="set",
    parts="valuesassets.instruments.worldvaluesbench.material.parts:parts",
)
PSYCH_TASKS = Instrument(
    "psych_tasks",
    settings="psych_tasks",
    wiring="valuesassets.orchestration.assets.psych_tasks.material:psych_tasks_assets",
    part="task",
    parts="valuesassets.instruments.psych_tasks.material.parts:parts",
)
CULTURAL_ROBUSTNESS = Instrument(
    "cultural_robustness",
    settings="cultural_robustness",
    wiring="valuesassets.orchestration.assets.cultural_robustness.material:cultural_robustness_assets",
    checks=("every_answer_is_written", "answers_come_to_an_end"),
    asks="answers",
    chat_trials="chat_trials",
    answer_pages="answer_quality",
)
WORLDWISE = Instrument(
    "worldwise",
    settings="worldwise",
    wiring="valuesassets.orchestration.assets.worldwise.material:worldwise_assets",
    part="culture",
    parts="valuesassets.instruments.worldwise.material.parts:parts",
)
INSTRUMENTS = (SURVEY, WORLDVALUESBENCH, PSYCH_TASKS, CULTURAL_ROBUSTNESS, WORLDWISE)
MODELS = Instrument(
    "models",
    settings="families",
    wiring="valuesassets.orchestration.assets.weights:weights_assets",
    is_named_everywhere=False,
)
"""Wired like an instrument: the models' weights, which all instruments share."""


def instruments_of(study: Study) -> list[Instrument]:
    """The instruments that a study runs, which are those with a table in its file."""
    return [instrument for instrument in INSTRUMENTS if getattr(study, instrument.settings, None) is not None]


def declare_own_tables() -> None:
    """Declare the tables of all instruments."""
    for instrument in INSTRUMENTS:
        import_module(f"{instrument.package}.tables")
