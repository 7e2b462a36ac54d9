"""Assets of a study, materialised one by one in this process."""

from pathlib import Path

import dagster as dg

from valuesassets.definitions import build_definitions


def materialise(folder: Path, study, names, partition):
    """Materialise assets of a study by name in one partition; gives the result."""
    job = build_definitions(study, folder).resolve_implicit_global_asset_job_def()
    keys = [dg.AssetKey(["survey", name]) for name in names]
    with dg.DagsterInstance.ephemeral() as instance:
        return job.execute_in_process(
            instance=instance, partition_key=partition, asset_selection=keys, raise_on_error=False
        )


def failures(result):
    return [event.step_failure_data.user_failure_data for event in result.all_events if event.is_step_failure]
