"""What can be done with studies that were run: `bundle` packs one, `export` converts readings, `compare` takes two."""

import json
import os
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from valuesassets.cli.completion import offer_studies
from valuesassets.cli.homes import OwnStudy
from valuesassets.cli.inputs import Seed, StudyName, open_study, require_file_place, require_folder_place
from valuesassets.cli.instruments import attribute_of, instruments_of, parts_of
from valuesassets.desk.history import MARK, dagster_folder
from valuesassets.library.stored import stored_instruments
from valuesassets.records.errors import InputError, MissingData, StorageError
from valuesassets.records.home import dagster_home
from valuesassets.records.places import storage_root
from valuesassets.records.processes import python_module

if TYPE_CHECKING:
    from valuesassets.comparing.two_studies import Side
    from valuesassets.reporting.exports.read_cells import ReadCell


def bundle(
    name: OwnStudy,
    output: Annotated[
        Path | None, typer.Option(help="File to write (ZIP); <study>.zip in this folder if left out.")
    ] = None,
) -> None:
    """Pack the tables, figures, prompts and report of a study into one zip, without people's answers and PDFs."""
    from valuesassets.reporting.replication_bundle import write_bundle

    study = open_study(name)
    os.environ["VALUESASSETS_STUDY"] = name  # for messages that say how it is made
    path = output or Path(f"{study.name}.zip")
    require_file_place(path, "a ZIP archive or an Office document")
    folder = storage_root() / study.name
    parts: dict[str, list[str]] = {}
    private: dict[str, str] = {}
    for instrument in stored_instruments(folder):
        if instrument not in instruments_of(study):
            continue
        reason = attribute_of(instrument, "KEEPS_TO_ITSELF")
        if reason is None:
            parts[instrument] = [part.name for part in parts_of(instrument, study)]
        else:
            private[instrument] = reason
    left_out = "; ".join(f"nothing of {instrument} is in it: {reason}" for instrument, reason in private.items())
    if private and not parts:
        raise InputError(f"study {study.name}: there is nothing to bundle; {left_out}")
    names = write_bundle(path, study, folder, parts, _recorded_hashes(folder))
    print(f"{path}: {len(names)} files, {path.stat().st_size / 1e6:.1f} MB" + (f"; {left_out}" if private else ""))


