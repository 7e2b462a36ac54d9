"""The command `bundle`: a study that was run, as one zip to give away."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from valuesassets.cli.inputs import StudyName, open_study, require_file_place
from valuesassets.cli.instruments import attribute_of, instruments_of, parts_of, stored_instruments
from valuesassets.desk.history import MARK, dagster_folder
from valuesassets.records.errors import InputError, StorageError
from valuesassets.records.places import REPOSITORY, storage_root


def bundle(
    name: StudyName,
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
    """SHA-256 of a study's files as its runs wrote them; none where there is no history of them.

    Args:
        folder: the study's, below the storage.

    Raises:
        StorageError: the history cannot be read.
    """
    history = dagster_folder(folder.name, folder.parent, os.environ.get("VALUESASSETS_DAGSTER"))
    if not (history / MARK).is_dir():
        return {}
    places = {"VALUESASSETS_DAGSTER": str(history), "DAGSTER_HOME": os.environ.get("DAGSTER_HOME") or str(REPOSITORY)}
    command = [sys.executable, "-m", "valuesassets.desk.recorded_hashes", str(folder)]
    done = subprocess.run(command, env=os.environ | places, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise StorageError(f"{history}: the history of the study's runs cannot be read: {lines[-1] if lines else ''}")
    return {Path(file): digest for file, digest in json.loads(done.stdout).items()}
