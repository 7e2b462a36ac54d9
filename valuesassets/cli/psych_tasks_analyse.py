"""The command `psych-tasks analyse`: tables and report from the output of `psych-tasks read`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from valuesassets.cli.inputs import Seed, require_folder_place
from valuesassets.records.errors import InputError, MissingData

if TYPE_CHECKING:
    from valuesassets.instruments.psych_tasks.material.task_files import Task


def analyse(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders that `psych-tasks read` has written.")
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
    from valuesassets.instruments.psych_tasks.analyses import ANALYSES
    from valuesassets.instruments.psych_tasks.report import report
    from valuesassets.instruments.psych_tasks.report.gates import weaknesses
    from valuesassets.records.csv_tables import csv_text
    from valuesassets.records.files import write_text
    from valuesassets.records.settings.measuring import Inference
    from valuesassets.reporting.analyses import all_figures
    from valuesassets.reporting.parts import Refused
    from valuesassets.reporting.report import render_report
    from valuesassets.reporting.run import Run, reading_origin, software_versions, study_of_files

    require_folder_place(output)
    cells, tasks, runs = _cells(folders)
    lines = _lines(line or [], [model for model, _ in cells])
    analyses = _derive(cells, tasks, lines, Inference(), seed)
    origins = [reading_origin(name, metadata) for name, metadata in runs.items()]
    study = study_of_files("psych", "Psych tasks", seed)
    run = Run(study, analyses, ANALYSES, versions=software_versions(), provenance=origins)
    for name, frame in run.tables.items():
        write_text(output / f"{name.replace('/', '_')}.csv", csv_text(frame))
    figures = all_figures(ANALYSES, run.tables, run)
    for name, figure in figures.items():
        save_figure(figure, output / name)
    write_text(output / "report.html", render_report(run, report))
    for name in ANALYSES:
        if isinstance(part := run.part(name), Refused):
            print(f"{name}: {part.reason}")
    for sentence in weaknesses(run.tables):
        print(sentence)
    print(f"{output}: report.html, {len(figures)} figures, {', '.join(sorted(run.tables))}")


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

    from valuesassets.instruments.psych_tasks.material.task_files import Task
    from valuesassets.instruments.psych_tasks.tables import DONORS, MARKS
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
                f"{folder}/run.json: not one that `psych-tasks read` has written; name its folder"
            ) from None
        if tasks.setdefault(task.name, task) != task:
            raise InputError(f"{folder}: another task {task.name} than in the folders before; read them with one file")
        frames = {name: [read_frame(folder / f"{name}.parquet", table)] for name, table in stored.items()}
        for name, earlier in cells.get((model, task.name), {}).items():
            frames[name].insert(0, earlier)
        cells[model, task.name] = {name: pd.concat(parts, ignore_index=True) for name, parts in frames.items()}
        runs[f"{model}/{task.name}"] = {key: str(value) for key, value in run.items() if key != "task_file"}
    return cells, tasks, runs


def _derive(
    cells: Mapping[Any, Any], tasks: "Mapping[str, Task]", lines: Mapping[str, str], inference: Any, seed: int
) -> dict[str, Any]:
    """The tables of every analysis; of one that the data do not carry, the reason."""
    from valuesassets.instruments.psych_tasks.analyses import ANALYSES
    from valuesassets.instruments.psych_tasks.measures.cells import table_of_cells
    from valuesassets.instruments.psych_tasks.tables import TASK_MARKS
    from valuesassets.reporting.analyses import derived
    from valuesassets.reporting.parts import Refused

    marks, donors = (table_of_cells(cells, name) for name in ("marks", "donors"))
    values = {
        "marks": marks,
        "donors": donors,
        "task_marks": TASK_MARKS.empty_frame().assign(task=[]),
        "tasks": tasks,
        "lines": lines,
        "inference": inference,
        "seed": seed,
    }
    offered = {name: lambda value=value: value for name, value in values.items()}
    results: dict[str, Any] = {}
    for name, analysis in ANALYSES.items():
        try:
            results[name] = derived(analysis, offered)
        except MissingData as error:
            results[name] = Refused(str(error))
    return results
