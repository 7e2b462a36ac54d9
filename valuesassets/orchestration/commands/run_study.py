"""Materialises a study or parts of it, without those that are fresh (see `desk.staleness`).

The runs are ordinary runs of the instance, so that the UI shows them. They are made in this process, or several at
once in forks of it.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import dagster as dg

from slurm_runner.claims import is_cancelled
from valuesassets.dagster_internals.graph import BaseAssetGraph
from valuesassets.dagster_internals.tags import MAX_RETRIES_TAG
from valuesassets.desk.first_errors import first_error
from valuesassets.desk.inputs import inputs_of
from valuesassets.desk.run_launcher import fail_dead_runs
from valuesassets.desk.run_names import COMMAND_TAG, RUN_STUDY
from valuesassets.desk.run_process import RunProcess
from valuesassets.desk.staleness import Staleness
from valuesassets.orchestration.commands.side_by_side import SideBySide, Workspace
from valuesassets.orchestration.grid.grid_cells import partition_of
from valuesassets.orchestration.grid.left_out import left_out_cells, why_not_asked
from valuesassets.orchestration.grid.probe_grid import failed_cells, grid_job_name
from valuesassets.orchestration.instruments import Instrument, instruments_of
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.resources import Storage, StorageResource, partition_path
from valuesassets.records.study import Study

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Run configuration without a log on the console, which shows the progress; the UI has the runs' logs."""
MOST_NAMED = 3
"""Most files that a line names."""
KILLED = "a process that makes runs was killed, perhaps for lack of memory; run the command again to make the rest"


Tell = Callable[[str, int, int, bool], None]
"""Reports progress: the current part, its number, the number of parts, and whether the part is being made."""


class LeftOut(str):
    """A line on a cell or part that is left out, with the reason; this is a result, not a failure."""

    __slots__ = ()


@dataclass(frozen=True)
class Wanted:
    """The parts of a study to make.

    Attributes:
        assets: the assets to make; None for all.
        cells: the cells to make, as `<model>/<part>`; None for all.
        tags: tags of every run.
        is_forced: whether fresh parts are made again too.
    """

    assets: Collection[dg.AssetKey] | None = None
    cells: Collection[str] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    is_forced: bool = False

    def has_partition(self, partition: str | None) -> bool:
        """Whether a partition is one of the cells, or the model or part of one."""
        if self.cells is None or partition is None:
            return True
        if isinstance(partition, dg.MultiPartitionKey):
            return partition_path(partition) in self.cells
        return any(partition in cell.split("/") for cell in self.cells)


@dataclass(frozen=True)
class Wave:
    """Assets that one run makes together for each of their partitions; without partitions, one asset and None."""

    keys: tuple[dg.AssetKey, ...]
    partitions: tuple[str | None, ...]


def waves(graph: BaseAssetGraph) -> list[Wave]:
    """The graph's assets grouped into waves: a partitioned asset joins the earliest possible wave with its partitions.

    Assets with a single partition, or with none, each have their own wave.
    """
    waves_found: list[tuple[list[dg.AssetKey], dg.PartitionsDefinition | None]] = []
    wave_of: dict[dg.AssetKey, int] = {}
    for key in graph.toposorted_asset_keys:
        node = graph.get(key)
        after = max((wave_of[parent] for parent in node.parent_keys if parent in wave_of), default=0)
        has_many = node.partitions_def is not None and len(node.partitions_def.get_partition_keys()) > 1
        candidates = (
            number
            for number in range(after, len(waves_found))
            if has_many and waves_found[number][1] == node.partitions_def
        )
        wave_of[key] = next(candidates, len(waves_found))
        if wave_of[key] == len(waves_found):
            waves_found.append(([], node.partitions_def))
        waves_found[wave_of[key]][0].append(key)
    return [
        Wave(tuple(keys), tuple(partitions.get_partition_keys()) if partitions else (None,))
        for keys, partitions in waves_found
    ]


