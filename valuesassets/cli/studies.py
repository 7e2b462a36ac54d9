"""Whole studies: `study` looks at one, `run` and `demo` materialise one through its graph."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any

import pydantic
import typer

from valuesassets.cli.asking_cost import asked_instruments, print_costs
from valuesassets.cli.inputs import StudyName, require_folder_place
from valuesassets.cli.instruments import NAMES, commands_of, parts_of
from valuesassets.cli.outputs import print_hardness, print_recovery
from valuesassets.desk.history import dagster_folder, take_history_along
from valuesassets.records.errors import JobError, ModelError, StorageError, StudyError
from valuesassets.records.places import REPOSITORY, storage_root
from valuesassets.records.settings.kinds import is_model_path
from valuesassets.records.study import Study, cells_of, load_study

DEMO = "demo"
MODEL_KEYS = ("tokenizer", "embedder")
"""Keys that take a folder or the name of a model on the hub; `model_id` has its languages to be filled in."""
MADE_LATER = "overrides"
"""A folder that need not be there."""


def study(
    name: StudyName,
    slurm: Annotated[bool, typer.Option("--slurm", help="Print what Slurm would be given; submit nothing.")] = False,
) -> None:
    """Check a study file and print what it would build."""
    found = load_study(name)
    if slurm:
        raise typer.Exit(subprocess.run([*_graph(name), "--dry-run"], check=False).returncode)
    lacking = lacking_paths(found)
    if lacking and found.slurm is None:  # a cluster's nodes may see what this machine does not
        raise StudyError(
            f"study {found.name}: {'; '.join(lacking)}; paths count from the folder of the study file: mend them, or "
            "put there what they name"
        )
    print(f"{found.name}: {found.title}")
    if found.questionnaires is not None:
        asked = found.questionnaires
        files = ", ".join(asked.forms(found.languages)) or asked.source
        print(f"questionnaires: {files}; all are aligned to {asked.master}")
    print(f"languages ({len(found.languages)}): {', '.join(found.languages)}")
    for label, family in found.families.items():
        served, asked = found.family_languages(label), family.resources
        model = family.model_id or "trained here on planted answers"
        languages = f"{len(served)} language{'s' * (len(served) != 1)}"
        shown = ", asked in a chat" if family.prompting.is_chat else ""
        print(
            f"family {label}: {model}, {family.model_type}, {languages}, {family.dtype}{shown}; "
            f"per cell {asked.gpus} GPU, {asked.memory_gib} GiB, {asked.hours:g} h"
        )
    weights = [model for label in found.families for model in found.model_ids(label)]
    if weights:
        print(f"weights: {len(weights)} models, fetched once before any of them is asked")
    print(f"cells: {cells_line(found)}; orders {found.elicitation.orders}, wordings {found.elicitation.wordings}")
    print_costs(found)
    if found.takes:
        print(f"a run takes {found.takes}")
    if lacking:
        print(f"not on this machine: {'; '.join(lacking)}")


def lacking_paths(found: Study) -> list[str]:
    """What a study names of folders and files that are not there, each with its key."""
    named = [(key, path) for key, path in _paths(found, "") if not key.endswith(MADE_LATER)]
    named += [(f"families.{name}.model_id", model) for name in found.families for model in found.model_ids(name)]
    paths = [(key, Path(place)) for key, place in named if isinstance(place, Path) or is_model_path(place)]
    lacking = [f"{key}: {path}: no such folder or file" for key, path in paths if not path.exists()]
    if found.questionnaires is not None:
        lacking += found.questionnaires.lacking_forms(found.languages)
    return lacking


def _paths(record: Any, key: str) -> Iterator[tuple[str, Path | str]]:
    """Every path of a study's settings with its key, and every text that may be one."""
    if isinstance(record, pydantic.BaseModel):
        parts = [(name, getattr(record, name)) for name in type(record).model_fields]
    elif isinstance(record, Mapping):
        parts = [*record.items()]
    elif isinstance(record, tuple):
        parts = [*enumerate(record, 1)]
    else:
        parts = []
    for name, value in parts:
        inner = f"{key}.{name}".lstrip(".")
        if isinstance(value, Path) or (isinstance(value, str) and name in MODEL_KEYS):
            yield inner, value
        else:
            yield from _paths(value, inner)


def cells_line(found: Study) -> str:
    """How many cells a study has, by instrument where it has several.

    A cell is a family and a part of the instrument's: a language, a task, a culture, a set of persons.
    """
    counts = {name: len(cells_of(found, parts_of(name, found))) for name in asked_instruments(found)}
    if len(counts) == 1:
        return str(next(iter(counts.values())))
    named = ", ".join(f"{name} {n}" for name, n in counts.items())
    return f"{sum(counts.values())} ({named})" if counts else "0"


