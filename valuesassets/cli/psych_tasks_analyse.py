"""The command `psych_tasks analyse`: tables and report from the output of `psych_tasks read`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.inputs import Seed, require_folder_place
from valuesassets.records.errors import InputError, MissingData

if TYPE_CHECKING:
    import pandas as pd

    from valuesassets.instruments.psych_tasks.task_files import Task


def analyse(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders that `psych_tasks read` has written.")
    ],
    output: Annotated[Path, typer.Option(help="Folder for the tables (CSV), the figures and report.html.")],
    seed: Seed = 0,
    line: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL=LINE",
            help="Line of models that a model belongs to: related models count as one. By its name if left out; may be "
            "repeated.",
        ),
    ] = None,
) -> None:
    """Analyse what models read: which marks were lost, what scales measure, and how well people are predicted."""
    from valuesassets.figures.saving import save_figure
    from valuesassets.instruments.psych_tasks.gates import weaknesses
    from valuesassets.instruments.psych_tasks.pictures import draw_pictures
    from valuesassets.instruments.psych_tasks.report import render_psych_tasks
    from valuesassets.records.csv_tables import csv_text
    from valuesassets.records.files import write_text
    from valuesassets.records.settings.measuring import Inference
    from valuesassets.reporting.page_parts import Page, origins
    from valuesassets.reporting.run import software_versions

    require_folder_place(output)
    cells, tasks, runs = _cells(folders)
    lines = _lines(line or [], [model for model, _ in cells])
    tables = _tables(cells, tasks, lines, Inference(), seed)
    for name, frame in tables.items():
        write_text(output / f"{name.replace('/', '_')}.csv", csv_text(frame))
    figures = draw_pictures(tables, False)
    for name, figure in figures.items():
        save_figure(figure, output / name)
    page = Page("psych", "Psych tasks", False, origins(runs), software_versions())
    write_text(output / "report.html", render_psych_tasks(tables, page, figures))
    for name, frame in tables.items():
        if name.endswith("/refused"):
            print(f"{name.partition('/')[0]}: {frame['reason'].iloc[0]}")
    for weakness in weaknesses(tables):
        print(weakness)
    print(f"{output}: report.html, {len(figures)} figures, {', '.join(sorted(tables))}")


def _lines(options: list[str], models: list[str]) -> dict[str, str]:
    """The line of each model that --line names."""
    lines = {}
    for each in options:
        model, equals, name = each.rpartition("=")
        if not equals or not name or model not in models:
            raise typer.BadParameter(f"--line {each}: MODEL=LINE was expected, of {', '.join(dict.fromkeys(models))}")
        lines[model] = name
    return lines


def _cells(folders: list[Path]) -> "tuple[dict[tuple[str, str], Any], dict[str, Task], dict[str, dict[str, str]]]":
    """The tables of each model and task; the tasks; and how each cell was read."""
    import tomllib

    import pandas as pd

    from valuesassets.instruments.psych_tasks.tables import DONORS, MARKS
    from valuesassets.instruments.psych_tasks.task_files import Task
    from valuesassets.records.faults import validated
    from valuesassets.records.parquet import read_frame
    from valuesassets.records.seals import read_record

    stored = {"marks": MARKS, "donors": DONORS}
    cells: dict[tuple[str, str], Any] = {}
    tasks: dict[str, Task] = {}
    runs: dict[str, dict[str, str]] = {}
    for folder in folders:
        run = read_record(folder / "run.json", InputError)
        try:
            model, task = run["model"], validated(Task, tomllib.loads(run["task_file"]), InputError, str(folder))
        except (KeyError, TypeError, tomllib.TOMLDecodeError):
            raise InputError(
                f"{folder}/run.json: not one that `psych_tasks read` has written; name its folder"
            ) from None
        if tasks.setdefault(task.name, task) != task:
            raise InputError(f"{folder}: another task {task.name} than in the folders before; read them with one file")
        frames = {name: [read_frame(folder / f"{name}.parquet", table)] for name, table in stored.items()}
        for name, earlier in cells.get((model, task.name), {}).items():
            frames[name].insert(0, earlier)
        cells[model, task.name] = {name: pd.concat(parts, ignore_index=True) for name, parts in frames.items()}
        runs[f"{model}/{task.name}"] = {key: str(value) for key, value in run.items() if key != "task_file"}
    return cells, tasks, runs


def _tables(
    cells: Mapping[Any, Any], tasks: "Mapping[str, Task]", lines: Mapping[str, str], inference: Any, seed: int
) -> "dict[str, pd.DataFrame]":
    """The tables of every analysis by `<analysis>/<table>`; of one that the data do not carry, `<analysis>/refused`."""
    import pandas as pd

    from valuesassets.instruments.psych_tasks.cells import derive_scales, table_of_cells
    from valuesassets.instruments.psych_tasks.layout_effect import derive_layout_effect
    from valuesassets.instruments.psych_tasks.mark_ledger import derive_mark_ledger
    from valuesassets.instruments.psych_tasks.prediction import derive_prediction
    from valuesassets.instruments.psych_tasks.tables import TASK_MARKS

    marks, donors = (table_of_cells(cells, name) for name in ("marks", "donors"))
    no_marks = TASK_MARKS.empty_frame().assign(task=[])
    tables = {"mark_ledger": derive_mark_ledger(marks, no_marks)}

    def add(name: str, derive: Callable[[], "dict[str, pd.DataFrame]"]) -> None:
        try:
            frames = derive()
        except MissingData as error:
            frames = {"refused": pd.DataFrame({"reason": [str(error)]})}
        tables.update({f"{name}/{table}": frame for table, frame in frames.items()})

    add("prediction", lambda: derive_prediction(marks, donors, inference))
    for name in ("reliability", "keying", "published_scores"):
        add(name, lambda name=name: derive_scales(name, tasks, marks, lines, inference.level, seed))
    add("layout_effect", lambda: {"effects": derive_layout_effect(marks, inference)})
    return tables
