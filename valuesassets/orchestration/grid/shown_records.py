"""Metadata on a cell's readings or written answers for the UI, the same for local and Slurm jobs."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import dagster as dg

from valuesassets.desk.staleness import WRITTEN, hashes_of
from valuesassets.orchestration import checks
from valuesassets.orchestration.first_look.pictures import draw_readings
from valuesassets.orchestration.first_look.shown import PICTURE, SUMMARY, link_to, picture_of
from valuesassets.orchestration.grid.node_jobs import shown_log
from valuesassets.orchestration.instruments import Instrument
from valuesassets.orchestration.io_managers import flat_frame, frame_metadata, table_of
from valuesassets.orchestration.record_checks import judge_rows
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_json
from valuesassets.records.parquet import read_answers, read_readings, reading_rows, table_metadata
from valuesassets.records.places import named_model
from valuesassets.records.study import Study
from valuesassets.records.tables import ANSWERS, READINGS
from valuesassets.records.trials import Status


def show_readings(
    path: Path, log: Path, storage: Storage, instrument: Instrument, study: Study
) -> tuple[dict[str, Any], str, list[dg.AssetCheckResult]]:
    """Metadata, data version and check results for a file of readings; the first check is on batches.

    Args:
        log: log of the job.

    Raises:
        StorageError: the file is not whole.
    """
    readings, file_metadata = read_readings(path), table_metadata(path)
    rows = reading_rows(readings)
    tokenizer = json.loads(file_metadata.pop("tokenizer_report", "{}"))
    # Models behind an API are not asked in batches.
    invariance = json.loads(file_metadata.get("batch_invariance", '{"agrees": true, "trials": 0}'))
    n_read = sum(row["status"] == "ok" for row in rows)
    metadata = {
        SUMMARY: f"{n_read} of {len(rows)} prompts read from {named_model(file_metadata['model'])}",
        "path": dg.MetadataValue.path(str(path)),
        WRITTEN: hashes_of([path], path.parent),
        **shown_log(storage, log),
        **{f"node/{key}": value for key, value in file_metadata.items()},
        "tokenizer": table_of([{"what": what, "found": value} for what, value in flat_report(tokenizer).items()]),
        **frame_metadata(flat_frame(rows).drop(columns=["outside_prob", "reading_key"]), READINGS),
        PICTURE: picture_of(draw_readings(readings, study.is_planted)),
    }
    failing = [] if invariance["agrees"] and not invariance.get("is_visible") else [invariance]
    whole_log = link_to(storage, log)
    n_compared = invariance.get("trials", invariance.get("answers", 0))  # `answers` where the readings are of draws
    invariant = checks.BATCHES_DO_NOT_MATTER.result(failing, n_compared, log=whole_log)
    results = [invariant, *judge_versions(study, file_metadata), *judge_rows(instrument, READINGS, rows, log=whole_log)]
    return metadata, sha256_json(rows)[:16], results


def version_checks(study: Study) -> list[checks.Sentence]:
    """The check on model versions, if the study asks models behind an API."""
    return [checks.ONE_VERSION_ANSWERS] if study.asks_elsewhere else []


def judge_versions(study: Study, file_metadata: Mapping[str, str]) -> list[dg.AssetCheckResult]:
    """The result of the check on model versions for a file's metadata; none if the study has no such check."""
    versions = json.loads(file_metadata.get("model_versions", "[]"))
    failing = [{"model_version": version} for version in versions] if len(versions) > 1 else []
    return [check.result(failing, len(versions)) for check in version_checks(study)]


def flat_report(report: dict[str, Any]) -> dict[str, str]:
    """A tokenizer report in words, by what was examined."""
    return {what.replace("_", " "): _in_words(value) for what, value in report.items()}


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{text!r}: {_in_words(tokens)}" for text, tokens in value.items())
    if isinstance(value, list):
        return " ".join(map(_in_words, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    # A token may be a line break.
    return "none" if value is None else str(value).replace("\n", "\\n")


def show_answers(
    path: Path, log: Path, storage: Storage, instrument: Instrument, study: Study
) -> tuple[dict[str, Any], str, list[dg.AssetCheckResult]]:
    """Metadata, data version and check results for a file of answers.

    Args:
        log: log of the job.

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