@dataclass(frozen=True)
class Part:
    """The work of one run: assets in one partition, or the cells of an instrument's grid."""

    keys: tuple[dg.AssetKey, ...]
    partition: str | None = None
    grid: Instrument | None = None


def parts_of(graph: BaseAssetGraph, study: Study | None, wanted: Wanted) -> dict[Part, set[Part]]:
    """The parts of a study, each with the parts it waits for; those that most others wait for come first."""
    makers: dict[dg.AssetKey, dict[str | None, Part]] = defaultdict(dict)
    parts: dict[Part, set[Part]] = {}
    instruments = instruments_of(study) if study is not None else []
    for wave in waves(graph):
        keys = tuple(key for key in wave.keys if wanted.assets is None or key in wanted.assets)
        grids = [Part((instrument.asked,), grid=instrument) for instrument in instruments if instrument.asked in keys]
        parts |= {grid: set() for grid in grids}
        for partition in filter(wanted.has_partition, wave.partitions if keys else ()):
            part, earlier_parts = Part(keys, partition), {*_makers_of_inputs(keys, partition, graph, makers)}
            parts[part] = earlier_parts.union(grids)
            for grid in grids:  # a cell waits only for the inputs of its readings
                parts[grid] |= {*_makers_of_inputs(grid.keys, partition, graph, makers)}
            for key in keys:
                makers[key][partition] = part
    later: dict[Part, set[Part]] = {part: set() for part in parts}
    for part in reversed(parts):
        for earlier in parts[part]:
            later[earlier] |= {part} | later[part]
    return {part: parts[part] for part in sorted(parts, key=lambda part: -len(later[part]))}


def _makers_of_inputs(
    keys: Iterable[dg.AssetKey],
    partition: str | None,
    graph: BaseAssetGraph,
    makers: Mapping[dg.AssetKey, Mapping[str | None, Part]],
) -> Iterator[Part]:
    """The parts, among those in `makers`, that make the inputs of assets in a partition."""
    for key in keys:
        for parent, input_partition in inputs_of(key, partition, graph):
            for partition_made, part in makers.get(parent, {}).items():
                if input_partition in (None, partition_made):
                    yield part


def run_study(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    tell: Tell = lambda *_: None,
    study: Study | None = None,
    wanted: Wanted = Wanted(),
    runs: SideBySide | None = None,
) -> Iterator[str]:
    """Materialise stale parts, each as soon as its inputs are done; a failure stops only the parts that need it.

    Args:
        study: the study whose cells are read, each grid in one run.
        runs: makes several runs at once; without it, runs are made in this process, one after the other.

    Yields:
        A line for each failed run with its assets, partition and first error, and a `LeftOut` for each cell or part
        that is left out.
    """
    fail_dead_runs(instance)
    try:
        yield from _make_parts(Workspace(definitions, instance), runs, tell, study, wanted)
    except BaseException:
        if runs is not None:
            runs.interrupt()
        raise


