"""The command `psych-tasks read`, which reads a model at every answer of a file of transcripts."""

import datetime
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from valuesassets.cli.asking import ChosenModel, Replies, choose_model
from valuesassets.cli.completion import offer_tasks
from valuesassets.cli.inputs import require_folder_place
from valuesassets.cli.options import LoadedModelOptions
from valuesassets.records.errors import MissingData
from valuesassets.records.settings.prompting import AS_TEXT, Prompting
from valuesassets.records.settings.psych_tasks import History

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.models.loaded_model import OpenedModel

Layout = Literal["auto", "marked", "plain", "chat"]
DESCRIPTION = (
    *("weights_id", "adapter", "adapter_revision", "adapter_sha256", "adapter_base"),
    *("dtype", "scorer_version", "road", "chunk", "batch_invariance", "torch", "notes"),
)
"""What `run.json` has of how readings came about."""


def read(
    transcripts: Annotated[Path, typer.Option(readable=False, help="Transcripts of participants (JSON lines).")],
    task: Annotated[
        str, typer.Option(autocompletion=offer_tasks, help="Name of a bundled task, or a task file of your own (TOML).")
    ],
    output: Annotated[
        Path, typer.Option(help="Folder for candidates.parquet, marks.parquet, donors.parquet and run.json.")
    ],
    *,
    history: Annotated[
        list[str] | None,
        typer.Option(
            help="What a model sees before each answer: alone, own, human, other, permuted, answers or blank; may be "
            "repeated, human if left out."
        ),
    ] = None,
    layout: Annotated[
        Layout,
        typer.Option(help="How a transcript is shown; auto: as a chat where the model has a template, else marked."),
    ] = "auto",
    participants: Annotated[
        int | None, typer.Option(min=1, help="Read only the first N transcripts; all if left out.")
    ] = None,
    own_draws: Annotated[int, typer.Option(min=1, help="How often the model's own answers are drawn.")] = 1,
    template_date: Annotated[
        str | None, typer.Option(help="Day that a chat template takes for today, as 2026-01-31.")
    ] = None,
    options: LoadedModelOptions,
) -> None:
    """Read how probable a model finds each possible answer wherever a participant answered, after each history."""
    from valuesassets.instruments.psych_tasks.answers.answer_distributions import derive_answer_distributions
    from valuesassets.instruments.psych_tasks.material.histories import HISTORIES
    from valuesassets.instruments.psych_tasks.material.marks import people_of
    from valuesassets.instruments.psych_tasks.material.task_files import load_task, task_path
    from valuesassets.instruments.psych_tasks.material.transcripts import derive_transcripts, task_transcripts
    from valuesassets.instruments.psych_tasks.trials.asked_marks import ask_task

    names = dict.fromkeys(history or ["human"])
    if unknown := [name for name in names if name not in HISTORIES]:
        raise typer.BadParameter(f"--history {unknown[0]}: one of {', '.join(HISTORIES)} was expected")
    histories: list[History] = [name for name in HISTORIES if name in names or (name == "human" and "other" in names)]
    require_folder_place(output)
    model = choose_model(options)
    of_task = load_task(task)
    people = people_of(task_transcripts(derive_transcripts(transcripts, of_task, participants)), of_task)
    opened, laid_out = _open(model, layout, template_date)
    is_chat = laid_out == "chat"
    if has_chat_template(opened):
        how = "in a chat" if is_chat else "in bare text all the same"
        instead = "--layout marked asks it in bare text" if is_chat else "--layout chat asks it in a chat"
        print(f"{options.model}: its tokenizer has a chat template, and it is asked {how}; {instead}")
    asking = ask_task(people, of_task, histories, ["auto" if is_chat else laid_out], own_draws)
    n_marks = sum(len(person.marks) for person in people)
    marks = f"{n_marks} marks of {len(people)} participants, laid out {laid_out}"
    print(f"{model.name}: {marks}; {len(asking.trials)} passages to read")
    if not asking.trials:
        raise MissingData(f"{transcripts}: no mark can be asked at; see `valuesassets psych-tasks check`")
    replies = model.ask(asking.trials, "reading marks", opened)
    frames = derive_answer_distributions(
        asking.rows, people, of_task, asking.trials, replies.readings, is_chat, _context_tokens(replies)
    )
    run = {
        "model": model.name,
        "revision": opened.describe().get("revision"),
        "task": of_task.name,
        "task_file": task_path(task).read_text(encoding="utf-8"),
        "transcripts": transcripts.name,
        "layout": laid_out,
        "histories": histories,
        **{key: replies.description[key] for key in DESCRIPTION if key in replies.description},
        **{key: getattr(replies.result, key, 0) for key in ("tokens_body", "tokens_certificate", "rows_head")},
    }
    _write(output, frames, run)
    _print(model.name, of_task.name, frames["marks"], output)


