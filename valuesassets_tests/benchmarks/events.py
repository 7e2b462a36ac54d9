"""What the events of a run cost in Dagster's SQLite storage and in ours, which keeps a connection open."""

import logging
import time
from pathlib import Path

import dagster as dg
from dagster._core.instance import InstanceRef
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage

from valuesassets.dagster_internals.storage import SqliteStorage
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry


def measure(scratch: Path, observations: int, repetitions: int, tell: Tell) -> Entries:
    """Seconds of a run that says so many things of its asset, after one run that makes the tables."""
    logging.getLogger("dagster").setLevel(logging.CRITICAL)
    tell(f"events: runs with {observations} observations in two storages, {repetitions} of each")
    found: dict[str, list[tuple[float, float]]] = {}
    for kind in (DagsterSqliteStorage, SqliteStorage):
        folder = scratch / kind.__name__
        folder.mkdir()
        named = {"module": kind.__module__, "class": kind.__name__, "config": {"base_dir": str(folder)}}
        ref = InstanceRef.from_dir(str(folder), overrides={"storage": {"custom": named}})
        with dg.DagsterInstance.from_ref(ref) as instance:
            run(instance, 1)
            found[kind.__name__] = [run(instance, observations) for _ in range(repetitions)]
    dagster, ours = (found[kind.__name__] for kind in (DagsterSqliteStorage, SqliteStorage))
    of = {"observations": observations, "cpu_seconds": [cpu for cpu, _ in ours], "wall_seconds": [w for _, w in ours]}
    return {
        f"events_{name}_vs_dagster": entry(
            [mine[place] / theirs[place] for mine, theirs in zip(ours, dagster, strict=True)], "times", "<= 0.6", **of
        )
        for place, name in enumerate(("cpu", "wall"))
    }


def run(instance: dg.DagsterInstance, observations: int) -> tuple[float, float]:
    """CPU and wall seconds of one run."""

    @dg.asset
    def observed(context: dg.AssetExecutionContext) -> None:
        for _ in range(observations):
            context.log_event(dg.AssetObservation("observed"))

    started, cpu = time.perf_counter(), time.process_time()
    dg.materialize([observed], instance=instance)
    return time.process_time() - cpu, time.perf_counter() - started
