"""`bundle`: a study that was run, as one zip to give away."""

from pathlib import Path
from typing import Annotated

import typer

from valuesassets.cli.asking_cost import asked_instruments
from valuesassets.cli.inputs import StudyName, require_file_place
from valuesassets.cli.instruments import parts_of, said_of, stored_instruments
from valuesassets.records.errors import InputError
from valuesassets.records.places import storage_root
from valuesassets.records.study import load_study


def bundle(
    name: StudyName,
    output: Annotated[Path | None, typer.Option(help="The zip; <study>.zip in this folder if left out.")] = None,
) -> None:
    """Put a study's tables, figures, prompts, report and hashes into one zip, without people's answers and PDFs."""
    from valuesassets.reporting.replication_bundle import write_bundle

    study = load_study(name)
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
    names = write_bundle(path, study, folder, taken)
    print(f"{path}: {len(names)} files, {path.stat().st_size / 1e6:.1f} MB" + (f"; {left_out}" if kept else ""))