def _open(
    model: ChosenModel, layout: Layout, template_date: str | None
) -> "tuple[OpenedModel, Literal['marked', 'plain', 'chat']]":
    """The model with its tokenizer, and the layout in which it is shown transcripts."""
    if layout != "chat":
        opened = model.open(AS_TEXT)
        if layout != "auto" or not has_chat_template(opened):
            return opened, "marked" if layout == "auto" else layout
    day = _parse_day(template_date)
    return model.open(Prompting(style="chat", answer_prefix="none", template_date=day)), "chat"


def has_chat_template(opened: "OpenedModel") -> bool:
    """Whether a model's tokenizer has a template for chats."""
    return bool(getattr(opened.tokenizer.hf, "chat_template", None))


def _parse_day(day: str | None) -> datetime.date | None:
    try:
        return None if day is None else datetime.date.fromisoformat(day)
    except ValueError:
        raise typer.BadParameter(f"--template-date {day}: a day such as 2026-01-31 was expected") from None


def _context_tokens(replies: Replies) -> dict[tuple[str, int], int | None]:
    """By trial and number of the span, how many tokens stand before it."""
    from valuesassets.models.spans.entries import SpanEntry

    entries = (entry for entry in replies.asking.entries if isinstance(entry, SpanEntry))
    return {(entry.trial_id, entry.number): entry.context_tokens for entry in entries}


def _write(output: Path, frames: "Mapping[str, pd.DataFrame]", run: Mapping[str, Any]) -> None:
    from valuesassets.instruments.psych_tasks.tables import CANDIDATES, DONORS, MARKS
    from valuesassets.records.parquet import write_frame
    from valuesassets.records.seals import write_record

    (output / "run.json").unlink(missing_ok=True)  # written last, it stands for all of them
    for table, frame in ((MARKS, frames["marks"]), (CANDIDATES, frames["candidates"]), (DONORS, frames["donors"])):
        write_frame(output / f"{table.name.rpartition('/')[2]}.parquet", frame, table)
    write_record(output / "run.json", dict(run))


def _print(model: str, task: str, marks: "pd.DataFrame", output: Path) -> None:
    """Print how many marks have each status, and doubts about the answers; MissingData where no mark could be read."""
    from valuesassets.instruments.psych_tasks.answers.mark_ledger import derive_mark_ledger
    from valuesassets.instruments.psych_tasks.report.gates import weaknesses
    from valuesassets.instruments.psych_tasks.tables import TASK_MARKS

    counts = Counter(marks["status"])
    print(f"{model}: " + ", ".join(f"{n} {status}" for status, n in counts.most_common()))
    unread = marks.loc[marks["p_valid"].isna() & marks["reason"].notna()]
    first = f", the first because: {unread['reason'].iloc[0]}" if len(unread) else ""
    if marks["p_valid"].isna().to_numpy().all():
        raise MissingData(f"{model}: none of {len(marks)} marks could be read{first}; see {output}/marks.parquet")
    no_marks = TASK_MARKS.empty_frame().assign(task=[])
    for weakness in weaknesses({"mark_ledger": derive_mark_ledger(marks.assign(model=model, task=task), no_marks)}):
        print(weakness)
    n_unread = f"; {len(unread)} marks unread{first}" if first else ""
    print(f"{output}: candidates.parquet, marks.parquet, donors.parquet, run.json{n_unread}")