def run(
    name: StudyName,
    only: Annotated[
        list[str] | None, typer.Option(help="Assets, or groups of them, as the UI names them; may be repeated.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Make again what is fresh, too; what models said is not asked again.")
    ] = False,
) -> None:
    """Materialise a study, or parts of it, skipping what is fresh, and print what came out."""
    found = load_study(name)
    if not only:
        require_index_models(found)
        if found.takes:
            print(f"{found.name} takes {found.takes}; what is fresh is skipped", flush=True)
    storage = storage_root()
    database = dagster_folder(found.name, storage, os.environ.get("VALUESASSETS_DAGSTER"))
    home = Path(os.environ.get("DAGSTER_HOME") or REPOSITORY)
    if not (home.is_absolute() and home.is_dir()):
        raise StorageError(f"DAGSTER_HOME={home}: no such folder; an absolute path was expected, or leave it unset")
    for place, name_of_place in ((storage, "VALUESASSETS_STORAGE"), (database, "VALUESASSETS_DAGSTER")):
        require_folder_place(place, f"set {name_of_place} to another folder")
    try:
        take_history_along(found.name, storage, database, lambda line: print(line, flush=True))
        database.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"{database}: cannot be written: {error.strerror}; set VALUESASSETS_STORAGE to another folder"
        ) from None
    environment = os.environ | {
        "DAGSTER_HOME": str(home),
        "VALUESASSETS_STORAGE": str(storage),
        "VALUESASSETS_DAGSTER": str(database),
        "VALUESASSETS_STUDY": name,
    }
    asked = [*(["--only", *only] if only else []), *(["--force"] if force else [])]
    began = time.monotonic()
    status = subprocess.run([*_graph(name), *asked], env=environment, check=False).returncode
    seconds = time.monotonic() - began
    for instrument in NAMES:
        folder = storage / found.name / instrument
        if folder.is_dir():
            own = commands_of(instrument)
            getattr(own, "print_outcome", print_outcome)(found, folder)
            print_first_screens(folder)
            if status == 0 and not only and hasattr(own, "write_evidence"):
                own.write_evidence(found, folder, seconds)
    named = "" if name == DEMO else f"VALUESASSETS_STUDY={shlex.quote(name)} "
    print(f"to see all of it in the web UI: {named}make ui")
    if status != 0:
        raise JobError(f"study {found.name}: a run failed; the lines above say which, the UI shows its log")


def require_index_models(study: Study) -> None:
    """See that the models which a study names out of the package index were fetched, before anything is made.

    Raises:
        ModelError: one was not; the message has the command for each.
    """
    named = {model for label in study.families for model in study.model_ids(label) if model.startswith("index:")}
    if not named:
        return
    from valuesassets.models.index_registry import find_index_file, require_index_model

    lacking = [name for name in sorted(model.removeprefix("index:") for model in named) if not find_index_file(name)]
    commands = [
        f"valuesassets models get {name}{'' if require_index_model(name).is_open else ' --accept-terms'}"
        for name in lacking
    ]
    if commands:
        many = "1 of its models is" if len(lacking) == 1 else f"{len(lacking)} of its models are"
        raise ModelError(f"study {study.name}: {many} not on this machine; fetch first: {'; '.join(commands)}")


def demo() -> None:
    """Materialise the demonstration study and print what came out."""
    run(DEMO)


def _graph(name: str) -> list[str]:
    """The command that starts the graph of a study."""
    return [sys.executable, "-m", "valuesassets.definitions", name, "--storage", str(storage_root())]


def print_outcome(found: Study, folder: Path) -> None:
    """Print calibration per response type, the quality summary, and where the report is."""
    print_calibration(found, folder)
    print_quality(folder)
    report = folder / "report" / "report.html"
    print(f"report: {report if report.exists() else 'not written'}")


def print_first_screens(folder: Path) -> None:
    """Print what the pages of an instrument say first: an answer for each model, and which checks failed, and why."""
    from valuesassets.reporting.report import read_first_screen

    for page in sorted(folder.glob("report/*.html")):
        screen = read_first_screen(page.read_text(encoding="utf-8"))
        if not screen:
            continue
        print(f"\nIn short ({page.stem})" if page.stem != "report" else "\nIn short")
        for model, answer in screen["answers"].items():
            print(f"  {model}: {answer}")
        for question in screen["questions"]:
            print(f"  {question['question']} {question['answer']}")
        for failed in screen["failed"]:
            print(f"  not passed{', by plan' if failed['by_plan'] else ''}: {failed['check']}")
            print(f"    {failed['by_plan'] or shorten(failed['found'], 160, placeholder=' …')}")


def print_calibration(found: Study, folder: Path) -> None:
    """Print what was planted against what was recovered, and whether wrong models fail."""
    import pandas as pd

    from valuesassets.records.parquet import stored_frame

    compared = [
        stored_frame(file)
        for file in [
            *sorted(folder.glob("calibration/*/*.parquet")),
            *folder.glob("self_calibration/comparison.parquet"),
        ]
    ]
    if compared:
        from valuesassets.answers.calibration import describe_hardness, summarise_recovery

        pooled = pd.concat(compared, ignore_index=True)
        print(f"\nCalibration: planted against recovered in {len(compared)} cells (mean | 95th percentile)")
        print_recovery(summarise_recovery(pooled.assign(language="all"), found.phantom))
        print_hardness(describe_hardness(pooled))
    controls_file = folder / "negative_controls" / "negative_controls.parquet"
    if controls_file.exists():
        controls = stored_frame(controls_file)
        print(f"  another language's model fails in {int(controls['fails'].sum())} of {len(controls)} pairs tried")


def print_quality(folder: Path) -> None:
    """Print which cells can be trusted."""
    from valuesassets.records.frames import records
    from valuesassets.records.parquet import stored_frame

    cells_file = folder / "quality_report" / "cells.parquet"
    if cells_file.exists():
        print("\nQuality: which cells can be trusted")
        for row in records(stored_frame(cells_file)):
            is_left_out = row.get("rule") == "preflight"
            missing = "left out" if is_left_out else "missing"
            median = missing if row["is_missing"] else f"median P_valid {row['median_p_valid']:.2f}"
            usable = "" if row["is_missing"] else f", {row['n_usable']} of {row['n_questions']} questions usable"
            flag = f"  {'' if is_left_out else 'FLAGGED: '}{row['reason']}" if row["reason"] else ""
            print(f"  {row['model']:<16} {row['language']}  {median}{usable}{flag}")
