"""The grid at once: preflight, then many cells, read here or on Slurm as job arrays, each of them in the UI the moment
its readings are whole; then what they say."""

from collections.abc import Collection

import dagster as dg

from slurm_runner.errors import SlurmError
from valuesassets.dagster_internals.graph import AssetGraph
from valuesassets.desk.inputs import inputs_of
from valuesassets.desk.run_names import COMMAND_TAG, PROBE_GRID
from valuesassets.orchestration.commands.study_process import WHAT_NEXT, materialise_parts, require_all
from valuesassets.orchestration.following.automation import steps_of
from valuesassets.orchestration.grid.cells import WEIGHTS
from valuesassets.orchestration.grid.grid_cells import Grid, GridConfig, choose_cells, not_yet_read, partition_of
from valuesassets.orchestration.grid.grid_run import GridRun
from valuesassets.orchestration.instruments import SURVEY, Instrument
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.study import Cell, Study

FAILED_CELLS = "failed_cells"
BEFORE, AFTER = ("reference_models", "preflight"), ("sampled_answers",)
"""What the job makes beside readings and what they say, where the study has it."""


def grid_job_name(instrument: Instrument) -> str:
    """What the job is called that reads an instrument's grid."""
    return PROBE_GRID if instrument == SURVEY else f"{instrument.name}_grid"


def probe_grid_job(study: Study, graph: AssetGraph, instrument: Instrument) -> dg.JobDefinition:
    """The job that reads an instrument's grid, with one setting, `cells`."""
    derived = steps_of(graph, instrument.name, "cell")
    before, after = (
        [key.to_user_string() for key in keys if graph.has(key)]
        for keys in ([WEIGHTS, *map(instrument.key, BEFORE)], [*map(instrument.key, AFTER), *derived])
    )

    @dg.op(pool="slurm", out=dg.Out(dg.Nothing))
    def submit_gpu_partitions(context: dg.OpExecutionContext, config: GridConfig, storage: dg.ResourceParam[Storage]):
        """Read cells, here or on Slurm as job arrays, and materialise each when it is whole."""

        def materialise(only: list[str], cells: Collection[Cell]) -> dict[str, str]:
            return materialise_parts(context, study, storage, only, list(map(str, cells))) if cells else {}

        # A command that runs a whole study has done what comes before, and does what comes after.
        is_alone = COMMAND_TAG not in context.run.tags
        failed: dict[str, str] = {}
        unread: dict[str, str] = {}
        try:
            grid = Grid(study, storage, instrument, graph)
            chosen = choose_cells(config.cells, grid, context.instance)
            cells = not_yet_read(chosen, grid, context.run, context.instance)
            context.log.info(f"{len(cells)} of the study's {len(grid.cells)} cells are to be read")
            if is_alone:
                passed = storage.files(instrument.key("preflight"), "json")
                failed |= materialise(before, [c for c in cells if study.slurm is None or c.family not in passed])
            unread = GridRun(context, grid).run(cells)
            if is_alone and derived:
                failed |= materialise(after, [cell for cell in grid.cells if _can_be_derived(derived[0], grid, cell)])
        except (ValuesAssetsError, SlurmError) as error:
            raise dg.Failure(description=str(error), allow_retries=False) from error
        if unread:
            listed = "\n".join(f"{name}: {reason}" for name, reason in (unread | failed).items())
            raise dg.Failure(
                f"{len(unread)} of {len(cells)} cells could not be read:\n{listed}\n{WHAT_NEXT}",
                metadata={FAILED_CELLS: unread},
                allow_retries=False,
            )
        require_all(failed)

    @dg.job(name=grid_job_name(instrument), description=_description(study, instrument, *derived[:1]))
    def probe_grid():
        submit_gpu_partitions()

    return probe_grid


def failed_cells(result: dg.ExecuteInProcessResult) -> dict[str, str]:
    """Why cells failed in a run of `probe_grid`, by `<model>/<part>`; empty where the run failed as a whole."""
    for event in result.all_events:
        failure = event.step_failure_data.user_failure_data if event.is_step_failure else None
        if failure is not None and FAILED_CELLS in failure.metadata:
            found = failure.metadata[FAILED_CELLS].value
            return {str(name): str(reason) for name, reason in found.items()} if isinstance(found, dict) else {}
    return {}


def _can_be_derived(key: dg.AssetKey, grid: Grid, cell: Cell) -> bool:
    """Whether all is there that an asset of a cell is made of."""
    partition = partition_of(grid.instrument, cell)
    inputs = inputs_of(key, partition, grid.graph)
    paths = [grid.storage.path(k, partition if name == str(partition) else name, "*") for k, name in inputs]
    return all(any(path.parent.glob(path.name)) for path in paths)


def _description(study: Study, instrument: Instrument, derived: dg.AssetKey | None = None) -> str:
    """What the job does; `derived` is what comes of a cell first, where anything does."""
    cells, asked = instrument.cells(study), instrument.asked.to_user_string()
    how = (
        "The cells go to Slurm as job arrays, each model is loaded once"
        if study.slurm is not None
        else "The cells are read on this machine, each model is loaded once"
    )
    made = "preflight of each model, readings, answer\ndistributions, and calibration where answers are planted"
    made = made if derived else "what each model writes"
    look_at = derived.to_user_string() if derived else asked
    return f"""The grid of {len(cells)} cells (model x {instrument.part}): {made}.

{how}; each cell turns green in the grid of `{asked}` when it is whole. Seconds to a
minute a cell for models that are trained here, minutes to an hour for real ones. Launched as it is, it reads what was
never read or has failed; the setting `cells` takes `missing`, `stale`, `failed`, `all`, or cells by name, as in
`{{"ops": {{"submit_gpu_partitions": {{"config": {{"cells": ["{cells[0]}"]}}}}}}}}`.

Afterwards look at `{look_at}`, cell by cell, and at its checks. Cells that fail are listed at the
end of the run with their reasons, the others are there all the same; launched again, it reads only what is missing."""
