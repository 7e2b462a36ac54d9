"""The command `export`: a study's readings in the formats of other tools."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from valuesassets.cli.inputs import StudyName, open_study, require_folder_place
from valuesassets.cli.instruments import stored_instruments
from valuesassets.records.errors import InputError
from valuesassets.records.places import storage_root

if TYPE_CHECKING:
    from valuesassets.reporting.exports.read_cells import ReadCell


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
