"""The command that reads a model at every mark of a file of transcripts."""

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from valuesassets.cli.asking import KnownFolder, known_folder
from valuesassets.cli.inputs import name_of_model, require_folder_place
from valuesassets.cli.outputs import print_cautions, progress_bar
from valuesassets.records.errors import MissingData
from valuesassets.records.settings.prompting import AS_TEXT, Prompting
from valuesassets.records.settings.psych_tasks import History
from valuesassets.records.trials import Reading

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.models.loaded_model import OpenedModel

Layout = Literal["auto", "marked", "plain", "chat"]


def read(
    model: Annotated[str, typer.Option(help="Hub id, folder or GGUF file.")],
    transcripts: Annotated[Path, typer.Option(readable=False, help="Transcripts (JSON lines).")],
    task: Annotated[str, typer.Option(help="Name of a bundled task file, or the path of one.")],
    output: Annotated[
        Path, typer.Option(help="Folder for candidates.parquet, marks.parquet, donors.parquet, run.json.")
    ],
    history: Annotated[
        list[str] | None,
        typer.Option(help="alone, own, human, other, permuted, answers or blank; may be repeated. human if left out."),
    ] = None,
    layout: Annotated[
        Layout, typer.Option(help="auto: a chat where the tokenizer has a template for it, else marked.")
    ] = "auto",
    participants: Annotated[int | None, typer.Option(min=1, help="So many of the file's first transcripts.")] = None,
    own_draws: Annotated[int, typer.Option(min=1, help="How often the model's own answers are drawn.")] = 1,
    template_date: Annotated[
        str | None, typer.Option(help="The day that a chat template takes for today, as 2026-01-31.")
    ] = None,
    revision: Annotated[str | None, typer.Option(help="Commit or tag of the hub.")] = None,
    dtype: Annotated[Literal["float32", "bfloat16", "auto"], typer.Option(help="Weights in memory.")] = "auto",
    device: Annotated[Literal["cpu", "cuda", "auto"], typer.Option(help="Where to compute.")] = "auto",
    offline: Annotated[bool, typer.Option("--offline", help="Take the model from this machine's cache only.")] = False,
    known: KnownFolder = None,
) -> None:
    """Read how probable a model finds each candidate at every mark, after each history; every mark has its row."""
    from valuesassets.instruments.psych_tasks.asked_marks import ask_task
    from valuesassets.instruments.psych_tasks.histories import HISTORIES
    from valuesassets.instruments.psych_tasks.marks import people_of
    from valuesassets.instruments.psych_tasks.task_files import load_task, task_path
    from valuesassets.instruments.psych_tasks.transcripts import derive_transcripts, shown_rows

    asked = dict.fromkeys(history or ["human"])
    if unknown := [name for name in asked if name not in HISTORIES]:
        raise typer.BadParameter(f"--history {unknown[0]}: one of {', '.join(HISTORIES)} was expected")
    chosen: list[History] = [name for name in HISTORIES if name in asked or (name == "human" and "other" in asked)]
    require_folder_place(output)
    store_folder = known_folder(known)
    name = name_of_model(model, revision)
    of_task = load_task(task)
    people = people_of(shown_rows(derive_transcripts(transcripts, of_task, participants)), of_task)
    opened, shown = _opened(model, layout, template_date, revision, dtype, device, offline)
    is_chat = shown == "chat"
    if has_chat_template(opened):
        other = ("marked", "in bare text") if is_chat else ("chat", "in a chat")
        how = "is asked in a chat" if is_chat else "is asked in bare text all the same"
        print(f"{model}: its tokenizer has a chat template, and it {how}; --layout {other[0]} asks it {other[1]}")
    asking = ask_task(people, of_task, chosen, ["auto" if is_chat else shown], own_draws)
    n_marks = sum(len(person.marks) for person in people)
    told = f"{n_marks} marks of {len(people)} participants, laid out {shown}"
    print(f"{name}: {told}; {len(asking.trials)} passages to read")
    if not asking.trials:
        raise MissingData(f"{transcripts}: no mark can be asked at; see `valuesassets psych check`")
    found = _read(opened, asking.trials, store_folder, name)
    frames = _derived(asking, people, of_task, found, is_chat)
    run = {
        "model": name,
        "revision": opened.describe().get("revision"),
        "task": of_task.name,
        "task_file": task_path(task).read_text(encoding="utf-8"),
        "transcripts": transcripts.name,
        "layout": shown,
        "histories": chosen,
        **found.run,
    }
    _write(output, frames, run)
    _say(name, of_task.name, frames["marks"], output)


@dataclass(frozen=True)
class _Found:
    """What came of asking: readings, what describes the run, and the tokens before each span."""

    readings: Sequence[Reading]
    run: Mapping[str, Any]
    context_tokens: Mapping[tuple[str, int], int | None]


