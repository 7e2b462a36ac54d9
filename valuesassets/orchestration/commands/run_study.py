"""Materialise a study, or parts of it, skipping what is fresh.

A partition is fresh when Dagster finds its code version and the data versions of its inputs unchanged since it was
materialised, and its files are still there. Runs are ordinary runs of the instance, made in this process or side by
side in forks of it: the UI shows them.
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
from valuesassets.orchestration.commands.side_by_side import Here, SideBySide
from valuesassets.orchestration.grid.grid_cells import partition_of
from valuesassets.orchestration.grid.left_out import left_out_cells, why_not_asked
from valuesassets.orchestration.grid.probe_grid import failed_cells, grid_job_name
from valuesassets.orchestration.instruments import Instrument, instruments_of
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.resources import Storage, StorageResource, partition_path
from valuesassets.records.study import Study

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
"""Runs log to the instance, where the UI shows it; the console is for progress."""
MOST_NAMED = 3
"""Files that a line names."""
KILLED = "a process that makes runs was killed, perhaps for want of memory; run the command again, it makes the rest"


Tell = Callable[[str, int, int, bool], None]
"""Who is told how far a command is: what is looked at, its number, how many there are, and whether it is being made."""


class LeftOut(str):
    """A line that says what is not asked and why, which is a result and no failure."""

    __slots__ = ()


@dataclass(frozen=True)
class Wanted:
    """Which part of a study.

    Attributes:
        assets: those that are wanted; all where None.
        cells: `<model>/<part>` of those that are wanted; all where None.
        tags: of every run.
        is_forced: whether what is fresh is made again too.
    """

    assets: Collection[dg.AssetKey] | None = None
    cells: Collection[str] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    is_forced: bool = False

    def has_partition(self, partition: str | None) -> bool:
        """Whether a partition is, or is a model or part of, one of the cells."""
        if self.cells is None or partition is None:
            return True
        if isinstance(partition, dg.MultiPartitionKey):
            return partition_path(partition) in self.cells
        return any(partition in cell.split("/") for cell in self.cells)


@dataclass(frozen=True)
class Wave:
    """Assets that one run makes together for each of their partitions; where there are none, one asset and None."""

    keys: tuple[dg.AssetKey, ...]
    partitions: tuple[str | None, ...]


def waves(graph: BaseAssetGraph) -> list[Wave]:
    """The graph in runs: a partitioned asset is in the earliest wave of its partitions that comes after its inputs.

    With a single partition there is nothing beside it to make at once: as without partitions, each asset stands alone.
    """
    found: list[tuple[list[dg.AssetKey], dg.PartitionsDefinition | None]] = []
    place: dict[dg.AssetKey, int] = {}
    for key in graph.toposorted_asset_keys:
        node = graph.get(key)
        after = max((place[parent] for parent in node.parent_keys if parent in place), default=0)
        has_many = node.partitions_def is not None and len(node.partitions_def.get_partition_keys()) > 1
        alike = (n for n in range(after, len(found)) if has_many and found[n][1] == node.partitions_def)
        place[key] = next(alike, len(found))
        if place[key] == len(found):
            found.append(([], node.partitions_def))
        found[place[key]][0].append(key)
    return [
        Wave(tuple(keys), tuple(partitions.get_partition_keys()) if partitions else (None,))
        for keys, partitions in found
    ]


@dataclass(frozen=True)
class Part:
    """What one run makes: assets in one partition, or what is asked of the cells of an instrument's `grid`."""

    keys: tuple[dg.AssetKey, ...]
    partition: str | None = None
    grid: Instrument | None = None


def parts_of(graph: BaseAssetGraph, study: Study | None, wanted: Wanted) -> dict[Part, set[Part]]:
    """The parts of a study, each with those that come before it; first those that most others wait for."""
    makers: dict[dg.AssetKey, dict[str | None, Part]] = defaultdict(dict)
    parts: dict[Part, set[Part]] = {}
    instruments = instruments_of(study) if study is not None else []
    for wave in waves(graph):
        keys = tuple(key for key in wave.keys if wanted.assets is None or key in wanted.assets)
        grids = [Part((one.asked,), grid=one) for one in instruments if one.asked in keys]
        parts |= {grid: set() for grid in grids}
        for partition in filter(wanted.has_partition, wave.partitions if keys else ()):
            part, before = Part(keys, partition), {*_before(keys, partition, graph, makers)}
            parts[part] = before.union(grids)
            for grid in grids:  # a cell is read as soon as it can be, whatever else is made of it later
                parts[grid] |= {*_before(grid.keys, partition, graph, makers)}
            for key in keys:
                makers[key][partition] = part
    later: dict[Part, set[Part]] = {part: set() for part in parts}
    for part in reversed(parts):
        for earlier in parts[part]:
            later[earlier] |= {part} | later[part]
    return {part: parts[part] for part in sorted(parts, key=lambda part: -len(later[part]))}


