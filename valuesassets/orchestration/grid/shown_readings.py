"""Metadata of a cell's readings for the UI, the same for local and Slurm jobs."""

import json
from collections.abc import Mapping
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
from valuesassets.records.parquet import read_readings, reading_rows, table_metadata
from valuesassets.records.places import named_model
from valuesassets.records.study import Study
from valuesassets.records.tables import READINGS


def show_readings(
    path: Path, log: Path, storage: Storage, instrument: Instrument, study: Study
) -> tuple[dict[str, Any], str, list[dg.AssetCheckResult]]:
    """Metadata and data version of a file of readings, and its checks: whether batches changed an answer first.

    Args:
        log: of the job that read them.
        instrument: whose cell was read.
        study: whose cell it is.

    Raises:
        StorageError: the file is not whole.
    """
    readings, described = read_readings(path), table_metadata(path)
    read = reading_rows(readings)
    tokenizer = json.loads(described.pop("tokenizer_report", "{}"))
    # What a model behind an API answers does not depend on a batch of ours.
    invariance = json.loads(described.get("batch_invariance", '{"agrees": true, "trials": 0}'))
    n_read = sum(row["status"] == "ok" for row in read)
    metadata = {
        SUMMARY: f"{n_read} of {len(read)} prompts read from {named_model(described['model'])}",
        "path": dg.MetadataValue.path(str(path)),
        WRITTEN: hashes_of([path], path.parent),
        **shown_log(storage, log),
        **{f"node/{key}": value for key, value in described.items()},
        "tokenizer": table_of([{"what": what, "found": found} for what, found in flat_report(tokenizer).items()]),
        **frame_metadata(flat_frame(read).drop(columns=["outside_prob", "reading_key"]), READINGS),
        PICTURE: picture_of(draw_readings(readings, study.is_planted)),
    }
    failing = [] if invariance["agrees"] and not invariance.get("is_visible") else [invariance]
    whole_log = link_to(storage, log)
    invariant = checks.BATCHES_DO_NOT_MATTER.result(failing, invariance["trials"], log=whole_log)
    results = [invariant, *judge_versions(study, described), *judge_rows(instrument, READINGS, read, log=whole_log)]
    return metadata, sha256_json(read)[:16], results


def version_checks(study: Study) -> list[checks.Sentence]:
    """The check on who answered, in a study that asks models behind an API."""
    return [checks.ONE_VERSION_ANSWERS] if study.asks_elsewhere else []


def judge_versions(study: Study, described: Mapping[str, str]) -> list[dg.AssetCheckResult]:
    """What that check says of a file, of what the file says of itself; nothing where the study does without it."""
    versions = json.loads(described.get("model_versions", "[]"))
    failing = [{"model_version": version} for version in versions] if len(versions) > 1 else []
    return [check.result(failing, len(versions)) for check in version_checks(study)]


def flat_report(report: dict[str, Any]) -> dict[str, str]:
    """A tokenizer report in words: what was looked at, and what was found."""
    return {what.replace("_", " "): _in_words(found) for what, found in report.items()}


def _in_words(found: Any) -> str:
    if isinstance(found, dict):
        return "; ".join(f"{text!r}: {_in_words(tokens)}" for text, tokens in found.items())
    if isinstance(found, list):
        return " ".join(map(_in_words, found)) or "none"
    if isinstance(found, bool):
        return "yes" if found else "no"
    # A token that is a line break would break the line.
    return "none" if found is None else str(found).replace("\n", "\\n")