def _recorded_hashes(folder: Path) -> dict[Path, str]:
    """SHA-256 of the files in a study's folder as its runs wrote them; none where there is no history of them;
    StorageError where the history cannot be read."""
    history = dagster_folder(folder.name, folder.parent, os.environ.get("VALUESASSETS_DAGSTER"))
    if not (history / MARK).is_dir():
        return {}
    places = {"VALUESASSETS_DAGSTER": str(history), "DAGSTER_HOME": str(dagster_home())}
    command = python_module("valuesassets.desk.recorded_hashes", str(folder))
    done = subprocess.run(command, env=os.environ | places, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise StorageError(f"{history}: the history of the study's runs cannot be read: {lines[-1] if lines else ''}")
    return {Path(file): digest for file, digest in json.loads(done.stdout).items()}


def export(
    name: StudyName,
    format: Annotated[
        Literal["inspect", "lm-eval"], typer.Option(help="Format: of inspect_ai, or of lm-evaluation-harness.")
    ],
    output: Annotated[Path, typer.Option(help="Folder to write; a new or an empty one.")],
) -> None:
    """Write the readings of a study that was run as logs of inspect_ai, or as results of lm-evaluation-harness."""
    from valuesassets.records.files import whole_folder
    from valuesassets.reporting.exports.harness_results import write_harness_results
    from valuesassets.reporting.exports.inspect_log import write_inspect_log

    study = open_study(name)
    require_folder_place(output)
    folder = storage_root() / study.name
    cells = list(read_cells(study.name, folder))
    if not cells:
        raise InputError(
            f"study {study.name}: no readings of labels are stored in {folder}; run it first (what models write has no "
            "labels, and stays in its tables)"
        )
    with whole_folder(output) as temporary:
        if format == "lm-eval":
            for family in dict.fromkeys(cell.family for cell in cells):
                write_harness_results(temporary / family, [cell for cell in cells if cell.family == family])
        else:
            for cell in cells:
                write_inspect_log(temporary / f"{cell.instrument}_{cell.family}_{cell.part}.eval", cell)
    n_files = sum(1 for path in output.rglob("*") if path.is_file())
    print(f"{output}: {n_files} files, {sum(len(cell.readings) for cell in cells)} readings of {len(cells)} cells")


def read_cells(study: str, folder: Path) -> "Iterator[ReadCell]":
    """Every cell with stored readings of labels, without trials that only another estimator needs."""
    from valuesassets.records.parquet import read_readings, read_trials, table_metadata
    from valuesassets.records.readouts import ScoreLabels
    from valuesassets.records.trials import main_trials
    from valuesassets.reporting.exports.read_cells import ReadCell

    for instrument in stored_instruments(folder):
        place = folder / instrument
        trials_by_part = {
            path.stem: main_trials(read_trials(path)) for path in sorted((place / "trials").glob("*.parquet"))
        }
        for path in sorted((place / "readings").rglob("*.parquet")):
            trials = [trial for trial in trials_by_part.get(path.stem, ()) if isinstance(trial.readout, ScoreLabels)]
            if not trials:
                continue
            readings = {reading.trial_id: reading for reading in read_readings(path)}
            pairs = [(trial, readings[trial.trial_id]) for trial in trials if trial.trial_id in readings]
            read_at = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
            yield ReadCell(study, instrument, path.parent.name, path.stem, table_metadata(path), pairs, read_at)


SIDE = "A study by its name or file, or the folder of a study that was run, or of an unpacked bundle."
WORDS = {
    "settings": "settings that differ",
    "read": "cells that only one has, or whose readings were made differently",
    "prompts": "languages or parts whose prompts differ",
}
STUDY_FILE = "study.toml"


def compare(
    first: Annotated[str, typer.Argument(metavar="A", autocompletion=offer_studies, help=SIDE)],
    second: Annotated[str, typer.Argument(metavar="B", autocompletion=offer_studies, help=SIDE)],
    output: Annotated[Path, typer.Option(help="Page to write (HTML).")] = Path("compared.html"),
    seed: Seed = 0,
) -> None:
    """Compare two studies: which settings, prompts, models, answers and points on the map differ."""
    from valuesassets.comparing.two_studies import (
        compare_answers,
        compare_cells,
        compare_points,
        compare_prompts,
        compare_settings,
        sentences,
    )
    from valuesassets.records.files import write_text
    from valuesassets.reporting.parts import Refused
    from valuesassets.reporting.two_studies import render_two_studies

    require_file_place(output, "an HTML page")
    left, right = open_side(first), open_side(second)
    if left.name == right.name:
        left, right = replace(left, name=first), replace(right, name=second)
    compared: dict[str, Any] = {
        "read": compare_cells(left, right),
        "prompts": compare_prompts(left, right),
        **compare_answers(left, right, seed),
    }
    for name, compare_part in (("settings", compare_settings), ("points", compare_points)):
        try:
            compared[name] = compare_part(left, right)
        except MissingData as error:
            compared[name] = Refused(str(error))
    planted = any(str(side.settings.get("human.source")) == "planted" for side in (left, right))
    write_text(output, render_two_studies(compared, (left.name, right.name), planted))
    for name, what in WORDS.items():
        table = compared[name]
        print(f"{what}: {table.reason if isinstance(table, Refused) else len(table)}")
    for sentence in sentences({name: table for name, table in compared.items() if not isinstance(table, Refused)}):
        print(sentence)
    print(f"page: {output}")


def open_side(name: str) -> "Side":
    """The stored tables of a study by its name or file, or of a folder in a storage or of an unpacked bundle."""
    from valuesassets.comparing.stored_sides import read_side
    from valuesassets.comparing.two_studies import flat

    folder, title, settings = Path(name), name, {}
    if folder.is_dir():
        title = "/".join(folder.resolve().parts[-2:])
        if (folder / STUDY_FILE).is_file():
            settings = flat(tomllib.loads((folder / STUDY_FILE).read_text("utf-8")))
    else:
        study = open_study(name)
        folder, settings = storage_root() / study.name, flat(study.model_dump(mode="json", exclude_defaults=True))
    instruments = stored_instruments(folder)
    if not instruments:
        raise InputError(
            f"{name}: nothing of a study is stored in {folder}; run the study first, or name its folder in the storage"
        )
    return read_side(title, folder, instruments, settings)
