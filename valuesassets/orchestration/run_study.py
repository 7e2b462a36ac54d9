"""Materialise a whole study, skipping what is fresh: `python -m valuesassets.definitions STUDY --storage FOLDER`.

A partition is fresh when Dagster finds its code version and the data versions of its inputs unchanged since it was
materialised, and its files are still there. Runs are ordinary runs of the instance: the UI shows them.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.definitions.assets.graph.base_asset_graph import BaseAssetGraph
from dagster._core.storage.tags import MAX_RETRIES_TAG
from dagster._core.utils import make_new_run_id
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from slurm_runner.errors import SlurmError
from valuesassets.orchestration.cells import READINGS
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.probe_grid import failed_cells
from valuesassets.orchestration.resources import partition_path
from valuesassets.orchestration.run_launcher import fail_dead_runs
from valuesassets.orchestration.run_process import RunProcess
from valuesassets.orchestration.slurm_cells import grid_scripts
from valuesassets.orchestration.staleness import stale_assets
from valuesassets.records.errors import ValuesAssetsError
from valuesassets.records.study import Study
from valuesassets.records.study_files import load_study

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Runs log to the instance, where the UI shows it; the console is for progress."""


@dataclass(frozen=True)
class Wave:
    """Assets of the same partitions that can be materialised together, one run per partition."""

    keys: tuple[dg.AssetKey, ...]
    partitions: dg.PartitionsDefinition | None

    def partition_keys(self) -> list[str | None]:
        """Partition keys, or [None] for unpartitioned assets."""
        if self.partitions is None:
            return [None]
        return [*self.partitions.get_partition_keys()]


def waves(graph: BaseAssetGraph) -> list[Wave]:
    """The graph in runs: every asset in the earliest wave of its partitions that comes after its inputs."""
    found: list[tuple[list[dg.AssetKey], dg.PartitionsDefinition | None]] = []
    place: dict[dg.AssetKey, int] = {}
    for key in graph.toposorted_asset_keys:
        node = graph.get(key)
        after = max((place[parent] for parent in node.parent_keys if parent in place), default=-1)
        for index in range(max(after, 0), len(found)):
            if found[index][1] == node.partitions_def:
                break
        else:
            index = len(found)
            found.append(([], node.partitions_def))
        found[index][0].append(key)
        place[key] = index
    return [Wave(tuple(keys), partitions) for keys, partitions in found]


def run_study(
    definitions: dg.Definitions, instance: dg.DagsterInstance, progress: Progress, study: Study | None = None
) -> Iterator[str]:
    """Materialise what is stale, wave by wave; a partition that fails stops neither its wave nor what can go on.

    Args:
        study: leaves out the cells that it does not serve, and the calibration of families that are not trained here.

    Yields:
        One line per failed run: its assets, partition and first error.
    """
    fail_dead_runs(instance)
    repository = definitions.get_repository_def()
    graph, job = repository.asset_graph, definitions.resolve_implicit_global_asset_job_def()
    plan = waves(graph)
    total = sum(len(wave.partition_keys()) for wave in plan)
    task = progress.add_task("", total=total)
    for wave in plan:
        unread: set[str] = set()
        if READINGS in wave.keys and study is not None and study.slurm is not None:
            progress.update(task, description="readings of the grid")
            for name, failure in _read_grid(definitions, instance, study).items():
                unread.add(name)
                yield f"readings {name}: {failure}"
        for partition in wave.partition_keys():
            if isinstance(partition, dg.MultiPartitionKey) and partition_path(partition) in unread:
                progress.advance(task)
                continue
            progress.update(task, description=f"{' '.join(key.path[-1] for key in wave.keys)[:30]} {partition or ''}")
            stale = [
                key
                for key in stale_assets(wave.keys, partition, graph, instance)
                if is_asked_for(key, partition, study)
            ]
            if stale:
                result = _execute(job, instance, QUIET, partition_key=partition, asset_selection=stale)
                if not result.success:
                    yield f"{', '.join(key.path[-1] for key in stale)} {partition or ''}: {_first_error(result)}"
            progress.advance(task)


def _read_grid(definitions: dg.Definitions, instance: dg.DagsterInstance, study: Study) -> dict[str, str]:
    """Read the stale cells of a study on Slurm at once; why those failed that did, by `<model>/<language>`."""
    graph = definitions.get_repository_def().asset_graph
    keys = {f"{model}/{language}": cell_key(model, language) for model, language in study.cells()}
    stale = [name for name, key in keys.items() if stale_assets([READINGS], key, graph, instance)]
    if not stale:
        return {}
    config = QUIET | {"ops": {"submit_gpu_partitions": {"config": {"cells": stale}}}}
    job = definitions.resolve_job_def("probe_grid")
    result = _execute(job, instance, config)
    if result.success:
        return {}
    return failed_cells(result) or dict.fromkeys(stale, _first_error(result))


def _execute(
    job: dg.JobDefinition, instance: dg.DagsterInstance, run_config: dict[str, Any], **selection: Any
) -> dg.ExecuteInProcessResult:
    """Run a job in this process, and say so in its tags; where it is killed, this command is given again."""
    run_id = make_new_run_id()
    process = RunProcess.find(run_id, os.getpid())
    tags = {MAX_RETRIES_TAG: "0"} | (process.tags() if process else {})
    return job.execute_in_process(
        run_config=run_config, instance=instance, raise_on_error=False, run_id=run_id, tags=tags, **selection
    )


def is_asked_for(key: dg.AssetKey, partition: str | None, study: Study | None) -> bool:
    """Whether a study asks for an asset in a partition: a cell that is served, a calibration where plants are known."""
    if study is None or not isinstance(partition, dg.MultiPartitionKey):
        return True
    model, language = partition.keys_by_dimension["model"], partition.keys_by_dimension["language"]
    if (model, language) not in study.cells():
        return False
    return key.path[-1] != "calibration" or study.families[model].kind == "reference"


def _first_error(result: dg.ExecuteInProcessResult) -> str:
    for event in result.all_events:
        if event.is_step_failure:
            failure = event.step_failure_data
            if failure.user_failure_data is not None and failure.user_failure_data.description:
                return failure.user_failure_data.description
            if failure.error is not None:
                deepest = failure.error.cause or failure.error
                return deepest.message.strip().splitlines()[0]
    return "the run failed; see its log in the UI"


def main(build_definitions: Callable[[Study, Path], dg.Definitions]) -> int:
    """Materialise the study named on the command line; exit 1 where a run failed."""
    parser = argparse.ArgumentParser(description="Materialise a study, skipping what is fresh.")
    parser.add_argument("study", help="name of a bundled study, or a path")
    parser.add_argument("--storage", type=Path, required=True, help="folder for the study's files")
    parser.add_argument("--dry-run", action="store_true", help="print what Slurm would be given, submit nothing")
    arguments = parser.parse_args()
    try:
        study = load_study(arguments.study)
        if arguments.dry_run:
            print("\n".join(grid_scripts(study, arguments.storage)))
            return 0
        definitions = build_definitions(study, arguments.storage)
    except (ValuesAssetsError, SlurmError) as error:
        print(error, file=sys.stderr)
        return 1
    columns = [SpinnerColumn(), TextColumn("{task.description:<44}"), BarColumn(), MofNCompleteColumn()]
    failures = []
    with (
        dg.DagsterInstance.get() as instance,
        Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as progress,
    ):
        for failure in run_study(definitions, instance, progress, study):
            failures.append(failure)
            progress.console.print(f"[red]failed[/] {failure}", highlight=False)
    return 1 if failures else 0
