"""`[psych_tasks]`: whose transcripts models are asked in, and after which histories."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import pydantic

from valuesassets.records.files import no_such_file, no_such_name
from valuesassets.records.places import STUDIES, bundled_names
from valuesassets.records.settings.human import DataFile
from valuesassets.records.settings.kinds import FamilyName, InstrumentTable, LanguageCode, Positive, Record, Share

if TYPE_CHECKING:
    from valuesassets.records.study import Study

History = Literal["alone", "own", "human", "other", "permuted", "answers", "blank"]
Layout = Literal["auto", "marked", "plain"]


FOLDER = __name__.rpartition(".")[2]
"""Of the bundled task files, in studies/: named as this table is."""


def _task_file(task: str, info: pydantic.ValidationInfo) -> str:
    """A bundled name as it is; the path of a task file, which counts from the study file."""
    bundled = bundled_names(FOLDER, ".toml")
    if task in bundled or not info.context:
        return task
    path = Path(info.context["folder"], os.path.expanduser(task)).resolve()
    if not path.is_file():
        raise ValueError(no_such_file(path, "task file", bundled))
    return str(path)


class AskedTask(Record):
    """One task: the transcripts of its participants, and the file that says what their marks are."""

    transcripts: Literal["planted"] | DataFile
    """A file of JSON lines with text, experiment and participant; or made-up people (`planted`)."""
    task: Annotated[str, pydantic.AfterValidator(_task_file)] | None = None
    """Name of a bundled task file, or the path of one; the task's own name if left out."""
    participants: Positive | None = None
    """How many of the file's transcripts are asked, from its beginning; all if left out. Of made-up people, how many
    there are."""
    language: LanguageCode = "eng"
    """Language of the transcripts: families with a model for each language are asked by the model of this one."""


class PlantedLaw(Record):
    """How a reference family answers: by the item itself, by how often each was answered before, and by content."""

    style: Share
    """Share of answers that follow how often each was given before, whatever was asked."""
    content: Share = 0.0
    """Share of answers that follow the earlier ones once items of opposite keying are turned round."""

    @pydantic.model_validator(mode="after")
    def _leaves_something(self) -> "PlantedLaw":
        if self.style + self.content >= 1:
            raise ValueError(f"style + content are {self.style + self.content:g}: nothing is left for the item itself")
        return self


class PsychTasks(InstrumentTable):
    """Whose transcripts models are asked in, and after which histories ([guide](psych_tasks.md))."""

    needs_languages: ClassVar[bool] = False

    tasks: Annotated[dict[FamilyName, AskedTask], pydantic.Field(min_length=1)]
    histories: Annotated[tuple[History, ...], pydantic.Field(min_length=1)] = (
        *("alone", "own", "human", "other", "permuted", "answers", "blank"),
    )
    """What stands before a mark's block: nothing, the model's own answers, the participant's, another's, the
    participant's on each other's places, the answers alone, or (`blank`) a block without content."""
    layout: Annotated[tuple[Layout, ...], pydantic.Field(min_length=1)] = ("auto",)
    """How transcripts are shown: as a chat to families that are asked so, else with their marks (`auto`); with their
    marks to all; or without. Several are compared (`layout_effect`)."""
    own_draws: Positive = 1
    """How often the model's own answers are drawn; the first draw takes the likeliest answer each time."""
    unread_marks: Share = 0.01
    """Largest share of a cell's marks that may stay unread."""
    laws: dict[FamilyName, PlantedLaw] = pydantic.Field(default_factory=dict)
    """What is planted, by name of a reference family."""
    lines: dict[FamilyName, Annotated[str, pydantic.Field(min_length=1)]] = pydantic.Field(default_factory=dict)
    """The line of models that a family is of. What rests on differences between models takes lines, not models, for
    independent. If left out, by the model's name: what stands before its size, without organisation and version."""

    @pydantic.field_validator("histories", "layout")
    @classmethod
    def _named_once(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        twice = next((name for name in given if given.count(name) > 1), None)
        if twice:
            raise ValueError(f"{twice} stands there twice; name it once")
        return given

    @pydantic.model_validator(mode="after")
    def _other_needs_human(self) -> "PsychTasks":
        if "other" in self.histories and "human" not in self.histories:
            raise ValueError("histories: other takes the readings of human, which is not named; add human")
        return self

    def task_file(self, name: str) -> Path:
        """The task file of a task."""
        task = self.tasks[name].task or name
        return STUDIES / FOLDER / f"{task}.toml" if task in bundled_names(FOLDER, ".toml") else Path(task)

    def check(self, study: "Study") -> None:
        """See that languages and what is planted agree with the study.

        Raises:
            ValueError: they do not; names the key.
        """
        bundled = bundled_names(FOLDER, ".toml")
        for name, asked in self.tasks.items():
            if asked.task is None and name not in bundled:
                raise ValueError(
                    f"psych_tasks.tasks.{no_such_name(name, 'bundled task', bundled)}; or name a task file as task"
                )
        trained = [name for name, family in study.families.items() if family.kind == "reference"]
        for name, asked in self.tasks.items():
            if asked.language not in study.languages:
                raise ValueError(
                    f"psych_tasks.tasks.{name}.language: {asked.language} is none of the study's languages "
                    f"({', '.join(study.languages)}); add it or name another"
                )
            if trained and asked.transcripts != "planted":
                raise ValueError(
                    f"psych_tasks.tasks.{name}.transcripts: reference families learn made-up people alone; say "
                    "transcripts = 'planted', or take the reference families out"
                )
        if lacking := [name for name in trained if name not in self.laws]:
            raise ValueError(f"psych_tasks.laws: says nothing of {lacking[0]}, which is trained here; add its law")
        if unknown := [name for name in self.laws if name not in trained]:
            raise ValueError(f"psych_tasks.laws: {unknown[0]} is no reference family of the study; name one")
        if unknown := [name for name in self.lines if name not in study.families]:
            raise ValueError(f"psych_tasks.lines: {unknown[0]} is no family of the study; name one or take it out")
