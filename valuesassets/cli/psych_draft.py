"""The command `psych draft`: a task file to begin with, out of the transcripts themselves."""

from pathlib import Path
from typing import Annotated

import typer

from valuesassets.records.errors import QuestionError

TranscriptsFile = Annotated[
    Path,
    typer.Argument(metavar="TRANSCRIPTS", readable=False, help="JSON lines with text, experiment and participant."),
]


def draft(transcripts: TranscriptsFile) -> None:
    """Print a task file to begin with: delimiters, blocks, kinds of marks and what may be answered, as they seem."""
    from valuesassets.instruments.psych_tasks.task_drafts import draft_task
    from valuesassets.records.marks import read_transcripts

    found = read_transcripts(transcripts)
    if not found:
        raise QuestionError(f"{transcripts}: no transcript in it; name a file of JSON lines with text and participant")
    print(draft_task(found, str(transcripts)), end="")