def _make_parts(
    workspace: Workspace, runs: SideBySide | None, tell: Tell, study: Study | None, wanted: Wanted
) -> Iterator[str]:
    at_once = runs.at_once if runs is not None else 1
    inputs = parts_of(workspace.graph, study, wanted)
    waiting, making = list(inputs), dict[Future[dict[str, str]], Part]()
    unread, unfinished = set[tuple[dg.AssetKey, str]](), {*inputs}
    left_out = _left_out_before(workspace, inputs, study)
    staleness = Staleness(workspace.graph, workspace.instance, _folder_of(workspace))
    while waiting or making:
        part = next((part for part in waiting if inputs[part].isdisjoint(unfinished)), None)
        if part is None or len(making) == at_once:
            finished = next(as_completed(making))
            finished_part = making.pop(finished)
            unfinished.remove(finished_part)
            staleness = Staleness(workspace.graph, workspace.instance, _folder_of(workspace))
            try:
                failures = finished.result()
            except BrokenProcessPool:
                if runs is not None:
                    runs.renew()
                fail_dead_runs(workspace.instance)
                yield f"{_label(finished_part.keys, finished_part.partition)}: {KILLED}"
                failures = {}
            grid = finished_part.grid
            unread |= {(grid.asked, cell) for cell in failures} if grid else set()
            yield from (f"{grid.asks} {name}: {why}" if grid else f"{name}: {why}" for name, why in failures.items())
            yield from _newly_left_out(workspace, finished_part, study, left_out)
            continue
        waiting.remove(part)
        number = len(inputs) - len(waiting)
        tell(_label(part.keys, part.partition)[:44], number, len(inputs), False)
        cell = partition_path(part.partition) if isinstance(part.partition, dg.MultiPartitionKey) else None
        is_unread = any((key, cell) in unread for key in part.keys)  # the grid failed to read it
        is_unread |= f"{part.keys[0].path[0]} {cell}" in left_out
        stale = [] if is_unread else _stale_of(part, staleness, study, wanted)
        if part.grid is not None:
            stale = [cell for cell in stale if f"{part.grid.name} {cell}" not in left_out]
        if not stale:
            unfinished.remove(part)
            yield from _newly_left_out(workspace, part, study, left_out)
        if stale:
            label = f"{part.grid.asks} of the grid" if part.grid else _label(stale, part.partition)
            tell(label + _damage(part, stale, staleness), number, len(inputs), True)
            making[_submit(workspace, runs, part, stale, wanted.tags)] = part
    tell("", len(inputs) + 1, len(inputs), False)


def _storage_of(workspace: Workspace) -> Storage | None:
    resource = (workspace.definitions.resources or {}).get("storage")
    storage = resource.storage if isinstance(resource, StorageResource) else resource
    return storage if isinstance(storage, Storage) else None


def _folder_of(workspace: Workspace) -> Path | None:
    storage = _storage_of(workspace)
    return storage.folder if storage else None


def _left_out_before(workspace: Workspace, parts: Collection[Part], study: Study | None) -> dict[str, str]:
    """Cells that earlier preflights leave out, of instruments whose preflight is not made now, with reasons."""
    storage, wanted = _storage_of(workspace), {key for part in parts for key in part.keys}
    if study is None or storage is None:
        return {}
    return {
        f"{instrument.name} {cell}": reason
        for instrument in instruments_of(study)
        if instrument.key("preflight") not in wanted
        for cell, reason in left_out_cells(study, storage, instrument).items()
    }


def _newly_left_out(workspace: Workspace, part: Part, study: Study | None, reasons: dict[str, str]) -> Iterator[str]:
    """A line for each cell or part that a finished part leaves out, each reported once.

    A model with no cell left in an instrument is a failure, since nothing can be derived from it.
    """
    storage = _storage_of(workspace)
    if study is None or storage is None:
        return
    for instrument in instruments_of(study):
        keys = {instrument.key(noun) for noun in ("preflight", "trials")} & {*part.keys}
        if instrument.key("trials") in keys:
            reason = why_not_asked(storage, instrument, str(part.partition))
            if reason and f"{instrument.name} {part.partition}" not in reasons:
                reasons[f"{instrument.name} {part.partition}"] = reason
                yield LeftOut(f"{instrument.name} {part.partition}: {reason}")
        if instrument.key("preflight") in keys:
            family = str(part.partition)
            all_reasons = left_out_cells(study, storage, instrument)
            family_reasons = {cell: reason for cell, reason in all_reasons.items() if cell.startswith(f"{family}/")}
            for name in [name for name in reasons if name.startswith(f"{instrument.name} {family}/")]:
                del reasons[name]
            is_stopped = len(family_reasons) == sum(cell.family == family for cell in instrument.cells(study)) > 0
            for cell, reason in family_reasons.items():
                is_part_left_out = f"{instrument.name} {cell.removeprefix(f'{family}/')}" in reasons
                reasons[f"{instrument.name} {cell}"] = reason
                if not is_part_left_out:
                    yield LeftOut(f"{instrument.name} {cell}: {reason}")
            if is_stopped:
                yield (
                    f"{instrument.name} {family}: no cell of it passed its preflight; mend what the lines above say, "
                    f"or override it{_hint_at_a_chat(study, family, family_reasons.values())}"
                )


