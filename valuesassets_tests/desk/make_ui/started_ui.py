"""An instance of its own over a toy graph, the UIs that are started over it, and what can be seen of them."""

import json
import urllib.error
import urllib.request
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from slurm_runner.files import tail
from valuesassets.desk.run_process import RunProcess
from valuesassets.desk.server_process import SOCKET
from valuesassets.records.pages import PAGES_VARIABLE
from valuesassets_tests.desk.make_ui import gated_cells
from valuesassets_tests.desk.web_ui import (
    ask_graphql,
    free_ports,
    is_ready,
    server_pids,
    ui_process,
)
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.small_study import study_environment
from valuesassets_tests.waiting import wait_until

SERVERS = {"code_server", "webserver", "pages", "daemon"}
CELLS = gated_cells.cells.key


@dataclass
class Ui:
    """The files of an instance, and the UIs that are started over it, one after the other."""

    folder: Path
    port: int
    pages_port: int

    def __post_init__(self):
        self.gates = self.folder / "gates"
        self.gates.mkdir()
        self.log = self.folder / "ui.log"
        named = {gated_cells.GATES: str(self.gates), "PYTHONPATH": str(REPOSITORY)}
        self.environment = study_environment(self.folder, Path("demo_survey")) | named
        self.environment.pop(PAGES_VARIABLE, None)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def arguments(self):
        ports = ("--port", str(self.port), "--pages-port", str(self.pages_port))
        return (*ports, "--module", gated_cells.__name__)

    @contextmanager
    def starting(self, *more):
        with ui_process(self.environment, self.log, *self.arguments, *more) as server:
            yield server

    @contextmanager
    def up(self, *more):
        with self.starting(*more) as server:
            wait_until(lambda: is_ready(server, self.log), said=self.end)
            yield server

    def said(self):
        return self.log.read_text(encoding="utf-8")

    def end(self):
        logs = sorted((self.folder / "storage" / "dagster" / "logs").glob("*.log"))
        return "\n".join(f"{log.name}: {tail(log)}" for log in (self.log, *logs))

    def open_gates(self, names):
        for name in names:
            (self.gates / name).touch()

    def servers(self):
        return server_pids(self.environment)

    def processes(self):
        """Whatever runs with this instance in its environment, but for those who ask."""
        mark = f"VALUESASSETS_DAGSTER={self.environment['VALUESASSETS_DAGSTER']}".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                state = (process / "stat").read_text().rpartition(")")[2].split()[0]
                if state not in "ZX" and mark in (process / "environ").read_bytes().split(b"\0"):
                    found.append((int(process.name), (process / "cmdline").read_bytes().replace(b"\0", b" ")))
        return found


def made(path):
    path.mkdir()
    return Ui(path, *free_ports(2))


@contextmanager
def instance_of(ui):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ui.environment.items():
            patch.setenv(name, value)
        instance = dg.DagsterInstance.from_config(str(REPOSITORY))
    with instance:
        yield instance


def get(address, body=None, headers=None):
    """The status and the text of an answer; with a body, to a POST."""
    try:
        request = urllib.request.Request(address, body, headers or {})  # noqa: S310
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return answer.status, answer.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode("utf-8", "replace")
    except OSError:
        return 0, ""


def times_made(instance):
    """How often each cell was materialised."""
    return Counter(record.partition_key for record in instance.fetch_materializations(CELLS, limit=1000).records)


def runs(instance, *statuses):
    return instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus[status] for status in statuses]))


def has_begun(instance, run):
    """Whether a run has begun to make its cell."""
    return bool(instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_START))


def executing(instance):
    """The runs that are inside of a cell, and their processes."""
    processes = ((run, RunProcess.of_run(run.run_id, run.tags)) for run in runs(instance, "STARTED"))
    return {
        run.run_id: process
        for run, process in processes
        if process and has_begun(instance, run) and process.why_gone() is None
    }


def graph_pid(ui):
    """The child of Dagster's code server that holds the graph; None while it does not serve."""
    about = json.loads((Path(ui.environment["VALUESASSETS_DAGSTER"]) / "ui.json").read_text(encoding="utf-8"))
    if not (Path(about["run_folder"]) / SOCKET).exists():
        return None
    children = Path(f"/proc/{ui.servers()['code_server']}/task").glob("*/children")
    pids = [pid for child in children for pid in child.read_text().split()]
    return next((int(pid) for pid in pids if b"\0grpc\0" in Path(f"/proc/{pid}/cmdline").read_bytes()), None)


def pages_answer(ui):
    return get(f"http://127.0.0.1:{ui.pages_port}/")[0] == 200


def graph_is_there(ui):
    """Whether the webserver has the graph."""
    query = """{ workspaceOrError { ... on Workspace { locationEntries { locationOrLoadError { __typename } } } } }"""
    with suppress(OSError, KeyError, TypeError):
        answered = ask_graphql(ui.address, query)
        (entry,) = answered["workspaceOrError"]["locationEntries"]
        return entry["locationOrLoadError"]["__typename"] == "RepositoryLocation"
    return False


def daemon_is_healthy(ui):
    query = "{ instance { daemonHealth { allDaemonStatuses { required healthy lastHeartbeatTime } } } }"
    found = ask_graphql(ui.address, query)["instance"]["daemonHealth"]["allDaemonStatuses"]
    return all(daemon["healthy"] for daemon in found if daemon["required"])


def has_process(pid):
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False
