"""Reference models of any instrument: the job that trains them, and what the UI shows of it."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from valuesassets.desk.staleness import folder_metadata
from valuesassets.orchestration.first_look.pictures import draw_losses
from valuesassets.orchestration.first_look.shown import PICTURE, SUMMARY, picture_of
from valuesassets.orchestration.grid.node_jobs import run_node_job, shown_log
from valuesassets.orchestration.io_managers import table_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import sha256_json
from valuesassets.records.jobs import PhantomPlan, TrainReferenceJob
from valuesassets.records.seals import read_record
from valuesassets.records.study import Study


def train(
    context: dg.AssetExecutionContext,
    study: Study,
    storage: Storage,
    phantoms: Sequence[PhantomPlan],
    family: str,
    learned: str,
    **metadata: Any,
) -> dg.MaterializeResult:
    """Have reference models trained; their hashes are the asset's data version.

    Args:
        family: whose resources the job asks for.
        learned: what they are trained to do, as in `answer as planted`.
        metadata: what else is shown.
    """
    summary = storage.job_folder(context.asset_key, None) / "summary.json"
    job = TrainReferenceJob(phantoms=tuple(phantoms), steps=study.phantom.steps, seed=study.seed, summary=summary)
    log = run_node_job(context, job, study, storage, family)
    trained = read_record(summary)["phantoms"]
    largest = max(phantom["largest_loss"] for phantom in trained)
    shown = {
        SUMMARY: f"{len(trained)} models trained to {learned}, largest loss {largest:.4f}",
        "models": table_of(trained),
        PICTURE: picture_of(draw_losses(trained)),
    }
    version = sha256_json([phantom["hash"] for phantom in trained])[:16]
    written = folder_metadata(storage.folder.joinpath(*context.asset_key.path))
    return dg.MaterializeResult(
        metadata=shown | written | metadata | shown_log(storage, log), data_version=dg.DataVersion(version)
    )
