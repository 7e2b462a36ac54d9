"""What becomes of runs whose process, or whose whole server, is killed."""

import json
import logging
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.events import EngineEventData
from dagster._core.launcher.default_run_launcher import DefaultRunLauncher
from dagster._core.storage.tags import GRPC_INFO_TAG
from dagster._daemon.monitoring.run_monitoring import monitor_started_run

from valuesassets.desk.run_launcher import WatchedRunLauncher
from valuesassets.desk.run_process import RunProcess
from valuesassets_tests.desk import held_asset
from valuesassets_tests.desk.held_runs import CANCELED, FAILED, RUNNING, said, started_run, started_run_of
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in Linux's /proc")


@pytest.fixture
def sleeping():
    """A process that does nothing for long."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def carry(instance, run, process):
    instance.add_run_tags(run.run_id, process.tags())


def status(instance, run):
    """Status of a run once Dagster has looked at its process."""
    record = instance.get_run_record_by_id(run.run_id)
    if record.dagster_run.status == RUNNING:
        monitor_started_run(instance, None, record, logging.getLogger(__name__))
    return instance.get_run_by_id(run.run_id).status


@pytest.mark.slow
def test_a_run_lives_and_dies_with_its_process(instance, sleeping):
    run = started_run(instance)
    carry(instance, run, RunProcess.find(run.run_id, sleeping.pid))
    assert status(instance, run) == RUNNING
    sleeping.kill()
    sleeping.wait()
    assert status(instance, run) == FAILED
    assert f"process {sleeping.pid} on {os.uname().nodename} is gone" in said(instance, run)
    assert instance.get_run_by_id(run.run_id).tags["dagster/will_retry"] == "true"


def test_a_process_that_ended_unnoticed_by_its_parent_is_gone(instance, sleeping):
    run = started_run(instance)
    carry(instance, run, RunProcess.find(run.run_id, sleeping.pid))
    sleeping.kill()
    os.waitid(os.P_PID, sleeping.pid, os.WEXITED | os.WNOWAIT)
    assert status(instance, run) == FAILED


def test_another_process_with_the_same_pid_carries_no_run(instance, sleeping):
    run = started_run(instance)
    process = RunProcess.find(run.run_id, sleeping.pid)
    carry(instance, run, replace(process, started=process.started - 1))
    assert status(instance, run) == FAILED


def test_no_process_outlives_its_machine(instance, sleeping):
    run = started_run(instance)
    carry(instance, run, replace(RunProcess.find(run.run_id, sleeping.pid), machine="m", boot="an earlier one"))
    assert status(instance, run) == RUNNING
    process = RunProcess.find(run.run_id, sleeping.pid)
    carry(instance, run, replace(process, boot="an earlier one"))
    assert status(instance, run) == (FAILED if process.machine else RUNNING)


@pytest.mark.parametrize("elsewhere", [{"host": "h"}, {"machine": "m"}, {"pid_namespace": "n"}, {"run_id": "r"}])
@pytest.mark.slow
def test_what_cannot_be_seen_from_here_fails_no_run(instance, sleeping, elsewhere):
    run = started_run(instance)
    process = RunProcess.find(run.run_id, sleeping.pid)
    sleeping.kill()
    sleeping.wait()
    carry(instance, run, replace(process, **elsewhere))
    assert status(instance, run) == RUNNING
    carry(instance, run, process)
    assert status(instance, run) == FAILED


@pytest.mark.parametrize("tags", [{}, {".dagster/valuesassets_run_process": "{"}])
@pytest.mark.slow
def test_a_run_of_unknown_process_is_left_alone(instance, tags):
    assert status(instance, started_run(instance, tags)) == RUNNING


def test_another_users_process_lives(instance, monkeypatch):
    """Where /proc hides what belongs to others, only a signal tells that it is there."""
    run = started_run(instance)
    process = replace(RunProcess.find(run.run_id, os.getpid()), pid=2**22 + 1)  # above the highest pid there is
    carry(instance, run, process)

    def refuse(pid, number):
        raise PermissionError(pid)

    with monkeypatch.context() as patch:
        patch.setattr(os, "kill", refuse)
        assert status(instance, run) == RUNNING
    assert status(instance, run) == FAILED


@contextmanager
def running_study(instance, environment):
    """A command that runs a study in its own process, as `valuesassets run` does."""
    with subprocess.Popen([sys.executable, "-m", held_asset.__name__], env=environment, cwd=REPOSITORY) as command:
        try:
            wait_until(lambda: "Executing steps" in "".join(said(instance, run) for run in instance.get_runs()))
            yield command
        finally:
            command.kill()


@pytest.mark.slow
def test_a_run_of_a_command_is_cancelled_only_where_the_command_is_gone(instance, environment):
    with running_study(instance, environment) as command:
        (run,) = instance.get_runs()
        assert status(instance, run) == RUNNING
        assert not instance.run_launcher.terminate(run.run_id), "the command has more runs to do"
        assert command.poll() is None
    assert instance.run_launcher.terminate(run.run_id)
    assert instance.get_run_by_id(run.run_id).status == CANCELED


@pytest.mark.slow
def test_a_run_of_a_killed_command_is_not_tried_again(instance, environment):
    with running_study(instance, environment) as command:
        (run,) = instance.get_runs()
        assert status(instance, run) == RUNNING
        command.kill()
    assert status(instance, run) == FAILED
    assert instance.get_run_by_id(run.run_id).tags["dagster/will_retry"] == "false"


@pytest.mark.slow
def test_a_study_does_not_wait_for_the_place_of_a_killed_command(instance, environment):
    """Nor is a daemon needed for that."""
    instance.event_log_storage.set_concurrency_slots("places", 1)
    with running_study(instance, environment) as command:
        (run,) = instance.get_runs()
        command.kill()
    Path(environment[held_asset.GATE]).touch()
    assert subprocess.run([sys.executable, "-m", held_asset.__name__], env=environment, timeout=60).returncode == 0
    assert status(instance, run) == FAILED


@pytest.fixture(params=["spawned", "forked"])
def warm(monkeypatch, request):
    """How a code server starts its runs."""
    monkeypatch.setenv(held_asset.WARM, "1" if request.param == "forked" else "")


@pytest.fixture
def launch(warm, instance, server):
    """Has a code server start a run; gives it, once it is at its work, and its process."""
    processes = []

    def start():
        served = server.create_request_context()
        run = started_run_of(served, instance)
        instance.launch_run(run.run_id, served)
        wait_until(lambda: "Executing steps" in said(instance, run))
        processes.append(RunProcess.of_run(run.run_id, instance.get_run_by_id(run.run_id).tags))
        return run, processes[-1]

    yield start
    for process in processes:
        if process.why_gone() is None:
            os.kill(process.pid, signal.SIGKILL)


@pytest.fixture
def launched(launch):
    """A run that a code server has just started, and its process."""
    return launch()


def kill_and_see_noticed(instance, run, process):
    """Kill the process of a run, and wait until the code server has seen that it is gone."""
    os.kill(process.pid, signal.SIGKILL)
    wait_until(lambda: instance.get_run_by_id(run.run_id).tags.get("dagster/will_retry") == "true")


def parent(pid):
    """The process that started another."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def is_forked(pid):
    return b"forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes()


