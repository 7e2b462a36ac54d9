"""The commands `psych_tasks draft` and `psych_tasks check`: a task file, and which answers of it can be asked about."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from valuesassets.cli.inputs import require_file_place, require_folder_place
from valuesassets.records.errors import MissingData, QuestionError

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.instruments.psych_tasks.material.marks import Person
    from valuesassets.instruments.psych_tasks.material.task_files import Task

MARKS_FILE, LEDGER_FILE = "marks.parquet", "ledger.csv"
TranscriptsFile = Annotated[
    Path,
    typer.Argument(
        metavar="TRANSCRIPTS", readable=False, help="Transcripts: JSON lines with text, experiment and participant."
    ),
]


def draft(transcripts: TranscriptsFile) -> None:
    """Print a first task file, with delimiters, blocks, marks and answers as they appear in transcripts."""
    from valuesassets.instruments.psych_tasks.material.task_drafts import draft_task
    from valuesassets.records.marks import read_transcripts

    people = read_transcripts(transcripts)
    if not people:
        raise QuestionError(f"{transcripts}: no transcript in it; name a file of JSON lines with text and participant")
    print(draft_task(people, str(transcripts)), end="")


def check(
    transcripts: TranscriptsFile,
    task: Annotated[str, typer.Option(help="Name of a bundled task, or a task file of your own (TOML).")],
    output: Annotated[Path, typer.Option(help=f"Folder for {MARKS_FILE} and {LEDGER_FILE}.")],
    most_unread: Annotated[
        float,
        typer.Option(min=0, max=1, help="Largest share of marks that may be impossible to ask, or lack their item."),
    ] = 0.01,
) -> None:
    """Check, for every answer that is marked in transcripts, whether a model can be asked about it; exit 1 if not."""
    from valuesassets.instruments.psych_tasks.material.marks import derive_ledger, mark_rows, people_of, unread_rows
    from valuesassets.instruments.psych_tasks.material.marks_without_item import marks_without_item
    from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
    from valuesassets.instruments.psych_tasks.material.task_files import load_task
    from valuesassets.instruments.psych_tasks.material.transcripts import derive_transcripts, task_transcripts
    from valuesassets.instruments.psych_tasks.tables import TASK_MARKS

    of_task = load_task(task)
    require_folder_place(output)
    require_file_place(output / MARKS_FILE, "a parquet file")
    people = people_of(task_transcripts(derive_transcripts(transcripts, of_task)), of_task)
    rows = TASK_MARKS.frame(mark_rows(people, of_task))
    _write(output, rows, derive_ledger(rows))
    _print_counts(rows)
    _print_strays(people, of_task)
    without = marks_without_item(people, of_task)
    if without:
        first = without[0]
        where = f"first {first['experiment']}/{first['participant']}: {first['reason']}"
        print(f"{len(without)} marks stand without their item; {where}")
    n_marks = sum(len(each.marks) for each in people)
    unread = Counter(row["status"] for row in unread_rows(rows) if row["status"] != MarkStatus.NO_MARKS)
    n_unread = unread.total()
    print(f"{n_marks} marks in {len(people)} transcripts, {n_unread} cannot be asked; see {output / MARKS_FILE}")
    if not n_marks:
        raise MissingData(f"{transcripts}: no mark in any transcript: {rows['reason'].iloc[0]}")
    if n_unread > most_unread * n_marks:
        ((prevailing, _),) = unread.most_common(1)
        raise MissingData(
            f"{transcripts}: {n_unread} of {n_marks} marks cannot be asked ({n_unread / n_marks:.1%}), at most "
            f"{most_unread:.1%} may: most are {prevailing}; see `status` and `reason` in {output / MARKS_FILE}"
        )
    if len(without) > most_unread * n_marks:
        raise MissingData(
            f"{transcripts}: {len(without)} of {n_marks} marks ({len(without) / n_marks:.1%}) stand without an item, "
            f"at most {most_unread:.1%} may, since what is read there is of another item: {without[0]['reason']}"
        )


def _write(output: Path, rows: "pd.DataFrame", ledger: "pd.DataFrame") -> None:
    from valuesassets.instruments.psych_tasks.tables import TASK_MARKS
    from valuesassets.records.csv_tables import csv_text
    from valuesassets.records.files import whole_file
    from valuesassets.records.parquet import write_frame

    with whole_file(output / LEDGER_FILE) as temporary:
        temporary.write_text(csv_text(ledger), encoding="utf-8")
        write_frame(output / MARKS_FILE, rows, TASK_MARKS)


def _print_counts(rows: "pd.DataFrame") -> None:
    """Print a line for each status, with its first mark and the reason."""
    from valuesassets.records.frames import parts_of

    for (status,), part in sorted(parts_of(rows, ["status"]), key=lambda group: -len(group[1])):
        n_transcripts = len(part.drop_duplicates(["experiment", "participant"]))
        first, n_marks = part.iloc[0], int(part["mark"].notna().sum())
        where = f"; first {first['experiment']}/{first['participant']}: {first['reason']}" if first["reason"] else ""
        print(f"{status:<14} {n_marks:>8} marks in {n_transcripts} transcripts{where}")


def _print_strays(people: "list[Person]", task: "Task") -> None:
    """Print a line where closing delimiters close no mark."""
    from valuesassets.records.marks import find_marks

    strays = [(each, reason) for each in people for reason in find_marks(each.transcript.text, task.delimiters)[1]]
    if strays:
        (first, reason), (opening, closing) = strays[0], task.delimiters
        where = f"first {first.experiment}/{first.participant}: {reason}"
        print(f"{len(strays)} {closing!r} without {opening!r} are no marks; {where}")
