"""The UI as `make ui` starts it: what it says, and what becomes of it when its processes are killed."""

import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from slurm_runner.files import tail
from valuesassets.orchestration.run_process import RunProcess
from valuesassets.records.pages import PAGES_VARIABLE
from valuesassets.ui.run_folder import RunFolder
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration import gated_cells
from valuesassets_tests.orchestration.small_study import study_environment
from valuesassets_tests.orchestration.web_ui import (
    ask_graphql,
    free_ports,
    is_ready,
    kill_everything,
    launch_backfill,
    server_pids,
    ui_process,
)
from valuesassets_tests.waiting import wait_until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in Linux's /proc"),
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
]

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
        self.workspace = self.folder / "workspace.yaml"
        module = {"module_name": gated_cells.__name__, "working_directory": str(REPOSITORY), "location_name": "gated"}
        self.workspace.write_text(f"load_from: [{{python_module: {module}}}]", encoding="utf-8")
        named = {gated_cells.GATES: str(self.gates), "PYTHONPATH": str(REPOSITORY)}
        self.environment = study_environment(self.folder, Path("demo")) | named
        self.environment.pop(PAGES_VARIABLE, None)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def arguments(self):
        ports = ("--port", str(self.port), "--pages-port", str(self.pages_port))
        return (*ports, "--workspace", str(self.workspace))

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


@pytest.fixture
def own(tmp_path):
    """An instance of one test."""
    return made(tmp_path / "own")


@pytest.fixture(scope="module")
def ui(tmp_path_factory):
    """A UI that is up, for the tests that leave it so."""
    ui = made(tmp_path_factory.mktemp("make_ui") / "ui")
    with ui.up():
        yield ui


@contextmanager
def instance_of(ui):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ui.environment.items():
            patch.setenv(name, value)
        instance = dg.DagsterInstance.from_config(str(REPOSITORY))
    with instance:
        yield instance


def get(address):
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:  # noqa: S310
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


def executing(instance):
    """The runs that are inside of a cell, and their processes."""
    found = {}
    for run in runs(instance, "STARTED"):
        process = RunProcess.of_run(run.run_id, run.tags)
        logged = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.STEP_START)
        if process and logged and process.why_gone() is None:
            found[run.run_id] = process
    return found


def test_it_says_where_the_ui_and_the_pages_are_and_how_to_stop(ui):
    said = ui.said()
    assert f"the UI:      {ui.address}\n" in said
    assert f"the pages:   http://127.0.0.1:{ui.pages_port}  (report," in said
    assert "Ctrl-C stops both" in said
    assert get(f"{ui.address}/server_info")[0] == 200
    status, text = get(f"http://127.0.0.1:{ui.pages_port}/")
    assert status == 200
    assert f'"{ui.address}/"' in text


def test_the_graph_is_told_where_the_pages_are(ui):
    told = Path(f"/proc/{ui.servers()['code_server']}/environ").read_bytes().split(b"\0")
    assert f"{PAGES_VARIABLE}=http://127.0.0.1:{ui.pages_port}".encode() in told


def test_only_this_machine_reaches_the_servers(ui):
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            address, port = line.split()[1].split(":")
            if int(port, 16) in (ui.port, ui.pages_port):
                assert address == "0100007F"


def test_a_second_one_over_the_same_instance_is_refused_and_the_first_goes_on(ui):
    before = ui.servers()
    log = ui.folder / "second.log"
    ports = [str(port) for port in free_ports(2)]
    with ui_process(ui.environment, log, "--port", ports[0], "--pages-port", ports[1]) as second:
        assert second.wait(60) == 1
    (line,) = log.read_text().splitlines()
    assert f"another UI is up at {ui.address} (process" in line
    assert ui.servers() == before


