"""A backfill of many cells through webserver and daemon: what is paid per cell beside the reading of models.

What counts is CPU time, that of the servers included: on a machine that others use, wall time says how busy they are.
"""

import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
from scipy import stats

from slurm_runner.files import tail
from valuesassets.orchestration.partitions import cell_key
from valuesassets.orchestration.run_process import RunProcess
from valuesassets.records.study import Study
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry
from valuesassets_tests.benchmarks.ui.clicks import shown
from valuesassets_tests.benchmarks.ui.import_time import run_python
from valuesassets_tests.benchmarks.ui.prepared_study import CELL
from valuesassets_tests.benchmarks.ui.processes import Processes, Seen, totals
from valuesassets_tests.orchestration.web_ui import ask_graphql
from valuesassets_tests.waiting import wait_until

LAUNCH = """mutation ($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
    __typename ... on LaunchBackfillSuccess { backfillId } } }"""
STATUS = "query ($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }"
ENDED = ("COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED", "CANCELED")
SERVERS = ("daemon", "webserver", "code server", "warm", "supervisor")
IDLE_SECONDS = 20
EARLY, LATE = slice(2, 8), slice(-6, None)
"""Cells 3 to 8, and the last six."""


@dataclass(frozen=True)
class Cell:
    """What one cell's run cost.

    Attributes:
        overhead: CPU time of the run's process and of what it started but for the node job, in seconds.
        node: that of its node job; the tenth of a second after it was seen last is taken for overhead.
        wall: from the run's start to its end.
    """

    name: str
    ended: float
    overhead: float
    node: float
    wall: float
    events: int


def measure_backfill(
    study: Study, environment: Mapping[str, str], folder: Path, cells: int, rounds: int, tell: Tell
) -> Entries:
    """Backfill the first cells of a prepared study, more than once if asked."""
    keys = [str(cell_key(*cell)) for cell in study.cells()][:cells]
    log, databases = folder / "backfill.log", Path(environment["VALUESASSETS_DAGSTER"])
    with (
        Processes(environment) as processes,
        shown(environment, log) as address,
        dg.DagsterInstance.get() as instance,
    ):
        time.sleep(5)
        before = totals(processes.look())
        time.sleep(IDLE_SECONDS)
        idle = _total(totals(processes.look()), before) / IDLE_SECONDS
        runs: list[Cell] = []
        spent: list[dict[str, float]] = []
        sizes, seconds = [], []
        for number in range(rounds):
            tell(f"backfill of {len(keys)} cells, {number + 1} of {rounds}")
            size, began, before = size_kib(databases), time.time(), totals(processes.look())
            known = {run.run_id for run in instance.get_runs()}
            _backfill(address, keys, log)
            time.sleep(2)  # the last run's process ends after its run
            after = totals(processes.look())
            spent.append({kind: after.get(kind, 0.0) - before.get(kind, 0.0) for kind in after})
            sizes.append((size_kib(databases) - size) / len(keys))
            seconds.append((time.time() - began) / len(keys))
            runs += _cells(instance, known, processes.look())
    assert len(runs) == rounds * len(keys), f"{len(runs)} runs of {rounds * len(keys)} cells were seen"
    return _entries(runs, spent, processes, idle, len(keys)) | {
        "cell_wall_in_backfill": entry(seconds, "s per cell"),
        "database_growth": entry(sizes, "KiB per cell"),
        "node_start": _node_start(folder, study, tell),
    }


def _entries(
    cells: Sequence[Cell], spent: Sequence[Mapping[str, float]], processes: Processes, idle: float, per_round: int
) -> Entries:
    nodes = [cells[at : at + per_round] for at in range(0, len(cells), per_round)]
    node = [sum(cell.node for cell in each) for each in nodes]
    whole = [(sum(found.values()) - seen) / per_round for found, seen in zip(spent, node, strict=True)]
    servers = [sum(found.get(kind, 0.0) for kind in SERVERS) / per_round for found in spent]
    rows = [
        {"of": kind, **{f"round_{n}": found.get(kind, 0.0) / per_round for n, found in enumerate(spent, 1)}}
        for kind in SERVERS
    ]
    rows.append(
        {
            "of": "processes of runs",
            **{f"round_{n}": (found["ended"] - seen) / per_round for n, (found, seen) in enumerate(zip(spent, node), 1)},
        }
    )
    own = [cell.overhead for cell in cells]
    by_cell = _server_seconds(cells, processes)
    return {
        "cell_overhead": entry(whole, "s of CPU time per cell", "<= 3", rows=rows),
        "cell_run_process": entry(own, "s of CPU time"),
        "cell_servers": entry(servers, "s of CPU time per cell"),
        "cell_node_job": entry([cell.node for cell in cells], "s of CPU time"),
        "cell_wall": entry([cell.wall for cell in cells], "s"),
        "cell_events": entry([cell.events for cell in cells], "events"),
        "idle_servers": entry([idle], "s of CPU time per s"),
        **_growth("cell_growth_run_process", own),
        **_growth("cell_growth_servers", by_cell),
    }