def _before(
    keys: Iterable[dg.AssetKey],
    partition: str | None,
    graph: BaseAssetGraph,
    makers: Mapping[dg.AssetKey, Mapping[str | None, Part]],
) -> Iterator[Part]:
    """The parts, of those found so far, that make the inputs of assets in a partition."""
    for key in keys:
        for parent, its_partition in inputs_of(key, partition, graph):
            for made_in, part in makers.get(parent, {}).items():
                if its_partition in (None, made_in):
                    yield part


def run_study(
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
    tell: Tell = lambda *_: None,
    study: Study | None = None,
    wanted: Wanted = Wanted(),
    runs: SideBySide | None = None,
) -> Iterator[str]:
    """Materialise what is stale, each part as soon as its inputs are done; one that fails stops nothing that can go on.

    Args:
        study: whose cells are read, each grid in one run.
        runs: makes several runs at once; without it, they are made in this process, one by one.

    Yields:
        One line per failed run: its assets, partition and first error; and a `LeftOut` for each cell or part that no
        model is asked in, as soon as it is known.
    """
    fail_dead_runs(instance)
    try:
        yield from _make_parts(Here(definitions, instance), runs, tell, study, wanted)
    except BaseException:
        if runs is not None:
            runs.interrupt()
        raise


def _make_parts(here: Here, runs: SideBySide | None, tell: Tell, study: Study | None, wanted: Wanted) -> Iterator[str]:
    at_once = runs.at_once if runs is not None else 1
    before = parts_of(here.graph, study, wanted)
    left, making = list(before), dict[Future[dict[str, str]], Part]()
    unread, undone = set[str](), {*before}
    left_out = _left_out_before(here, before, study)
    now = Staleness(here.graph, here.instance, _folder_of(here))
    while left or making:
        part = next((part for part in left if before[part].isdisjoint(undone)), None)
        if part is None or len(making) == at_once:
            done = next(as_completed(making))
            made = making.pop(done)
            undone.remove(made)
            now = Staleness(here.graph, here.instance, _folder_of(here))
            try:
                failures = done.result()
            except BrokenProcessPool:
                if runs is not None:
                    runs.renew()
                fail_dead_runs(here.instance)
                failures = {_described(made.keys, made.partition): KILLED}
            unread |= {*failures} if made.grid else set()
            yield from (f"{name}: {failure}" for name, failure in failures.items())
            yield from _newly_left_out(here, made, study, left_out)
            continue
        left.remove(part)
        number = len(before) - len(left)
        tell(_described(part.keys, part.partition)[:44], number, len(before), False)
        cell = partition_path(part.partition) if isinstance(part.partition, dg.MultiPartitionKey) else None
        is_unread = f"{part.keys[0].path[-1]} {cell}" in unread  # the grid failed to read it
        is_unread |= f"{part.keys[0].path[0]} {cell}" in left_out
        stale = [] if is_unread else _stale_of(part, now, study, wanted)
        if part.grid is not None:
            stale = [cell for cell in stale if f"{part.grid.name} {cell}" not in left_out]
        if not stale:
            undone.remove(part)
            yield from _newly_left_out(here, part, study, left_out)
        if stale:
            described = f"{part.grid.asks} of the grid" if part.grid else _described(stale, part.partition)
            tell(described + _damage(part, stale, now), number, len(before), True)
            making[_submitted(here, runs, part, stale, wanted.tags)] = part
    tell("", len(before) + 1, len(before), False)


def _storage_of(here: Here) -> Storage | None:
    resource = (here.definitions.resources or {}).get("storage")
    storage = resource.storage if isinstance(resource, StorageResource) else resource
    return storage if isinstance(storage, Storage) else None


def _folder_of(here: Here) -> Path | None:
    storage = _storage_of(here)
    return storage.folder if storage else None


def _left_out_before(here: Here, parts: Collection[Part], study: Study | None) -> dict[str, str]:
    """What preflights that were made before leave out, of instruments whose preflight is not wanted now."""
    storage, wanted = _storage_of(here), {key for part in parts for key in part.keys}
    if study is None or storage is None:
        return {}
    return {
        f"{instrument.name} {cell}": reason
        for instrument in instruments_of(study)
        if instrument.key("preflight") not in wanted
        for cell, reason in left_out_cells(study, storage, instrument).items()
    }


