"""`psych_tasks/transcripts`: people's transcripts, each with the presentation of its scales."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.records.errors import QuestionError
from valuesassets.records.files import read_text
from valuesassets.records.frames import records
from valuesassets.records.marks import Transcript, read_transcripts

FORWARD, REVERSED = "forward", "reversed"


class TaskTranscript(NamedTuple):
    """What a participant was shown and answered.

    Attributes:
        presentation: whether scales were shown forward or reversed; None where the task has one presentation.
    """

    experiment: str
    participant: str
    presentation: Literal["forward", "reversed"] | None
    text: str


def derive_transcripts(path: Path, task: Task, participants: int | None = None) -> pd.DataFrame:
    """The transcripts of a file as a table, the first `participants` of them.

    Raises:
        QuestionError: the file cannot be read, or the task lists no presentation of a transcript; names file and line.
    """
    transcripts = read_transcripts(path)[:participants]
    if not transcripts:
        raise QuestionError(
            f"{path}: no transcript in it; name a file of JSON lines with text, experiment, participant"
        )
    text = read_text(path, "a file of JSON lines", QuestionError)
    numbers = [number for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    numbered = zip(transcripts, numbers, strict=False)
    return pd.DataFrame(
        [task_transcript(transcript, task, f"{path}: line {number}") for transcript, number in numbered]
    )


def task_transcript(transcript: Transcript, task: Task, source: str) -> TaskTranscript:
    """A transcript with its presentation.

    Raises:
        QuestionError: its field has a value that the task does not list; names source and participant.
    """
    presentation = None
    if task.reversed is not None:
        value = (transcript.model_extra or {}).get(task.reversed.field)
        is_reversed = task.reversed.is_reversed(value)
        if is_reversed is None:
            yes, no = (", ".join(map(repr, values)) for values in (task.reversed.yes, task.reversed.no))
            raise QuestionError(
                f"{source}: participant {transcript.participant} of {transcript.experiment}: {task.reversed.field} is "
                f"{value!r}, the task {task.name} knows {yes} and {no}; mend the line, or list it in the task file"
            )
        presentation = REVERSED if is_reversed else FORWARD
    return TaskTranscript(transcript.experiment, transcript.participant, presentation, transcript.text)


def task_transcripts(frame: pd.DataFrame) -> Iterator[TaskTranscript]:
    """The rows of the table as records."""
    for row in records(frame):
        presentation = None if pd.isna(row["presentation"]) else row["presentation"]
        yield TaskTranscript(row["experiment"], row["participant"], presentation, row["text"])
