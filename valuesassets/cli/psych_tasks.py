"""The commands of psych tasks: from a file of transcripts to what models make of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.completion import offer_tasks
from valuesassets.cli.inputs import require_file_place, require_folder_place
from valuesassets.cli.outputs import ends_of
from valuesassets.records.errors import MissingData, QuestionError
from valuesassets.records.files import write_json

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
    task: Annotated[
        str, typer.Option(autocompletion=offer_tasks, help="Name of a bundled task, or a task file of your own (TOML).")
    ],
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


def reliability(
    scores: Annotated[
        Path,
        typer.Argument(
            metavar="SCORES",
            readable=False,
            help="Item scores (CSV: experiment, model, item, score; category where scales have parts; line where "
            "models are related).",
        ),
    ],
    output: Annotated[Path, typer.Option(help="File for the figures (JSON).")],
    keying: Annotated[
        Path | None,
        typer.Option(
            readable=False,
            help="Which items are reverse-keyed (CSV: experiment, item, is_reversed, true or false). Scores are then "
            "expected as labelled: nothing is recoded, for alpha neither.",
        ),
    ] = None,
) -> None:
    """Compute Cronbach's alpha over models, with intervals; with --keying also whether answers follow trait or label.

    Intervals and tests are over lines of models, which are taken as independent: the file's column line, else the part
    of a model's name before its size. Alpha is of the scores AS GIVEN: reverse-keyed items are never recoded, with
    --keying or without.
    """
    from valuesassets.instruments.psych_tasks.measures.score_files import (
        keying_rows,
        left_out,
        read_keying,
        read_scores,
        scale_rows,
    )

    require_file_place(output, "JSON")
    frame = read_scores(scores)
    is_reversed = read_keying(keying, frame, scores) if keying is not None else None
    if keying is not None and (forward := left_out(keying, frame)):
        print(f"{keying}: no item of {', '.join(forward)} in it: taken as keyed forward, all of them")
    scales = scale_rows(frame)
    preferences = keying_rows(frame, is_reversed) if is_reversed is not None else []
    write_json(output, {"scales": scales, "keying": preferences})
    _print_scales(scales, preferences)
    print(f"{output}: {len(scales)} scales, {len(preferences)} keyings")


def _print_scales(scales: Sequence[Mapping[str, Any]], preferences: Sequence[Mapping[str, Any]]) -> None:
    for row in scales:
        name = " ".join(filter(None, (row["experiment"], row["category"])))
        alpha = row["reason"] or (
            f"alpha {row['alpha']:.3f}{ends_of(row, 'alpha', '.3f')}, without covariance "
            f"{row['null_low']:.2f} to {row['null_high']:.2f}"
        )
        models = f"{row['models']} models" + (f" of {row['lines']} lines" if row["lines"] < row["models"] else "")
        print(f"{name}: {models}, {row['items']} items: {alpha}")
    for row in preferences:
        result = row["reason"] or (
            f"rho {row['rho']:.3f}, pi_bias {row['pi_bias']:.3f}{ends_of(row, 'pi_bias', '.3f')}, "
            f"{row['lines']} lines, p {row['p']:.3f}: {row['verdict']}"
        )
        print(f"{row['experiment']}, forward- against reverse-keyed: {result}")