def kill_server(pid):
    """Kill the code server that a run's process stems from."""
    os.kill(parent(parent(pid)) if is_forked(pid) else parent(pid), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.ui_faults
def test_a_run_whose_server_is_killed_goes_on_to_its_end(instance, launched, environment):
    run, process = launched
    kill_server(process.pid)
    assert status(instance, run) == RUNNING
    Path(environment[held_asset.GATE]).touch()
    wait_until(process.why_gone)
    assert status(instance, run) == dg.DagsterRunStatus.SUCCESS


@pytest.mark.slow
@pytest.mark.ui_faults
def test_a_run_whose_server_is_killed_can_be_cancelled(instance, launched):
    run, process = launched
    kill_server(process.pid)
    assert instance.run_launcher.terminate(run.run_id)
    wait_until(process.why_gone)
    assert status(instance, run) == CANCELED


@pytest.mark.slow
@pytest.mark.ui_faults
def test_a_run_that_was_killed_with_its_server_can_be_cancelled(instance, launched):
    run, process = launched
    kill_server(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    wait_until(process.why_gone)
    assert instance.run_launcher.terminate(run.run_id)
    assert status(instance, run) == CANCELED


@pytest.mark.slow
@pytest.mark.ui_faults
@pytest.mark.parametrize("warm", ["forked"], indirect=True)
def test_a_run_goes_on_though_the_process_that_it_was_forked_from_is_killed(instance, launch, environment):
    (run, process), another = launch(), launch()
    assert is_forked(parent(process.pid))
    os.kill(parent(process.pid), signal.SIGKILL)
    kill_and_see_noticed(instance, *another)  # it looks at its runs in the order of their starts
    assert process.why_gone() is None
    assert status(instance, run) == RUNNING
    Path(environment[held_asset.GATE]).touch()
    wait_until(process.why_gone)
    assert status(instance, run) == dg.DagsterRunStatus.SUCCESS


@pytest.mark.slow
@pytest.mark.ui_faults
def test_a_run_can_be_cancelled(instance, launched):
    run, process = launched
    assert instance.run_launcher.terminate(run.run_id)
    wait_until(process.why_gone)
    assert status(instance, run) == CANCELED


@pytest.mark.slow
@pytest.mark.ui_faults
def test_a_run_that_is_killed_alone_has_failed(instance, launched):
    run, process = launched
    kill_and_see_noticed(instance, run, process)
    assert status(instance, run) == FAILED


@pytest.mark.parametrize(
    ("host", "ticks", "is_noted"), [("localhost", 0, True), ("localhost", 1, False), ("node7", 0, False)]
)
def test_the_pid_of_another_machine_or_container_means_no_process_here(instance, host, ticks, is_noted):
    """A process is taken for the run's where its server is here, and it began since the launch did."""
    run = started_run(instance, {GRPC_INFO_TAG: json.dumps({"host": host})})
    instance.report_engine_event("Started process", run, EngineEventData.in_process(os.getpid()))
    launcher = instance.run_launcher
    assert isinstance(launcher, WatchedRunLauncher)
    ours = RunProcess.find(run.run_id, os.getpid())
    launcher._note_process(run.run_id, ours.started + ticks)
    noted = RunProcess.of_run(run.run_id, instance.get_run_by_id(run.run_id).tags)
    assert noted == (ours if is_noted else None)


def test_a_note_that_is_lost_to_an_event_stored_at_the_same_moment_is_made_again(instance, monkeypatch):
    """Dagster reads a run, changes it and stores it as a whole: tags that came in between are gone."""
    run = started_run(instance, {GRPC_INFO_TAG: json.dumps({"host": "localhost"})})
    instance.report_engine_event("Started process", run, EngineEventData.in_process(os.getpid()))
    write, written = instance.add_run_tags, []

    def lose_the_first(run_id, tags):
        written.append(tags)
        if len(written) > 1:
            write(run_id, tags)

    monkeypatch.setattr(instance, "add_run_tags", lose_the_first)
    instance.run_launcher._note_process(run.run_id, 0)
    noted = RunProcess.of_run(run.run_id, instance.get_run_by_id(run.run_id).tags)
    assert noted == RunProcess.find(run.run_id, os.getpid())


def test_a_launch_is_no_failure_where_its_process_cannot_be_noted(instance, monkeypatch):
    def refuse(*_):
        raise OSError("disk I/O error")

    monkeypatch.setattr(WatchedRunLauncher, "_note_process", refuse)
    monkeypatch.setattr(DefaultRunLauncher, "launch_run", lambda *_: None)
    run = started_run(instance)
    instance.launch_run(run.run_id, None)
    assert instance.get_run_by_id(run.run_id).status == dg.DagsterRunStatus.STARTING
