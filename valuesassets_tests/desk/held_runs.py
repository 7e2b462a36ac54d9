"""Runs of the asset that is held, and what is said of them."""

import dagster as dg
from dagster._core.definitions.selector import JobSubsetSelector

from valuesassets_tests.desk import held_asset

RUNNING, FAILED, CANCELED = (dg.DagsterRunStatus[name] for name in ("STARTED", "FAILURE", "CANCELED"))


def started_run(instance, tags=None, **settings):
    job = held_asset.defs.resolve_implicit_global_asset_job_def()
    return instance.create_run_for_job(job, status=RUNNING, tags=tags, **settings)


def started_run_of(served, instance):
    """A run as the code server of a workspace starts it."""
    asked = JobSubsetSelector("held", "__repository__", "__ASSET_JOB", None, asset_selection=[held_asset.held.key])
    job = served.get_code_location("held").get_job(asked)
    return started_run(
        instance,
        {"dagster/partition": "a"},
        asset_selection={held_asset.held.key},
        remote_job_origin=job.get_remote_origin(),
        job_code_origin=job.get_python_origin(),
    )


def said(instance, run):
    return "\n".join(entry.message for entry in instance.all_logs(run.run_id))
