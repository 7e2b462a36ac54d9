"""The event that shows an asset's partition as in progress in the UI."""

import dagster as dg
from dagster._core.events import AssetMaterializationPlannedData


def report_planned(context: dg.OpExecutionContext, key: dg.AssetKey, partition: str) -> None:
    """Show a partition as in progress, so that it turns red where the run ends without it."""
    planned = AssetMaterializationPlannedData(key, partition=partition)
    event = dg.DagsterEvent.build_asset_materialization_planned_event(context.job_name, context.op.name, planned)
    context.instance.report_dagster_event(event, run_id=context.run_id)
