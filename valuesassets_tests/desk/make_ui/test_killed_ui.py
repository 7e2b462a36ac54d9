"""What becomes of the UI and of its runs when its processes are killed."""

import os
import signal
import sys

import dagster as dg
import pytest

from valuesassets_tests.desk.make_ui import gated_cells
from valuesassets_tests.desk.make_ui.started_ui import (
    CELLS,
    SERVERS,
    daemon_is_healthy,
    executing,
    graph_is_there,
    graph_pid,
    has_begun,
    has_process,
    instance_of,
    pages_answer,
    runs,
    times_made,
)
from valuesassets_tests.desk.web_ui import (
    kill_everything,
    launch_backfill,
)
from valuesassets_tests.waiting import wait_until

RUNS_AT_ONCE = 4
"""`max_concurrent_runs` of dagster.yaml."""

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in Linux's /proc"),
    pytest.mark.slow,
    pytest.mark.ui_faults,
]


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


def test_a_backfill_makes_every_cell_once_though_daemon_and_webserver_are_killed(ui):
    with instance_of(ui) as instance:
        wait_until(lambda: graph_is_there(ui), said=ui.end)
        launch_backfill(ui.address, CELLS, gated_cells.CELLS)
        wait_until(lambda: len(executing(instance)) == RUNS_AT_ONCE, said=ui.end)
        before = ui.servers()
        for name in ("daemon", "webserver"):
            os.kill(before[name], signal.SIGKILL)
        interrupted = executing(instance)
        ui.open_gates("ab")
        wait_until(lambda: {"daemon", "webserver"} <= ui.servers().keys(), said=ui.end)
        wait_until(lambda: times_made(instance).keys() >= {"a", "b"}, said=ui.end)
        os.kill(ui.servers()["daemon"], signal.SIGKILL)
        ui.open_gates(gated_cells.CELLS)
        wait_until(lambda: len(runs(instance, "SUCCESS")) == len(gated_cells.CELLS), 600, said=ui.end)
        assert times_made(instance) == dict.fromkeys(gated_cells.CELLS, 1)
        assert interrupted.keys() <= {run.run_id for run in runs(instance, "SUCCESS")}
        # The second kill may hit a run between its launch and its process: it fails after `start_timeout_seconds`.
        assert not [run for run in runs(instance, "FAILURE") if has_begun(instance, run)], "no cell was begun twice"
        (backfill,) = instance.get_backfills()
        wait_until(lambda: instance.get_backfill(backfill.backfill_id).status.name == "COMPLETED_SUCCESS", said=ui.end)


def test_a_backfill_makes_every_cell_once_though_everything_is_killed_and_started_again(own):
    with instance_of(own) as instance:
        with own.up():
            launch_backfill(own.address, CELLS, gated_cells.CELLS)
            wait_until(lambda: len(executing(instance)) == RUNS_AT_ONCE, said=own.end)
            own.open_gates("ab")
            wait_until(lambda: len(runs(instance, "SUCCESS")) == 2 and len(executing(instance)) >= 2, said=own.end)
            kill_everything(own.environment)
        wait_until(lambda: not own.processes())
        with own.up():
            own.open_gates(gated_cells.CELLS)
            wait_until(lambda: len(runs(instance, "SUCCESS")) == len(gated_cells.CELLS), 600, said=own.end)
        assert times_made(instance) == dict.fromkeys(gated_cells.CELLS, 1)


def test_servers_end_with_the_one_that_watches_them_and_runs_go_on(own):
    with instance_of(own) as instance:
        with own.up() as first:
            launch_backfill(own.address, CELLS, ["a"])
            wait_until(lambda: executing(instance), said=own.end)
            (run_id,) = executing(instance)
            servers = own.servers()
            os.kill(first.pid, signal.SIGKILL)
            wait_until(lambda: not any(has_process(servers[name]) for name in SERVERS - {"code_server"}))
        with own.up():
            assert executing(instance).keys() == {run_id}
            own.open_gates("a")
            wait_until(lambda: runs(instance, "SUCCESS"), said=own.end)
            assert [run.run_id for run in instance.get_runs()] == [run_id]
        wait_until(lambda: not own.processes(), said=own.processes)


@pytest.fixture
def _hearing():
    """SIGHUP as it is by default: a suite that `nohup` started ignores it, and so would what it starts."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("_hearing")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_ctrl_c_stops_all_and_what_it_interrupts_is_run_again(own, number):
    with instance_of(own) as instance:
        with own.up() as first:
            launch_backfill(own.address, CELLS, ["a"])
            wait_until(lambda: executing(instance), said=own.end)
            first.send_signal(number)
            assert first.wait(300) == 0
        assert own.processes() == []
        (run,) = instance.get_runs()
        assert run.status in (dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.STARTED)
        if number == signal.SIGINT:
            own.open_gates("a")
            with own.up():
                wait_until(lambda: runs(instance, "SUCCESS"), said=own.end)
            assert times_made(instance) == {"a": 1}