def _newly_left_out(here: Here, part: Part, study: Study | None, known: dict[str, str]) -> Iterator[str]:
    """What a part that is made says is not asked: a line for each cell or part of an instrument, told once.

    A model that is asked nothing of an instrument is a failure: nothing that follows can be made of it.
    """
    storage = _storage_of(here)
    if study is None or storage is None:
        return
    for instrument in instruments_of(study):
        keys = {instrument.key(noun) for noun in ("preflight", "trials")} & {*part.keys}
        if instrument.key("trials") in keys:
            reason = why_not_asked(storage, instrument, str(part.partition))
            if reason and f"{instrument.name} {part.partition}" not in known:
                known[f"{instrument.name} {part.partition}"] = reason
                yield LeftOut(f"{instrument.name} {part.partition}: {reason}")
        if instrument.key("preflight") in keys:
            family = str(part.partition)
            found = left_out_cells(study, storage, instrument)
            own = {cell: reason for cell, reason in found.items() if cell.startswith(f"{family}/")}
            for name in [name for name in known if name.startswith(f"{instrument.name} {family}/")]:
                del known[name]
            is_stopped = len(own) == sum(cell.family == family for cell in instrument.cells(study)) > 0
            for cell, reason in own.items():
                is_told = f"{instrument.name} {cell.removeprefix(f'{family}/')}" in known
                known[f"{instrument.name} {cell}"] = reason
                if not is_told:
                    yield LeftOut(f"{instrument.name} {cell}: {reason}")
            if is_stopped:
                yield (
                    f"{instrument.name} {family}: no cell of it passed its preflight; mend what the lines above say, "
                    "or override it"
                )


def _submitted(here: Here, runs: SideBySide | None, *given: Any) -> Future[dict[str, str]]:
    """What `make` will return; where there are no forks, it has been made by now."""
    if runs is not None:
        return runs.submit(make, *given)
    done: Future[dict[str, str]] = Future()
    done.set_result(make(here, *given))
    return done


def _described(keys: Collection[dg.AssetKey], partition: str | None) -> str:
    names = ", ".join(key.path[-1] for key in keys)
    return f"{names} {partition_path(partition)}" if partition else names


def _damage(part: Part, stale: Collection[Any], now: Staleness) -> str:
    """What a line says of files that are made again because they are gone or hold something else than was written."""
    if part.grid is None:
        found = now.damaged(stale, part.partition)
    else:
        cells = [cell_key(*name.split("/"), dimension=part.grid.part) for name in stale]
        found = [path for cell in cells for path in now.damaged(part.keys, cell)]
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f" (gone, or not as written: {', '.join(map(str, found[:MOST_NAMED]))}{more})" if found else ""


def _stale_of(part: Part, now: Staleness, study: Study | None, wanted: Wanted) -> list[Any]:
    """What of a part is to be made: its assets, or the grid's cells as `<model>/<part>`."""
    if part.grid is None or study is None:
        return list(part.keys) if wanted.is_forced else now.of(part.keys, part.partition)
    return [
        str(cell)
        for cell in part.grid.cells(study)
        if (wanted.cells is None or str(cell) in wanted.cells)
        and (wanted.is_forced or now.of(part.keys, partition_of(part.grid, cell)))
    ]


def make(here: Here, part: Part, stale: list[Any], tags: Mapping[str, str]) -> dict[str, str]:
    """Make what is stale of a part; why that failed which did, by its name."""
    if part.grid is None:
        job = here.definitions.resolve_implicit_global_asset_job_def()
        result = _execute(job, here.instance, QUIET, tags, partition_key=part.partition, asset_selection=stale)
        return {} if result.success else {_described(stale, part.partition): first_error(result.run_id, here.instance)}
    config = QUIET | {"ops": {"submit_gpu_partitions": {"config": {"cells": stale}}}}
    result = _execute(here.definitions.resolve_job_def(grid_job_name(part.grid)), here.instance, config, tags)
    if result.success:
        return {}
    failed = failed_cells(result) or dict.fromkeys(stale, first_error(result.run_id, here.instance))
    return {f"{part.grid.asks} {name}": failure for name, failure in failed.items()}


def _execute(
    job: dg.JobDefinition,
    instance: dg.DagsterInstance,
    run_config: dict[str, Any],
    tags: Mapping[str, str],
    **selection: Any,
) -> dg.ExecuteInProcessResult:
    """Run a job in this process, and say so in its tags; where it is killed, this command is given again."""
    run_id = str(uuid4())
    process = RunProcess.find(run_id, os.getpid())
    own = {MAX_RETRIES_TAG: "0", COMMAND_TAG: RUN_STUDY} | (process.tags() if process else {})
    result = job.execute_in_process(
        run_config=run_config, instance=instance, raise_on_error=False, run_id=run_id, tags={**tags, **own}, **selection
    )
    if is_cancelled(instance, run_id):  # with the job that this is a part of: what would come next is not wanted
        raise KeyboardInterrupt
    return result
