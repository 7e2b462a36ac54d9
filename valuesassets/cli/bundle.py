"""`bundle`: a study that was run, as one zip to give away."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from valuesassets.cli.asking_cost import asked_instruments
from valuesassets.cli.inputs import StudyName, require_file_place
from valuesassets.cli.instruments import parts_of, said_of, stored_instruments
from valuesassets.desk.history import MARK, dagster_folder
from valuesassets.records.errors import InputError, StorageError
from valuesassets.records.places import REPOSITORY, storage_root
from valuesassets.records.study import load_study


def bundle(
    name: StudyName,
    output: Annotated[Path | None, typer.Option(help="The zip; <study>.zip in this folder if left out.")] = None,
) -> None:
    """Put a study's tables, figures, prompts, report and hashes into one zip, without people's answers and PDFs."""
    from valuesassets.reporting.replication_bundle import write_bundle

    study = load_study(name)
    os.environ["VALUESASSETS_STUDY"] = name  # for messages that say how it is made
    path = output or Path(f"{study.name}.zip")
    require_file_place(path, "a ZIP archive or an Office document")
    folder, kept = storage_root() / study.name, {}
    taken: dict[str, list[str]] = {}
    for instrument in stored_instruments(folder):
        if instrument not in asked_instruments(study):
            continue
        reason = said_of(instrument, "KEEPS_TO_ITSELF")
        if reason is None:
            taken[instrument] = [part.name for part in parts_of(instrument, study)]
        else:
            kept[instrument] = reason
    left_out = "; ".join(f"nothing of {instrument} is in it: {reason}" for instrument, reason in kept.items())
    if kept and not taken:
        raise InputError(f"study {study.name}: there is nothing to bundle; {left_out}")
    names = write_bundle(path, study, folder, taken, _recorded_hashes(folder))
    print(f"{path}: {len(names)} files, {path.stat().st_size / 1e6:.1f} MB" + (f"; {left_out}" if kept else ""))


def _recorded_hashes(folder: Path) -> dict[Path, str]:
    """SHA-256 of a study's files as its runs wrote them; none where there is no history of them.

    Args:
        folder: the study's, below the storage.

    Raises:
        StorageError: the history cannot be read.
    """
    history = dagster_folder(folder.name, folder.parent, os.environ.get("VALUESASSETS_DAGSTER"))
    if not (history / MARK).is_dir():
        return {}
    own = {"VALUESASSETS_DAGSTER": str(history), "DAGSTER_HOME": os.environ.get("DAGSTER_HOME") or str(REPOSITORY)}
    asked = [sys.executable, "-m", "valuesassets.desk.recorded_hashes", str(folder)]
    done = subprocess.run(asked, env=os.environ | own, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise StorageError(f"{history}: the history of the study's runs cannot be read: {said[-1] if said else ''}")
    return {Path(file): digest for file, digest in json.loads(done.stdout).items()}
