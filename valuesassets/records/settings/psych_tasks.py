"""`[psych_tasks]`: the transcripts of experiments that models continue, and the histories before each answer."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import pydantic

from valuesassets.records.files import no_such_file, no_such_name, read_toml
from valuesassets.records.places import STUDIES, bundled_names
from valuesassets.records.settings.human import DataFile
from valuesassets.records.settings.kinds import (
    FamilyName,
    InstrumentTable,
    LanguageCode,
    NamedOnce,
    Positive,
    Record,
    Share,
)

if TYPE_CHECKING:
    from valuesassets.records.study import Study

History = Literal["alone", "own", "human", "other", "permuted", "answers", "blank"]
Layout = Literal["auto", "marked", "plain"]


FOLDER = __name__.rpartition(".")[2]
"""The folder of the bundled task files in studies/, named like this table."""
PLANTED_TASKS = ("ipip_traits", "monthly_counts", "balloons")
"""The tasks for which people are made up, by the names in their files."""


def _task_file(task: str, info: pydantic.ValidationInfo) -> str:
    """A bundled task's name, or the absolute path of a task file, which is relative to the study file."""
    bundled = bundled_names(FOLDER, ".toml")
    if task in bundled or not info.context:
        return task
    path = Path(info.context["folder"], os.path.expanduser(task)).resolve()
    if not path.is_file():
        raise ValueError(no_such_file(path, "task file", bundled))
    return str(path)


class AskedTask(Record):
    """One task: the transcripts of its participants, and the task file, which describes their marks."""

    transcripts: Literal["planted"] | DataFile
    """A file of JSON lines with text, experiment and participant; or `planted`, made-up people."""
    task: Annotated[str, pydantic.AfterValidator(_task_file)] | None = None
    """Name of a bundled task file, or the path of one; the task's own name if left out."""
    participants: Positive | None = None
    """Number of transcripts to use from the beginning of the file, all if left out; or the number of made-up people."""
    language: LanguageCode = "eng"
    """Language of the transcripts; a family with a model per language uses the model of this one."""


class PlantedModel(Record):
    """The planted response model of a reference family: a mixture of the item's own answers, style and content."""

    style: Share
    """Share of answers that follow the frequencies of earlier answers, whatever the items."""
    content: Share = 0.0
    """Share of answers that follow earlier answers after reversing items of opposite keying."""

    @pydantic.model_validator(mode="after")
    def _leaves_something(self) -> "PlantedModel":
        if self.style + self.content >= 1:
            raise ValueError(f"style + content are {self.style + self.content:g}: nothing is left for the item itself")
        return self


class PsychTasks(InstrumentTable):
    """The transcripts that models continue, and the histories before each answer ([guide](psych_tasks.md))."""

    needs_languages: ClassVar[bool] = False

    tasks: Annotated[dict[FamilyName, AskedTask], pydantic.Field(min_length=1)]
    histories: Annotated[tuple[History, ...], pydantic.Field(min_length=1), NamedOnce] = (
        *("alone", "own", "human", "other", "permuted", "answers", "blank"),
    )
    """The text before an answer's block: nothing (`alone`), the transcript with the model's own answers (`own`), the
    participant's (`human`), another participant's (`other`) or the participant's in exchanged places (`permuted`), the
    answers without questions (`answers`), or a block without content (`blank`)."""
    layout: Annotated[tuple[Layout, ...], pydantic.Field(min_length=1), NamedOnce] = ("auto",)
    """How transcripts are shown: as a chat to chat families and with marks to others (`auto`), with marks to all
    (`marked`), or without marks (`plain`). Several are compared (`layout_effect`)."""
    own_draws: Positive = 1
    """Number of draws of the model's own answers; the first takes the likeliest answer each time."""
    unread_marks: Share = 0.01
    """Largest share of unread marks in a cell."""
    laws: dict[FamilyName, PlantedModel] = pydantic.Field(default_factory=dict)
    """Planted response models, by the name of a reference family."""
    lines: dict[FamilyName, Annotated[str, pydantic.Field(min_length=1)]] = pydantic.Field(default_factory=dict)
    """The line of models that a family belongs to. Differences between models are tested with lines, not models, as
    independent units. If left out, the model's name up to its size, without organisation and version."""

    @pydantic.model_validator(mode="after")
    def _other_needs_human(self) -> "PsychTasks":
        if "other" in self.histories and "human" not in self.histories:
            raise ValueError("histories: other takes the readings of human, which is not named; add human")
        return self

    def task_file(self, name: str) -> Path:
        """The path of a task's file."""
        task = self.tasks[name].task or name
        return STUDIES / FOLDER / f"{task}.toml" if task in bundled_names(FOLDER, ".toml") else Path(task)

    def _name_of(self, name: str) -> str:
        """The name of a task in its file; the file's own where it has none."""
        path = self.task_file(name)
        return str(read_toml(path, "a task file").get("name", path.stem))

    def check(self, study: "Study") -> None:
        """Require that tasks, languages and response models agree with the study.

        Raises:
            ValueError: they do not; names the key.
        """
        bundled = bundled_names(FOLDER, ".toml")
        for name, task in self.tasks.items():
            if task.task is None and name not in bundled:
                raise ValueError(
                    f"psych_tasks.tasks.{no_such_name(name, 'bundled task', bundled)}; or name a task file as task"
                )
        trained = [name for name, family in study.families.items() if family.kind == "reference"]
        for name, task in self.tasks.items():
            if task.language not in study.languages:
                raise ValueError(
                    f"psych_tasks.tasks.{name}.language: {task.language} is none of the study's languages "
                    f"({', '.join(study.languages)}); add it or name another"
                )
            if trained and task.transcripts != "planted":
                raise ValueError(
                    f"psych_tasks.tasks.{name}.transcripts: reference families learn made-up people alone, who answer "
                    f"{', '.join(PLANTED_TASKS)}; take the reference families ({', '.join(trained)}) out, or say "
                    "transcripts = 'planted'"
                )
            if task.transcripts == "planted" and (task_name := self._name_of(name)) not in PLANTED_TASKS:
                raise ValueError(
                    f"psych_tasks.tasks.{name}.transcripts: nobody is made up who answers {task_name}, only "
                    f"{', '.join(PLANTED_TASKS)}; name a file of transcripts"
                )
        if lacking := [name for name in trained if name not in self.laws]:
            raise ValueError(f"psych_tasks.laws: {lacking[0]} is trained here and has no entry; add its response model")
        if unknown := [name for name in self.laws if name not in trained]:
            raise ValueError(f"psych_tasks.laws: {unknown[0]} is no reference family of the study; name one")
        if unknown := [name for name in self.lines if name not in study.families]:
            raise ValueError(f"psych_tasks.lines: {unknown[0]} is no family of the study; name one or take it out")
