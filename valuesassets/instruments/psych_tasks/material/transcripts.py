"""`psych_tasks/transcripts`: people's transcripts as their file has them, with the presentation of each."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.records.errors import QuestionError
from valuesassets.records.files import read_text
from valuesassets.records.frames import records
from valuesassets.records.marks import Transcript, read_transcripts

FORWARD, REVERSED = "forward", "reversed"


class Shown(NamedTuple):
    """What a participant was shown and answered.

    Attributes:
        presentation: which way round scales were shown; None where the task knows one way only.
    """

    experiment: str
    participant: str
    presentation: Literal["forward", "reversed"] | None
    text: str


def derive_transcripts(path: Path, task: Task, participants: int | None = None) -> pd.DataFrame:
    """The transcripts of a file as a table, the first `participants` of them.

    Raises:
        QuestionError: the file cannot be read, or a transcript says nothing of its presentation that the task lists;
            names file and line.
    """
    found = read_transcripts(path)[:participants]
    if not found:
        raise QuestionError(
            f"{path}: no transcript in it; name a file of JSON lines with text, experiment, participant"
        )
    text = read_text(path, "a file of JSON lines", QuestionError)
    lines = [number for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    shown = zip(found, lines, strict=False)
    return pd.DataFrame([shown_of(transcript, task, f"{path}: line {number}") for transcript, number in shown])


def shown_of(transcript: Transcript, task: Task, source: str) -> Shown:
    """A transcript with its presentation.

    Raises:
        QuestionError: its field says something that the task does not list; names source and participant.
    """
    presentation = None
    if task.reversed is not None:
        said: Any = (transcript.model_extra or {}).get(task.reversed.field)
        is_reversed = task.reversed.is_reversed(said)
        if is_reversed is None:
            yes, no = (", ".join(map(repr, values)) for values in (task.reversed.yes, task.reversed.no))
            raise QuestionError(
                f"{source}: participant {transcript.participant} of {transcript.experiment}: {task.reversed.field} is "
                f"{said!r}, the task {task.name} knows {yes} and {no}; mend the line, or list it in the task file"
            )
        presentation = REVERSED if is_reversed else FORWARD
    return Shown(transcript.experiment, transcript.participant, presentation, transcript.text)


def shown_rows(frame: pd.DataFrame) -> Iterator[Shown]:
    """The rows of the table as records."""
    for row in records(frame):
        said = row["presentation"]
        yield Shown(row["experiment"], row["participant"], None if pd.isna(said) else said, row["text"])


def by_person(people: Sequence[Any]) -> dict[tuple[str, str], Any]:
    """Anything that has `experiment` and `participant`, by these."""
    return {(person.experiment, person.participant): person for person in people}