def test_a_read_only_one_beside_it_changes_nothing_and_gives_up_on_a_server_that_does_not_stay_up(ui):
    before = ui.servers()
    log = ui.folder / "read_only.log"
    port, pages_port = free_ports(2)
    arguments = ("--read-only", "--port", str(port), "--pages-port", str(pages_port))
    with ui_process(ui.environment, log, *arguments, "--workspace", str(ui.workspace)) as looking:
        wait_until(lambda: is_ready(looking, log), said=lambda: tail(log))
        mutation = """mutation ($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
            __typename } }"""
        params = {"assetSelection": [{"path": CELLS.path}], "partitionNames": ["a"]}
        answered = ask_graphql(f"http://127.0.0.1:{port}", mutation, params=params)
        assert answered["launchPartitionBackfill"]["__typename"] == "UnauthorizedError"
        servers = server_pids(ui.environment, looking.pid)
        assert set(servers) == SERVERS - {"daemon"}
        killed = set()
        while looking.poll() is None:
            pid = server_pids(ui.environment, looking.pid).get("pages")
            if pid and pid not in killed:
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
            time.sleep(0.1)
    assert looking.returncode == 1
    assert len(killed) == 4
    assert log.read_text().rstrip().splitlines()[-1].startswith("the pages has ended 4 times within a minute")
    assert ui.servers() == before


@pytest.mark.parametrize("name", ["pages", "webserver", "daemon", "code_server", "graph"])
def test_a_server_that_is_killed_is_started_again(ui, name):
    before = ui.servers()
    server = "code_server" if name == "graph" else name
    pid = graph_pid(ui) if name == "graph" else before[server]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: ui.servers().get(server) not in (None, before[server]), said=ui.end)
    how = "exit code 1" if name == "graph" else "killed by SIGKILL"
    assert f"the {server.replace('_', ' ')} has ended ({how}); it is started again" in ui.said()
    ask = {"pages": pages_answer, "webserver": graph_is_there, "daemon": daemon_is_healthy}.get(name, graph_pid)
    wait_until(lambda: ask(ui), said=ui.end)
    after = ui.servers()
    assert {other: after[other] for other in SERVERS - {server}} == {
        other: before[other] for other in SERVERS - {server}
    }


def graph_pid(ui):
    """The child of Dagster's code server that holds the graph; None while it does not serve."""
    about = json.loads((Path(ui.environment["VALUESASSETS_DAGSTER"]) / "ui.json").read_text(encoding="utf-8"))
    if not RunFolder(Path(about["run_folder"])).socket.exists():
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


def test_a_backfill_makes_every_cell_once_though_daemon_and_webserver_are_killed(ui):
    with instance_of(ui) as instance:
        wait_until(lambda: graph_is_there(ui), said=ui.end)
        launch_backfill(ui.address, CELLS, gated_cells.CELLS)
        wait_until(lambda: len(executing(instance)) >= 2, said=ui.end)
        before = ui.servers()
        for name in ("daemon", "webserver"):
            os.kill(before[name], signal.SIGKILL)
        going_on = executing(instance)
        ui.open_gates("ab")
        wait_until(lambda: {"daemon", "webserver"} <= ui.servers().keys(), said=ui.end)
        wait_until(lambda: times_made(instance).keys() >= {"a", "b"}, said=ui.end)
        os.kill(ui.servers()["daemon"], signal.SIGKILL)
        ui.open_gates(gated_cells.CELLS)
        wait_until(lambda: len(runs(instance, "SUCCESS")) == len(gated_cells.CELLS), 240, said=ui.end)
        assert times_made(instance) == dict.fromkeys(gated_cells.CELLS, 1)
        assert len(instance.get_runs()) == len(gated_cells.CELLS), "no run was run again"
        assert going_on.keys() <= {run.run_id for run in runs(instance, "SUCCESS")}
        (backfill,) = instance.get_backfills()
        wait_until(lambda: instance.get_backfill(backfill.backfill_id).status.name == "COMPLETED_SUCCESS", said=ui.end)


def test_a_backfill_makes_every_cell_once_though_everything_is_killed_and_started_again(own):
    with instance_of(own) as instance:
        with own.up():
            launch_backfill(own.address, CELLS, gated_cells.CELLS)
            wait_until(lambda: len(executing(instance)) == 4, said=own.end)
            own.open_gates("ab")
            wait_until(lambda: len(runs(instance, "SUCCESS")) == 2 and len(executing(instance)) >= 2, said=own.end)
            kill_everything(own.environment)
        wait_until(lambda: not own.processes())
        with own.up():
            own.open_gates(gated_cells.CELLS)
            wait_until(lambda: len(runs(instance, "SUCCESS")) == len(gated_cells.CELLS), 240, said=own.end)
        assert times_made(instance) == dict.fromkeys(gated_cells.CELLS, 1)


