"""One run over many cells, here or on Slurm: which tasks read them, what is whole, what has failed."""

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
from valuesassets.orchestration.grid.grid_cells import Grid, WantedCell, latest_of, partition_of, want_cell
from valuesassets.orchestration.grid.left_out import left_out_cells
from valuesassets.orchestration.grid.node_jobs import SentJob
from valuesassets.orchestration.grid.on_slurm import alike, job_label, slurm_options, slurm_root, slurm_watch
from valuesassets.orchestration.grid.shown_answers import show_answers
from valuesassets.orchestration.grid.shown_readings import show_readings
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.study import Cell, Study

SIDE_BY_SIDE = 2
"""Most processes at a time that read models which were trained here, where there are cores for them."""


class GridRun:
    """One run over some cells: what is asked for them, and what becomes of it."""

    def __init__(self, context: dg.OpExecutionContext, grid: Grid) -> None:
        self._context, self._grid, self._slurm = context, grid, grid.study.slurm
        self._cells: dict[str, WantedCell] = {}
        self._is_shared = self._slurm is None and are_all_trained(grid.study)
        self._places = min(SIDE_BY_SIDE, n_cores()) if self._is_shared else 1

    def run(self, cells: list[Cell]) -> dict[str, str]:
        """Read the cells and materialise those that can be read; those that their preflight leaves out stay missing.

        Returns:
            Why the others could not, by `<model>/<part>`.
        """
        failed: dict[str, str] = {}
        wanted: list[Wanted] = []
        latest = latest_of(self._context.instance)
        left_out = left_out_cells(self._grid.study, self._grid.storage, self._grid.instrument)
        for cell in cells:
            if reason := left_out.get(str(cell)):
                self._context.log.warning(f"{cell} is left out: {reason}")
                continue
            report_planned(self._context, self._grid.asked, str(partition_of(self._grid.instrument, cell)))
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
        unread = Serving(self._context, runner, root, self._order).serve(wanted)
        for name, error in unread.items():
            self._context.log.error(f"{name}: {error}")
        return failed | {name: str(error) for name, error in unread.items()}

    def _wanted(self, one: WantedCell) -> Wanted:
        """A cell as the loop knows it: materialised when it is whole, whatever else its task has to do."""
        sent, name = SentJob(one.job), str(one.cell)
        folder = self._grid.storage.job_folder(self._grid.asked, one.partition)

        def take(submission: Submission, index: int) -> bool:
            if is_whole := sent.take(submission, index):
                self._materialise(one, submission.log(index))
            return is_whole

        self._cells[name] = one
        wanted = sent.wanted(name, folder, self._grid.asked, str(one.partition))
        return replace(wanted, take=take, waits_for_end=False)

    def _order(self, new: list[Wanted]) -> Iterator[Order]:
        """One array for all cells that ask for the same; a task for each model, small ones share those of a machine."""
        wanted = {one.name: one for one in new}
        for options, cells in alike(map(self._cells.__getitem__, wanted), lambda one: self._options(one.cell.family)):
            by_model = alike(cells, lambda one: (one.cell.family, one.asked.model, one.asked.revision))
            models = [some for _, some in by_model]
            shared = _by_process(models, self._places) if self._is_shared else models
            self._context.log.info(f"{len(cells)} cells of {len(models)} models, in {len(shared)} tasks")
            tasks = []
            for some in shared:
                job = some[0].job.model_copy(update={"cells": tuple(one.asked for one in some)})
                task = SentJob(job).task(self._slurm.python if self._slurm else None)
                tasks.append((with_pipes(task, self._context), [wanted[str(one.cell)] for one in some]))
            label = job_label(self._grid.study, self._grid.asked)
            yield Order(label, options, tasks)

    def _options(self, family: str) -> SlurmOptions:
        if self._slurm is not None:
            return slurm_options(self._grid.study, self._grid.storage, family)
        threads = {"OMP_NUM_THREADS": str(max(1, n_cores() // self._places))} if self._places > 1 else {}
        return SlurmOptions(environment=threads)

    def _materialise(self, one: WantedCell, log: Path) -> None:
        grid, partition = self._grid, str(one.partition)
        show = show_answers if grid.instrument.asks == "answers" else show_readings
        metadata, version, results = show(one.asked.output, log, grid.storage, grid.instrument, grid.study)
        tags = {**one.tags, DATA_VERSION_TAG: version, DATA_VERSION_IS_USER_PROVIDED_TAG: "true"}
        made = dg.AssetMaterialization(grid.asked, partition=partition, metadata=metadata, tags=tags)
        self._context.log_event(made)
        for result in results:
            evaluation = dg.AssetCheckEvaluation(
                grid.asked,
                str(result.check_name),
                result.passed,
                metadata=result.metadata,
                severity=result.severity,
                description=result.description,
                partition=partition,
            )
            self._context.log_event(evaluation)  # type: ignore[arg-type]  # it takes them, its annotation lags behind


def _by_process(models: list[list[WantedCell]], places: int) -> list[list[WantedCell]]:
    """The cells of small models for so many processes, each with about as many; a process has one model at a time."""
    shared: list[list[WantedCell]] = [[] for _ in range(places)]
    for cells in sorted(models, key=len, reverse=True):
        min(shared, key=len).extend(cells)
    return [cells for cells in shared if cells]


def are_all_trained(study: Study) -> bool:
    """Whether every model of a study was trained here: small enough for two of them to be read side by side."""
    alike = {(family.kind == "reference", family.dtype, family.offline) for family in study.families.values()}
    return len(alike) == 1 and all(is_trained for is_trained, _, _ in alike)


def n_cores() -> int:
    """The cores that this process may use, or fewer where the environment says so."""
    return min(len(os.sched_getaffinity(0)), int(os.environ.get("OMP_NUM_THREADS") or sys.maxsize))