def _hint_at_a_chat(study: Study, family: str, reasons: Iterable[str]) -> str:
    """What helps a model that was made for chats and was asked in none; empty where that is not in question."""
    is_text = study.families[family].kind == "huggingface" and not study.families[family].prompting.is_chat
    if not is_text or not any("P_valid" in reason for reason in reasons):
        return ""
    return f"; a model that was made for chats answers in one: style = 'chat' in [families.{family}.prompting]"


def _submit(workspace: Workspace, runs: SideBySide | None, *arguments: Any) -> Future[dict[str, str]]:
    """The future result of `make`; without forks, it is made right here."""
    if runs is not None:
        return runs.submit(make, *arguments)
    result: Future[dict[str, str]] = Future()
    result.set_result(make(workspace, *arguments))
    return result


def _label(keys: Collection[dg.AssetKey], partition: str | None) -> str:
    names = ", ".join(key.path[-1] for key in keys)
    return f"{names} {partition_path(partition)}" if partition else names


def _damage(part: Part, stale: Collection[Any], staleness: Staleness) -> str:
    """The end of a line that names files to be made again because they are missing or damaged."""
    if part.grid is None:
        files = staleness.damaged(stale, part.partition)
    else:
        cells = [cell_key(*name.split("/"), dimension=part.grid.part) for name in stale]
        files = [path for cell in cells for path in staleness.damaged(part.keys, cell)]
    more = f" and {len(files) - MOST_NAMED} more" if len(files) > MOST_NAMED else ""
    return f" (missing or damaged: {', '.join(map(str, files[:MOST_NAMED]))}{more})" if files else ""


def _stale_of(part: Part, staleness: Staleness, study: Study | None, wanted: Wanted) -> list[Any]:
    """The stale assets of a part, or the stale cells of a grid as `<model>/<part>`."""
    if part.grid is None or study is None:
        return list(part.keys) if wanted.is_forced else staleness.of(part.keys, part.partition)
    return [
        str(cell)
        for cell in part.grid.cells(study)
        if (wanted.cells is None or str(cell) in wanted.cells)
        and (wanted.is_forced or staleness.of(part.keys, partition_of(part.grid, cell)))
    ]


def make(workspace: Workspace, part: Part, stale: list[Any], tags: Mapping[str, str]) -> dict[str, str]:
    """Make stale assets or cells; returns failures by cell of a grid, or by label of a part."""
    if part.grid is None:
        job = workspace.definitions.resolve_implicit_global_asset_job_def()
        result = _execute(job, workspace.instance, QUIET, tags, partition_key=part.partition, asset_selection=stale)
        return {} if result.success else {_label(stale, part.partition): first_error(result.run_id, workspace.instance)}
    config = QUIET | {"ops": {"submit_gpu_partitions": {"config": {"cells": stale}}}}
    result = _execute(workspace.definitions.resolve_job_def(grid_job_name(part.grid)), workspace.instance, config, tags)
    if result.success:
        return {}
    return failed_cells(result) or dict.fromkeys(stale, first_error(result.run_id, workspace.instance))


def _execute(
    job: dg.JobDefinition,
    instance: dg.DagsterInstance,
    run_config: dict[str, Any],
    tags: Mapping[str, str],
    **selection: Any,
) -> dg.ExecuteInProcessResult:
    """Run a job in this process, without automatic retries: after a kill, a person repeats the command."""
    run_id = str(uuid4())
    process = RunProcess.find(run_id, os.getpid())
    command_tags = {MAX_RETRIES_TAG: "0", COMMAND_TAG: RUN_STUDY} | (process.tags() if process else {})
    result = job.execute_in_process(
        run_config=run_config,
        instance=instance,
        raise_on_error=False,
        run_id=run_id,
        tags={**tags, **command_tags},
        **selection,
    )
    if is_cancelled(instance, run_id):  # together with the job that started this command
        raise KeyboardInterrupt
    return result