def _opened(
    model: str,
    layout: Layout,
    template_date: str | None,
    revision: str | None,
    dtype: str,
    device: str,
    offline: bool,
) -> "tuple[OpenedModel, Literal['marked', 'plain', 'chat']]":
    """A model with its tokenizer, and the layout that it is shown."""
    from valuesassets.models.loading import open_model

    def opened(prompting: Prompting) -> "OpenedModel":
        return open_model(model, revision, dtype, device, offline, prompting=prompting)

    if layout in ("auto", "marked", "plain"):
        as_text = opened(AS_TEXT)
        if layout != "auto" or not has_chat_template(as_text):
            return as_text, "marked" if layout == "auto" else layout
    day = _day(template_date)
    return opened(Prompting(style="chat", answer_prefix="none", template_date=day)), "chat"


def has_chat_template(opened: "OpenedModel") -> bool:
    """Whether a model's tokenizer has a template for chats."""
    return bool(getattr(opened.tokenizer.hf, "chat_template", None))


def _day(given: str | None) -> datetime.date | None:
    try:
        return None if given is None else datetime.date.fromisoformat(given)
    except ValueError:
        raise typer.BadParameter(f"--template-date {given}: a day such as 2026-01-31 was expected") from None


def _read(opened: "OpenedModel", trials: Sequence[Any], known: Path, name: str) -> _Found:
    from valuesassets.models.asking import Asking
    from valuesassets.models.loading import load_weights
    from valuesassets.models.spans.entries import SpanEntry
    from valuesassets.models.spans.scoring import SpanReadings

    asking = Asking(opened, trials)
    store = asking.open_known(known, print)
    with progress_bar("reading marks") as tick:
        asked, described = asking.ask(load_weights(opened), tick, store)
    assert isinstance(asked, SpanReadings)  # noqa: S101
    print_cautions(name, asking, described)
    tokens = {
        (entry.trial_id, entry.number): entry.context_tokens for entry in asking.entries if isinstance(entry, SpanEntry)
    }
    kept = ("weights_id", "dtype", "scorer_version", "road", "chunk", "batch_invariance", "torch", "notes")
    run = {key: described[key] for key in kept if key in described}
    run |= {key: getattr(asked, key) for key in ("tokens_body", "tokens_certificate", "rows_head")}
    return _Found(asked.readings, run, tokens)


def _derived(asking: Any, people: Any, task: Any, found: _Found, is_chat: bool) -> "dict[str, pd.DataFrame]":
    from valuesassets.instruments.psych_tasks.answer_distributions import derive_answer_distributions

    return derive_answer_distributions(
        asking.rows, people, task, asking.trials, found.readings, is_chat, found.context_tokens
    )


def _write(output: Path, frames: "Mapping[str, pd.DataFrame]", run: Mapping[str, Any]) -> None:
    from valuesassets.instruments.psych_tasks.tables import CANDIDATES, DONORS, MARKS
    from valuesassets.records.parquet import write_frame
    from valuesassets.records.seals import write_record

    (output / "run.json").unlink(missing_ok=True)  # written last, it stands for all of them
    for table, frame in ((MARKS, frames["marks"]), (CANDIDATES, frames["candidates"]), (DONORS, frames["donors"])):
        write_frame(output / f"{table.name.rpartition('/')[2]}.parquet", frame, table)
    write_record(output / "run.json", dict(run))


def _say(name: str, task: str, marks: "pd.DataFrame", output: Path) -> None:
    """Print what became of the marks, and what their answers are worth; that none was read is an error."""
    from valuesassets.instruments.psych_tasks.gates import weaknesses
    from valuesassets.instruments.psych_tasks.mark_ledger import derive_mark_ledger
    from valuesassets.instruments.psych_tasks.tables import TASK_MARKS

    counts = Counter(marks["status"])
    print(f"{name}: " + ", ".join(f"{n} {status}" for status, n in counts.most_common()))
    unread = marks.loc[marks["p_valid"].isna() & marks["reason"].notna()]
    first = f", the first because: {unread['reason'].iloc[0]}" if len(unread) else ""
    if marks["p_valid"].isna().to_numpy().all():
        raise MissingData(f"{name}: none of {len(marks)} marks could be read{first}; see {output}/marks.parquet")
    no_marks = TASK_MARKS.empty_frame().assign(task=[])
    ledger = derive_mark_ledger(marks.assign(model=name, task=task), no_marks)
    for said in weaknesses({"mark_ledger": ledger}):
        print(said)
    unread_told = f"; {len(unread)} marks unread{first}" if first else ""
    print(f"{output}: candidates.parquet, marks.parquet, donors.parquet, run.json{unread_told}")
