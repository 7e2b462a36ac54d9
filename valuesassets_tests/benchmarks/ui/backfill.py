"""A backfill of many cells through webserver and daemon: what is paid per cell beside the reading of models.

What counts is CPU time, that of the servers included: on a machine that others use, wall time says how busy they are.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
from scipy import stats

from slurm_runner.files import tail
from valuesassets.desk.run_process import RunProcess
from valuesassets.orchestration.following.automation import SENSOR
from valuesassets.orchestration.partitions import cell_key
from valuesassets.records.study import Study
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry
from valuesassets_tests.benchmarks.ui.clicks import shown
from valuesassets_tests.benchmarks.ui.import_time import run_python
from valuesassets_tests.benchmarks.ui.processes import Processes, Seen, totals
from valuesassets_tests.desk.web_ui import PLACE, ask_graphql, stop_sensor
from valuesassets_tests.waiting import wait_until

LAUNCH = """mutation ($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
    __typename ... on LaunchBackfillSuccess { backfillId } } }"""
STATUS = "query ($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }"
RESET = "mutation ($sensor: SensorSelector!) { resetSensor(sensorSelector: $sensor) { __typename } }"
ENDED = ("COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED", "CANCELED")
SERVERS = ("daemon", "webserver", "code server", "warm", "supervisor")
SETTLED_SECONDS, IDLE_SECONDS = 10, 30
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


@dataclass(frozen=True)
class Round:
    """One backfill of all cells.

    Attributes:
        spent: CPU time of the instance's processes, by their kind, in seconds.
        wall: seconds.
        grown: KiB of the databases.
    """

    cells: list[Cell]
    spent: Mapping[str, float]
    wall: float
    grown: float


def measure_backfill(
    study: Study,
    environment: Mapping[str, str],
    folder: Path,
    cells: int,
    rounds: int,
    assets: Sequence[str],
    tell: Tell,
) -> Entries:
    """Backfill some assets in the first cells of a prepared study, more than once if asked.

    Where only the readings are, what follows them by itself does not: runs of its own would be counted with theirs.
    """
    keys = [str(cell_key(*cell)) for cell in study.cells()][:cells]
    with (
        Processes(environment) as processes,
        shown(environment, folder / "backfill.log") as address,
        _switched_off(SENSOR, address) if len(assets) == 1 else nullcontext(),
    ):
        time.sleep(SETTLED_SECONDS)
        before = totals(processes.look())
        time.sleep(IDLE_SECONDS)
        idle = sum(_since(before, processes).values()) / IDLE_SECONDS
        done = []
        for number in range(rounds):
            tell(f"backfill of {', '.join(assets)} in {len(keys)} cells, {number + 1} of {rounds}")
            done.append(_measure_round(address, assets, keys, environment, processes, folder / "backfill.log"))
            assert len(done[-1].cells) == len(keys), f"{len(done[-1].cells)} runs of {len(keys)} cells were seen"
    found = _entries(done, processes, idle)
    if len(assets) == 1:
        found["node_start"] = _node_start(folder, study, tell)
        return found
    return {name.replace("cell_", "whole_cell_"): each for name, each in found.items() if name.startswith("cell_")}


def _measure_round(
    address: str,
    assets: Sequence[str],
    keys: Sequence[str],
    environment: Mapping[str, str],
    processes: Processes,
    log: Path,
) -> Round:
    databases = Path(environment["VALUESASSETS_DAGSTER"])
    with dg.DagsterInstance.get() as instance:
        known = {run.run_id for run in instance.get_runs()}
        size, began, before = size_kib(databases), time.time(), totals(processes.look())
        _backfill(address, assets, keys, log)
        wall = time.time() - began
        time.sleep(2)  # the last run's process ends after its run
        spent = _since(before, processes)
        return Round(_cells(instance, known, processes.look()), spent, wall, size_kib(databases) - size)


def _entries(rounds: Sequence[Round], processes: Processes, idle: float) -> Entries:
    cells = [cell for each in rounds for cell in each.cells]
    whole, runs, servers = [], [], []
    for each in rounds:
        n, node = len(each.cells), sum(cell.node for cell in each.cells)
        whole.append((sum(each.spent.values()) - node - idle * each.wall) / n)
        runs.append((each.spent["ended"] - node) / n)
        servers.append(sum(each.spent.get(kind, 0.0) for kind in SERVERS) / n)
    rows = [
        {"CPU seconds per cell": kind, f"round_{n}": each.spent.get(kind, 0.0) / len(each.cells)}
        for n, each in enumerate(rounds, 1)
        for kind in SERVERS
    ]
    return {
        "cell_overhead": entry(whole, "s of CPU time per cell", "<= 3", rows=rows),
        "cell_run_processes": entry(runs, "s of CPU time per cell"),
        "cell_run_process": entry([cell.overhead for cell in cells], "s of CPU time"),
        "cell_servers_with_idling": entry(servers, "s of CPU time per cell"),
        "cell_node_job": entry([cell.node for cell in cells], "s of CPU time"),
        "cell_wall": entry([cell.wall for cell in cells], "s"),
        "cell_wall_in_backfill": entry([each.wall / len(each.cells) for each in rounds], "s per cell"),
        "cell_events": entry([cell.events for cell in cells], "events"),
        "cell_database_growth": entry([each.grown / len(each.cells) for each in rounds], "KiB per cell"),
        "idle_servers": entry([idle], "s of CPU time per s"),
        **_growth("cell_growth_run_process", [cell.overhead for cell in cells]),
        **_growth("cell_growth_servers", _server_seconds(cells, processes)),
    }


def _growth(name: str, values: Sequence[float]) -> Entries:
    """How much more each cell costs than the one before: least squares, with its 95 % interval."""
    at = np.arange(1, len(values) + 1)
    fitted = stats.linregress(at, values)
    half = float(stats.t.ppf(0.975, len(values) - 2) * fitted.stderr) if len(values) > 2 else float("nan")
    slope = float(fitted.slope)
    found = entry(
        [1000 * (slope - half), 1000 * slope, 1000 * (slope + half)], "ms of CPU time per cell, 95 % interval"
    )
    early, late = float(np.median(values[EARLY])), float(np.median(values[LATE]))
    return {name: found | {"rows": [{"cells_3_to_8": early, "last_six": late, "values": len(values)}]}}


def _server_seconds(cells: Sequence[Cell], processes: Processes) -> list[float]:
    """What the servers spent between the end of a cell and of the next."""
    at = [processes.totals_at(cell.ended) for cell in cells]
    spent = [sum(found.get(kind, 0.0) for kind in SERVERS) for found in at]
    return [after - before for before, after in pairwise(spent)]


def _cells(instance: dg.DagsterInstance, known: set[str], seen: Mapping[tuple[int, int], Seen]) -> list[Cell]:
    """The runs of a backfill in the order in which they ended."""
    found = []
    for record in instance.get_run_records():
        run = record.dagster_run
        process = RunProcess.of_run(run.run_id, run.tags)
        if run.run_id in known or process is None:
            continue
        spent = seen[process.pid, process.started]
        node = sum(
            each.own + each.waited for each in seen.values() if (each.kind, each.parent) == ("node", process.pid)
        )
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


def _backfill(address: str, assets: Sequence[str], keys: Sequence[str], log: Path) -> None:
    """One run for each cell, and wait for the last."""
    params = {"assetSelection": [{"path": ["survey", name]} for name in assets], "partitionNames": list(keys)}
    launched: dict[str, Any] = ask_graphql(address, LAUNCH, params=params)["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched

    def status() -> str:
        return ask_graphql(address, STATUS, id=launched["backfillId"])["partitionBackfillOrError"]["status"]

    wait_until(lambda: status() in ENDED, 7200, every=2, said=partial(tail, log))
    assert status() == "COMPLETED_SUCCESS", log.read_text(errors="replace")[-3000:]


@contextmanager
def _switched_off(sensor: str, address: str) -> Iterator[None]:
    """A block in which a sensor does not look, as after a click in the UI."""
    stop_sensor(address, sensor)
    yield
    reset = ask_graphql(address, RESET, sensor=PLACE | {"sensorName": sensor})
    assert reset["resetSensor"]["__typename"] == "Sensor"


def _since(before: Mapping[str, float], processes: Processes) -> dict[str, float]:
    return {kind: spent - before.get(kind, 0.0) for kind, spent in totals(processes.look()).items()}


def _node_start(folder: Path, study: Study, tell: Tell) -> dict[str, Any]:
    """CPU time of a node job that has nothing left to score: its imports, its checks, the model's tokenizer."""
    tell("a node job with nothing to score")
    jobs = sorted((folder / "storage" / study.name / "jobs" / "survey" / "readings").rglob("job.json"))
    spent = [run_python(["-m", "valuesassets.node", str(job)])[0] for job in jobs[:5]]
    return entry(spent, "s of CPU time")


def size_kib(folder: Path) -> float:
    """KiB of all databases below a folder."""
    files = [path for path in folder.rglob("*") if re.search(r"\.db(-wal|-shm)?$", path.name)]
    return sum(path.stat().st_size for path in files) / 1024
