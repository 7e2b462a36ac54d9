"""One run over many cells, here or on Slurm: plans tasks, materialises whole cells, and reports failures."""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dagster as dg

from slurm_runner.local import LocalRunner
from slurm_runner.options import SlurmOptions
from slurm_runner.pipes import with_pipes
from slurm_runner.serving import Order, Serving, Wanted
from slurm_runner.submission import Submission
from valuesassets.dagster_internals.planned_events import report_planned
from valuesassets.dagster_internals.tags import DATA_VERSION_IS_USER_PROVIDED_TAG, DATA_VERSION_TAG
from valuesassets.orchestration.grid.drawn_cells import take_draws
from valuesassets.orchestration.grid.grid_cells import Grid, WantedCell, latest_of, partition_of, want_cell
from valuesassets.orchestration.grid.left_out import left_out_cells
from valuesassets.orchestration.grid.node_jobs import SentJob
from valuesassets.orchestration.grid.on_slurm import alike, job_label, slurm_options, slurm_root, slurm_watch
from valuesassets.orchestration.grid.shown_records import show_answers, show_readings
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.processes import count_cores
from valuesassets.records.study import Cell, Study

SIDE_BY_SIDE = 2
"""Most processes at once for models that were trained here, if there are enough cores."""


class GridRun:
    """One run over some cells."""

    def __init__(self, context: dg.OpExecutionContext, grid: Grid) -> None:
        self._context, self._grid, self._slurm = context, grid, grid.study.slurm
        self._cells: dict[str, WantedCell] = {}
        self._further: list[WantedCell] = []
        self._is_shared = self._slurm is None and are_all_trained(grid.study)
        self._places = min(SIDE_BY_SIDE, n_cores()) if self._is_shared else 1

    def run(self, cells: list[Cell]) -> dict[str, str]:
        """Read and materialise cells; those left out by their preflight stay missing.

        Returns:
            The reasons of failed cells, by `<model>/<part>`.
        """
        failed: dict[str, str] = {}
        wanted: list[Wanted] = []
        latest = latest_of(self._context.instance)
        left_out = left_out_cells(self._grid.study, self._grid.storage, self._grid.instrument)
        for cell in cells:
            if reason := left_out.get(str(cell)):
                self._context.log.warning(f"{cell} is left out: {reason}")
                continue
            report_planned(self._context, self._grid.asset, str(partition_of(self._grid.instrument, cell)))
            try:
                self._options(cell.family)
                wanted.append(self._wanted(want_cell(self._grid, cell, latest)))
            except ValuesAssetsError as error:
                failed[str(cell)] = str(error)
        storage, instrument = self._grid.storage, self._grid.instrument
        if self._slurm is None:
            runner, root = LocalRunner(self._places), storage.folder.absolute() / "jobs" / instrument.name / "grid"
        else:
            runner, root = slurm_watch(self._slurm), slurm_root(storage)
        while wanted:
            unread = Serving(self._context, runner, root, self._order).serve(wanted)
            for name, error in unread.items():
                self._context.log.error(f"{name}: {error}")
            failed |= {name: str(error) for name, error in unread.items()}
            further, self._further = self._further, []
            wanted = [self._wanted(want_cell(self._grid, each.cell, latest, each.rounds + 1)) for each in further]
        return failed

    def _wanted(self, cell: WantedCell) -> Wanted:
        """A cell as a result to wait for, materialised when it is whole, even before its task ends."""
        sent, name = SentJob(cell.job), str(cell.cell)
        folder = self._grid.storage.job_folder(self._grid.asset, cell.partition)

        def take(submission: Submission, index: int) -> bool:
            if is_whole := sent.take(submission, index):
                if take_draws(self._grid.study, self._grid.storage, self._grid.instrument, cell.cell, cell.rounds):
                    self._further.append(cell)
                else:
                    self._materialise(cell, submission.log(index))
            return is_whole

        self._cells[name] = cell
        wanted = sent.wanted(name, folder, self._grid.asset, str(cell.partition))
        return replace(wanted, take=take, waits_for_end=False)

    def _order(self, new: list[Wanted]) -> Iterator[Order]:
        """One array for all cells with the same options, with a task per model; small models here share tasks."""
        wanted = {result.name: result for result in new}
        for options, cells in alike(map(self._cells.__getitem__, wanted), lambda cell: self._options(cell.cell.family)):
            by_model = alike(cells, lambda cell: (cell.cell.family, *cell.request.weights))
            models = [group for _, group in by_model]
            shared = _by_process(models, self._places) if self._is_shared else models
            self._context.log.info(f"{len(cells)} cells of {len(models)} models, in {len(shared)} tasks")
            tasks = []
            for group in shared:
                job = group[0].job.model_copy(update={"cells": tuple(cell.request for cell in group)})
                task = SentJob(job).task(self._slurm.python if self._slurm else None)
                tasks.append((with_pipes(task, self._context), [wanted[str(cell.cell)] for cell in group]))
            label = job_label(self._grid.study, self._grid.asset)
            yield Order(label, options, tasks)

    def _options(self, family: str) -> SlurmOptions:
        if self._slurm is not None:
            return slurm_options(self._grid.study, self._grid.storage, family)
        threads = {"OMP_NUM_THREADS": str(max(1, n_cores() // self._places))} if self._places > 1 else {}
        return SlurmOptions(environment=threads)

    def _materialise(self, cell: WantedCell, log: Path) -> None:
        grid, partition = self._grid, str(cell.partition)
        show = show_answers if grid.instrument.asks == "answers" else show_readings
        path = grid.storage.path(grid.asset, cell.partition, "parquet")
        metadata, version, results = show(path, log, grid.storage, grid.instrument, grid.study)
        tags = {**cell.tags, DATA_VERSION_TAG: version, DATA_VERSION_IS_USER_PROVIDED_TAG: "true"}
        materialisation = dg.AssetMaterialization(grid.asset, partition=partition, metadata=metadata, tags=tags)
        self._context.log_event(materialisation)
        for result in results:
            evaluation = dg.AssetCheckEvaluation(
                grid.asset,
                str(result.check_name),
                result.passed,
                metadata=result.metadata,
                severity=result.severity,
                description=result.description,
                partition=partition,
            )
            self._context.log_event(evaluation)  # type: ignore[arg-type]  # Dagster's annotation is too narrow


def _by_process(models: list[list[WantedCell]], places: int) -> list[list[WantedCell]]:
    """The cells of small models, divided evenly among processes; a process loads one model at a time."""
    shared: list[list[WantedCell]] = [[] for _ in range(places)]
    for cells in sorted(models, key=len, reverse=True):
        min(shared, key=len).extend(cells)
    return [cells for cells in shared if cells]


def are_all_trained(study: Study) -> bool:
    """Whether all models of a study are trained here and alike, so that two can be read at once."""
    families = study.families.values()
    kinds = {(family.kind == "reference", family.dtype, family.offline, family.draws is None) for family in families}
    return len(kinds) == 1 and all(is_trained for is_trained, *_ in kinds)


def n_cores() -> int:
    """The number of cores for this process, or a smaller number from the environment."""
    return min(count_cores(), int(os.environ.get("OMP_NUM_THREADS") or sys.maxsize))
