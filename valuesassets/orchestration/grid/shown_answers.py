"""Metadata on a cell's written answers for the UI, the same for local and Slurm jobs."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import dagster as dg

from valuesassets.desk.staleness import WRITTEN, hashes_of
from valuesassets.orchestration.first_look.shown import SUMMARY, link_to
from valuesassets.orchestration.grid.node_jobs import shown_log
from valuesassets.orchestration.grid.shown_readings import judge_versions
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.io_managers import flat_frame, frame_metadata
from valuesassets.orchestration.record_checks import judge_rows
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_json
from valuesassets.records.parquet import read_answers, table_metadata
from valuesassets.records.places import named_model
from valuesassets.records.study import Study
from valuesassets.records.tables import ANSWERS
from valuesassets.records.trials import Status


def show_answers(
    path: Path, log: Path, storage: Storage, instrument: Instrument, study: Study
) -> tuple[dict[str, Any], str, list[dg.AssetCheckResult]]:
    """Metadata, data version and check results for a file of answers.

    Args:
        log: log of the job.
        instrument: the cell's instrument.
        study: the cell's study.

    Raises:
        StorageError: the file is not whole.
    """
    rows, file_metadata = [asdict(answer) for answer in read_answers(path)], table_metadata(path)
    n_written = sum(row["status"] == Status.OK for row in rows)
    ends = Counter(row["finish"] for row in rows if row["finish"])
    metadata = {
        SUMMARY: f"{n_written} of {len(rows)} answers written by {named_model(file_metadata['model'])}",
        **_page(path, storage, instrument),
        "path": dg.MetadataValue.path(str(path)),
        WRITTEN: hashes_of([path], path.parent),
        **shown_log(storage, log),
        **{f"node/{key}": value for key, value in file_metadata.items()},
        "ends": ", ".join(f"{n} {end}" for end, n in ends.most_common()),
        **frame_metadata(flat_frame(rows).drop(columns=["answer_key"]), ANSWERS),
    }
    record_results = judge_rows(instrument, ANSWERS, rows, log=link_to(storage, log))
    results = [*judge_versions(study, file_metadata), *record_results]
    return metadata, sha256_json(rows)[:16], results


def _page(path: Path, storage: Storage, instrument: Instrument) -> dict[str, Any]:
    """A link to the page with the cell's prompts and answers, which a later asset writes."""
    if not instrument.answer_pages:
        return {}
    answers_folder, pages_folder = (
        storage.folder.joinpath(*instrument.key(name).path) for name in ("answers", instrument.answer_pages)
    )
    return {
        "prompts_and_answers": link_to(storage, pages_folder / path.relative_to(answers_folder).with_suffix(".html"))
    }
