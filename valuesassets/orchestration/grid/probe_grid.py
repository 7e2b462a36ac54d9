"""The job for an instrument's grid: preflight, then the cells, here or as job arrays on Slurm, then derived assets.

Each cell appears in the UI as soon as it is whole.
"""

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
"""Assets that the job makes before and after the cells, if the study has them."""


def grid_job_name(instrument: Instrument) -> str:
    """The name of the job for an instrument's grid."""
    return PROBE_GRID if instrument == SURVEY else f"{instrument.name}_grid"


def probe_grid_job(study: Study, graph: AssetGraph, instrument: Instrument) -> dg.JobDefinition:
    """The job for an instrument's grid, with one setting, `cells`."""
    derived = steps_of(graph, instrument.name, "cell")
    before, after = (
        [key.to_user_string() for key in keys if graph.has(key)]
        for keys in ([WEIGHTS, *map(instrument.key, BEFORE)], [*map(instrument.key, AFTER), *derived])
    )

    @dg.op(pool="slurm", out=dg.Out(dg.Nothing))
    def submit_gpu_partitions(context: dg.OpExecutionContext, config: GridConfig, storage: dg.ResourceParam[Storage]):
        """Read cells, here or as job arrays on Slurm, and materialise each as soon as it is whole."""

        def materialise(only: list[str], cells: Collection[Cell]) -> dict[str, str]:
            return materialise_parts(context, study, storage, only, list(map(str, cells))) if cells else {}

        # A command for a whole study makes the steps before and after itself.
        is_alone = COMMAND_TAG not in context.run.tags
        failed: dict[str, str] = {}
        unread: dict[str, str] = {}
        try:
            grid = Grid(study, storage, instrument, graph)
            chosen = choose_cells(config.cells, grid, context.instance)
            cells = not_yet_read(chosen, grid, context.run, context.instance)
            context.log.info(f"{len(cells)} of the study's {len(grid.cells)} cells are to be read")
            if is_alone:
                families_tested = storage.files(instrument.key("preflight"), "json")
                failed |= materialise(
                    before, [cell for cell in cells if study.slurm is None or cell.family not in families_tested]
                )
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
    """The reasons of failed cells in a run of the grid job, by `<model>/<part>`; empty if the whole run failed."""
    for event in result.all_events:
        failure = event.step_failure_data.user_failure_data if event.is_step_failure else None
        if failure is not None and FAILED_CELLS in failure.metadata:
            cells = failure.metadata[FAILED_CELLS].value
            return {str(name): str(reason) for name, reason in cells.items()} if isinstance(cells, dict) else {}
    return {}


def _can_be_derived(key: dg.AssetKey, grid: Grid, cell: Cell) -> bool:
    """Whether all inputs of a cell's asset exist."""
    partition = partition_of(grid.instrument, cell)
    inputs = inputs_of(key, partition, grid.graph)
    paths = [grid.storage.path(k, partition if name == str(partition) else name, "*") for k, name in inputs]
    return all(any(path.parent.glob(path.name)) for path in paths)


def _description(study: Study, instrument: Instrument, derived: dg.AssetKey | None = None) -> str:
    """The job's description; `derived` is the first asset derived from a cell, if any."""
    cells, asset = instrument.cells(study), instrument.asked.to_user_string()
    place = (
        "The cells run on Slurm as job arrays, and each model is loaded once"
        if study.slurm is not None
        else "The cells are read on this machine, and each model is loaded once"
    )
    steps = "preflight of each model, readings, answer\ndistributions, and calibration where answers are planted"
    steps = steps if derived else "the answers that each model writes"
    look_at = derived.to_user_string() if derived else asset
    return f"""The grid of {len(cells)} cells (model x {instrument.part}): {steps}.

{place}; each cell turns green in the grid of `{asset}` when it is whole. A cell takes seconds
to a minute for models that are trained here, and minutes to an hour for real ones. By default the job reads cells that
were never read or have failed; the setting `cells` takes `missing`, `stale`, `failed`, `all`, or cells by name, as in
`{{"ops": {{"submit_gpu_partitions": {{"config": {{"cells": ["{cells[0]}"]}}}}}}}}`.

Afterwards look at `{look_at}`, cell by cell, and at its checks. Failed cells are listed at the end of the
run with their reasons; all other cells are kept. Launched again, the job reads only missing cells."""