def test_servers_end_with_the_one_that_watches_them_and_runs_go_on(own):
    with instance_of(own) as instance:
        with own.up() as first:
            launch_backfill(own.address, CELLS, ["a"])
            wait_until(lambda: executing(instance), said=own.end)
            (run_id,) = executing(instance)
            servers = own.servers()
            os.kill(first.pid, signal.SIGKILL)
            wait_until(lambda: not any(has_process(servers[name]) for name in SERVERS - {"code_server"}), 10)
        with own.up():
            assert executing(instance).keys() == {run_id}
            own.open_gates("a")
            wait_until(lambda: runs(instance, "SUCCESS"), said=own.end)
            assert [run.run_id for run in instance.get_runs()] == [run_id]
        wait_until(lambda: not own.processes(), 60, said=own.processes)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_ctrl_c_stops_all_within_seconds_and_what_it_interrupts_is_run_again(own, number):
    with instance_of(own) as instance:
        with own.up() as first:
            launch_backfill(own.address, CELLS, ["a"])
            wait_until(lambda: executing(instance), said=own.end)
            first.send_signal(number)
            began = time.monotonic()
            assert first.wait(60) == 0
            seconds = time.monotonic() - began
        assert own.processes() == []
        assert seconds < 25
        (run,) = instance.get_runs()
        assert run.status in (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.STARTED)
        if number == signal.SIGINT:
            own.open_gates("a")
            with own.up():
                wait_until(lambda: runs(instance, "SUCCESS"), said=own.end)
            assert times_made(instance) == {"a": 1}


def has_process(pid):
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def test_an_interrupted_start_leaves_nothing(own):
    with own.starting() as server:
        wait_until(lambda: "waiting for" in own.said(), said=own.end)
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
    assert own.processes() == []
    assert "the UI:" not in own.said()
    assert not (own.folder / "storage" / "dagster" / "ui.json").exists()


def test_a_graph_that_cannot_be_loaded_is_said_and_read_again_on_a_click(own):
    own.open_gates(["fault"])
    with own.up():
        assert f"as the UI says too: ValueError: {gated_cells.FAULT}\n" in own.said()
        assert "Reload in the UI" in own.said()
        assert not graph_is_there(own)
        (own.gates / "fault").unlink()
        reload = 'mutation { reloadRepositoryLocation(repositoryLocationName: "gated") { __typename } }'
        assert ask_graphql(own.address, reload)["reloadRepositoryLocation"]["__typename"] == "WorkspaceLocationEntry"
        assert graph_is_there(own)
        assert "has ended" not in own.said()


def test_a_database_of_a_newer_dagster_is_said_in_one_line(own):
    import sqlite3

    with instance_of(own) as instance:
        assert instance.get_runs() == []
    database = sqlite3.connect(own.folder / "storage" / "dagster" / "history" / "runs.db")
    database.execute("UPDATE alembic_version SET version_num = 'f00000000000'")
    database.commit()
    database.close()
    with own.starting() as server:
        assert server.wait(120) == 1
    assert "written by a newer Dagster" in own.said().splitlines()[-1]
    assert own.processes() == []


def test_a_ui_that_a_shell_starts_in_the_background_is_stopped_by_sigterm(own):
    """Such a process is told to ignore Ctrl-C, and so would be its servers, which are asked to stop that way."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with own.up() as server:
            signal.signal(signal.SIGINT, before)
            server.send_signal(signal.SIGINT)
            time.sleep(1)
            assert server.poll() is None
            server.send_signal(signal.SIGTERM)
            assert server.wait(60) == 0
    finally:
        signal.signal(signal.SIGINT, before)
    assert own.processes() == []


def test_logs_of_the_servers_lie_with_the_instance(ui):
    logs = Path(ui.environment["VALUESASSETS_DAGSTER"]) / "logs"
    assert {log.stem for log in logs.glob("*.log")} >= SERVERS
    assert str(logs) in ui.said()
    about = json.loads((logs.parent / "ui.json").read_text(encoding="utf-8"))
    assert about["address"] == ui.address
