"""The grid at once: many cells go to Slurm as job arrays, each model is loaded once, and each cell appears in the UI
the moment its readings are whole."""

from collections.abc import Sequence

import dagster as dg
from dagster._core.definitions.assets.graph.asset_graph import AssetGraph

from slurm_runner.errors import SlurmError
from valuesassets.orchestration.cells import READINGS
from valuesassets.orchestration.grid_cells import GridConfig, choose_cells, not_yet_read
from valuesassets.orchestration.grid_run import GridRun
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.study import Study

FAILED_CELLS = "failed_cells"


def probe_grid_job(study: Study, assets: Sequence[dg.AssetsDefinition]) -> dg.JobDefinition:
    """The job `probe_grid` of a study that runs on Slurm."""
    readings = next(asset for asset in assets if READINGS in asset.keys)

    @dg.op(pool="slurm", out=dg.Out(dg.Nothing))
    def submit_gpu_partitions(context: dg.OpExecutionContext, config: GridConfig, storage: dg.ResourceParam[Storage]):
        """Submit cells as job arrays, each model loaded once, and materialise each cell when it is whole."""
        try:
            chosen = choose_cells(config.cells, study, context.instance, AssetGraph.from_assets(assets))
            cells = not_yet_read(chosen, context.run, context.instance)
            failed = GridRun(context, study, storage).run(cells, readings)
        except (ValuesAssetsError, SlurmError) as error:
            raise dg.Failure(description=str(error), allow_retries=False) from error
        if failed:
            listed = "\n".join(f"{name}: {reason}" for name, reason in failed.items())
            raise dg.Failure(
                f"{len(failed)} of {len(cells)} cells could not be read:\n{listed}",
                metadata={FAILED_CELLS: failed},
                allow_retries=False,
            )

    @dg.job(description="Read many cells on Slurm: each model is loaded once, each cell appears when it is whole.")
    def probe_grid():
        submit_gpu_partitions()

    return probe_grid


def failed_cells(result: dg.ExecuteInProcessResult) -> dict[str, str]:
    """Why cells failed in a run of `probe_grid`, by `<model>/<language>`; empty where the run failed as a whole."""
    for event in result.all_events:
        failure = event.step_failure_data.user_failure_data if event.is_step_failure else None
        if failure is not None and FAILED_CELLS in failure.metadata:
            found = failure.metadata[FAILED_CELLS].value
            return {str(name): str(reason) for name, reason in found.items()} if isinstance(found, dict) else {}
    return {}