def _growth(name: str, values: Sequence[float]) -> Entries:
    """How much more each cell costs than the one before: least squares, with its 95 % interval."""
    at = np.arange(1, len(values) + 1)
    fitted = stats.linregress(at, values)
    half = float(stats.t.ppf(0.975, len(values) - 2) * fitted.stderr) if len(values) > 2 else float("nan")
    slope = float(fitted.slope)
    found = entry([1000 * (slope - half), 1000 * slope, 1000 * (slope + half)], "ms of CPU time per cell, 95 % interval")
    early, late = float(np.median(values[EARLY])), float(np.median(values[LATE]))
    return {name: found | {"rows": [{"cells_3_to_8": early, "last_six": late, "values": len(values)}]}}


def _server_seconds(cells: Sequence[Cell], processes: Processes) -> list[float]:
    """What the servers spent between the end of a cell and of the next; a cell's share where several end at once."""
    ends = [cell.ended for cell in cells]
    spent = [sum(processes.totals_at(end).get(kind, 0.0) for kind in SERVERS) for end in ends]
    return [after - before for before, after in zip(spent, spent[1:], strict=False)]


def _cells(instance: dg.DagsterInstance, known: set[str], seen: Mapping[tuple[int, int], Seen]) -> list[Cell]:
    """The runs of a backfill in the order in which they ended."""
    found = []
    for record in instance.get_run_records():
        run = record.dagster_run
        process = RunProcess.of_run(run.run_id, run.tags)
        if run.run_id in known or process is None:
            continue
        spent = seen[process.pid, process.started]
        node = sum(each.own + each.waited for each in seen.values() if (each.kind, each.parent) == ("node", process.pid))
        found.append(
            Cell(
                name=run.tags["dagster/partition"],
                ended=record.end_time or 0.0,
                overhead=spent.own + spent.waited - node,
                node=node,
                wall=(record.end_time or 0.0) - (record.start_time or 0.0),
                events=len(instance.all_logs(run.run_id)),
            )
        )
    return sorted(found, key=lambda cell: cell.ended)


def _backfill(address: str, keys: Sequence[str], log: Path) -> None:
    """One run for each cell, and wait for the last."""
    params = {"assetSelection": [{"path": ["survey", name]} for name in CELL], "partitionNames": list(keys)}
    launched: dict[str, Any] = ask_graphql(address, LAUNCH, params=params)["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched

    def status() -> str:
        return ask_graphql(address, STATUS, id=launched["backfillId"])["partitionBackfillOrError"]["status"]

    wait_until(lambda: status() in ENDED, 7200, every=2, said=partial(tail, log))
    assert status() == "COMPLETED_SUCCESS", log.read_text(errors="replace")[-3000:]


def _total(after: Mapping[str, float], before: Mapping[str, float]) -> float:
    return sum(after.values()) - sum(before.values())


def _node_start(folder: Path, study: Study, tell: Tell) -> dict[str, Any]:
    """CPU time of a node job that has nothing left to score: its imports, its checks, the model's tokenizer."""
    tell("a node job with nothing to score")
    jobs = sorted((folder / "storage" / study.name / "jobs" / "readings").rglob("job.json"))
    spent = [run_python(["-m", "valuesassets.node", str(job)])[0] for job in jobs[:5]]
    return entry(spent, "s of CPU time")


def size_kib(folder: Path) -> float:
    """KiB of all databases below a folder."""
    files = [path for path in folder.rglob("*") if re.search(r"\.db(-wal|-shm)?$", path.name)]
    return sum(path.stat().st_size for path in files) / 1024
