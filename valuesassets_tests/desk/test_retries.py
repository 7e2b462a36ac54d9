"""Runs that have failed and are to run again."""

import sys
import threading
from functools import partial
from pathlib import Path

import dagster as dg
import pytest
from dagster._daemon.auto_run_reexecution.event_log_consumer import DAGSTER_EVENT_TYPES, EventLogConsumerDaemon

from slurm_runner.files import tail
from valuesassets.dagster_internals.daemon import retry_failed_runs
from valuesassets.desk.run_process import RunProcess
from valuesassets_tests.desk import held_asset
from valuesassets_tests.desk.held_runs import FAILED, RUNNING, said, started_run_of
from valuesassets_tests.desk.web_ui import ask_graphql, kill_everything, serving
from valuesassets_tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in Linux's /proc")


@pytest.mark.filterwarnings("ignore:The 'warn' method:DeprecationWarning")  # of Dagster's
@pytest.mark.slow
def test_a_run_is_tried_again_though_the_daemon_hears_of_its_failure_before_it_is_noted(instance, server, monkeypatch):
    stored, read, store_status = threading.Event(), threading.Event(), instance.run_storage.handle_run_event

    def store_status_late(*event):
        stored.set()
        read.wait()
        store_status(*event)

    monkeypatch.setattr(EventLogConsumerDaemon, "handle_updated_runs_fns", None)  # put back after the test
    retry_failed_runs()
    daemon = EventLogConsumerDaemon()
    assert not any(daemon.run_iteration(server)), "the daemon does not retry what failed before its first look"
    run = started_run_of(server.create_request_context(), instance)
    monkeypatch.setattr(instance.run_storage, "handle_run_event", store_status_late)
    reporting = threading.Thread(target=instance.report_run_failed, args=[run])
    reporting.start()
    assert stored.wait(300)  # the event is in the run's log and in the index, which are written one after the other
    assert instance.get_run_by_id(run.run_id).status == RUNNING
    for turn, error in enumerate(daemon.run_iteration(server)):
        assert error is None
        if turn == len(DAGSTER_EVENT_TYPES):  # one turn for each, then one for each look at the run's status
            read.set()
    read.set()
    reporting.join()
    again = [each for each in instance.get_runs() if each.parent_run_id == run.run_id]
    assert len(again) == 1


@pytest.mark.slow
@pytest.mark.ui_faults
def test_runs_killed_with_everything_run_again_by_themselves_once_the_server_is_back(instance, environment, tmp_path):
    def carried():
        runs = instance.get_runs(dg.RunsFilter(statuses=[RUNNING]))
        found = [RunProcess.of_run(run.run_id, run.tags) for run in runs]
        return [process for process in found if process and "Executing steps" in said(instance, process)]

    log, end = tmp_path / "server.log", partial(tail, tmp_path / "server.log")
    with serving(environment, log, held_asset.__name__) as address:
        for partition in "ab":
            launch(address, partition)
        wait_until(lambda: len(carried()) == 2, said=end)
        killed = carried()
        kill_everything(environment)
    wait_until(lambda: all(process.why_gone() for process in killed))
    assert len(carried()) == 2, "nobody was left to say so"
    with serving(environment, log, held_asset.__name__):
        wait_until(lambda: len(begun := carried()) == 2 and begun[0] not in killed, said=end)
        Path(environment[held_asset.GATE]).touch()
        wait_until(lambda: len(instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS]))) == 2, said=end)
    for process in killed:
        run = instance.get_run_by_id(process.run_id)
        assert run.status == FAILED
        assert f"process {process.pid} on {process.host} is gone" in said(instance, run)
    assert len(instance.get_runs()) == 4
    assert instance.event_log_storage.get_concurrency_info("places").active_slot_count == 0


def launch(address, partition):
    mutation = """mutation ($params: ExecutionParams!) { launchPipelineExecution(executionParams: $params) {
        __typename } }"""
    place = {"repositoryLocationName": "valuesassets_tests", "repositoryName": "__repository__"}
    params = {
        "selector": place
        | {"jobName": "__ASSET_JOB", "assetSelection": [{"path": held_asset.held.key.path}], "assetCheckSelection": []},
        "executionMetadata": {"tags": [{"key": "dagster/partition", "value": partition}]},
        "runConfigData": {},
    }
    assert ask_graphql(address, mutation, params=params)["launchPipelineExecution"]["__typename"] == "LaunchRunSuccess"
