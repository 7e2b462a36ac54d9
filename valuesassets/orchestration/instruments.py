"""The instruments: what each is called, what its cells are, and where its assets are wired. One entry for each.

Wiring and parts are named by strings, so that loading one instrument's graph imports no other's.
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
        settings: the table of the study file that it runs for.
        wiring: `module:function`; the function gives its assets in a study.
        part: name of its second dimension of partitions, beside `model`.
        parts: `module:function`; the function gives its parts in a study. It imports no derivation.
        jobs: `module:function`; the function gives the jobs that only this instrument has in a study.
        home: the package that derives its assets, where that is not `valuesassets.instruments.<name>`.
        is_named_everywhere: whether its groups and jobs have its name in theirs; the survey's are older than others.
        tables: modules, separated by a blank, that declare the tables that it alone writes.
        checks: names of those in `orchestration/record_checks.py` that look at its cells' records.
        asks: the asset of its cells: `readings` of probabilities, or `answers` that models write.
        chat_trials: the asset of what families are asked that are asked in chat; others are asked `trials`.
        answer_pages: the asset that leaves a page for each cell, `<model>/<part>.html`, with its prompts and answers.
    """

    name: str
    settings: str
    wiring: str
    part: str = "language"
    parts: str = "valuesassets.records.study:language_parts"
    jobs: str = ""
    home: str = ""
    is_named_everywhere: bool = True
    tables: str = ""
    checks: tuple[str, ...] = ()
    asks: Literal["readings", "answers"] = "readings"
    chat_trials: str = "trials"
    answer_pages: str = ""

    @property
    def asked(self) -> dg.AssetKey:
        """The asset that its cells materialise: the one GPU step."""
        return self.key(self.asks)

    def key(self, noun: str) -> dg.AssetKey:
        """The whole key of its asset of that name."""
        return dg.AssetKey([self.name, noun])

    def called(self, name: str) -> str:
        """What its group or job of that name is called among those of all instruments."""
        return f"{self.name}_{name}" if self.is_named_everywhere else name

    def assets(self, study: Study) -> list[dg.AssetsDefinition]:
        """Its assets in a study."""
        return named(self.wiring)(study)

    def parts_of(self, study: Study) -> tuple[Part, ...]:
        """Its parts in a study, in the order of tables and pages."""
        return tuple(named(self.parts)(study))

    def part_of(self, study: Study, name: str) -> Part:
        """Its part of that name.

        Raises:
            KeyError: the study has no such part.
        """
        return {part.name: part for part in self.parts_of(study)}[name]

    def cells(self, study: Study) -> list[Cell]:
        """Every family with every part whose language it serves."""
        return cells_of(study, self.parts_of(study))


SURVEY = Instrument(
    "survey",
    settings="questionnaires",
    wiring="valuesassets.orchestration.assets.survey.material:survey_assets",
    jobs="valuesassets.orchestration.assets.survey.material:survey_jobs",
    is_named_everywhere=False,
    tables="valuesassets.instruments.survey.tables",
)
WORLDVALUESBENCH = Instrument(
    "worldvaluesbench",
    settings="worldvaluesbench",
    wiring="valuesassets.orchestration.assets.worldvaluesbench.material:worldvaluesbench_assets",
    part="set",
    parts="valuesassets.instruments.worldvaluesbench.parts:parts",
    tables="valuesassets.instruments.worldvaluesbench.tables",
)
PSYCH_TASKS = Instrument(
    "psych_tasks",
    settings="psych_tasks",
    wiring="valuesassets.orchestration.assets.psych_tasks.material:psych_tasks_assets",
    part="task",
    parts="valuesassets.instruments.psych_tasks.parts:parts",
    tables="valuesassets.instruments.psych_tasks.tables",
)
CULTURAL_ROBUSTNESS = Instrument(
    "cultural_robustness",
    settings="cultural_robustness",
    wiring="valuesassets.orchestration.assets.cultural_robustness.material:cultural_robustness_assets",
    tables="valuesassets.instruments.cultural_robustness.tables "
    "valuesassets.instruments.cultural_robustness.stored_tables",
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
    parts="valuesassets.instruments.worldwise.parts:parts",
    tables="valuesassets.instruments.worldwise.tables valuesassets.instruments.worldwise.measure_tables",
)
INSTRUMENTS = (SURVEY, WORLDVALUESBENCH, PSYCH_TASKS, CULTURAL_ROBUSTNESS, WORLDWISE)
MODELS = Instrument(
    "models",
    settings="families",
    wiring="valuesassets.orchestration.assets.weights:weights_assets",
    is_named_everywhere=False,
)
"""No instrument, but wired as one: what all of them need of a study's models."""


def instruments_of(study: Study) -> list[Instrument]:
    """The instruments that a study runs: those whose table stands in its file."""
    return [instrument for instrument in INSTRUMENTS if getattr(study, instrument.settings, None) is not None]


def declare_own_tables() -> None:
    """Have the tables declared that single instruments alone write."""
    for instrument in INSTRUMENTS:
        for module in instrument.tables.split():
            import_module(module)
