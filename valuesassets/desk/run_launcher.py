"""Dagster's own way to start runs, which also knows whether the process of a run still lives.

Named in dagster.yaml. A code server reports the end of its runs; when it is killed with them, or the machine restarts,
nobody does: they would stay STARTED for ever and keep their places in the pools.
"""

import json
import time
from contextlib import suppress

import dagster as dg

from valuesassets.dagster_internals.launching import (
    CheckRunHealthResult,
    DagsterUserCodeUnreachableError,
    LaunchRunContext,
    WorkerStatus,
)
from valuesassets.dagster_internals.tags import GRPC_INFO_TAG
from valuesassets.desk.run_process import RunProcess, ticks_since_boot

PATIENCE_SECONDS = 60
"""A process says its pid in the run's log once it has loaded Dagster: seconds, or many on a machine that is busy."""

LOOKS, LOOK_SECONDS = 3, 0.2
"""Dagster stores a run as a whole: an event that it stores at the same moment puts back the tags from before."""


def why_gone(run: dg.DagsterRun) -> str | None:
    """What shows that a run's process is gone for good; None where it lives, or nobody knows."""
    process = RunProcess.of_run(run.run_id, run.tags)
    return process.why_gone() if process else None


def fail_dead_runs(instance: dg.DagsterInstance) -> None:
    """What the daemon does every some seconds, for where there is none: a pool full of dead runs lets nobody in."""
    for run in instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])):
        found = why_gone(run)
        now = instance.get_run_by_id(run.run_id)
        if found and now and now.status == dg.DagsterRunStatus.STARTED:
            instance.report_run_failed(run, f"The run cannot go on: {found}.")
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)


class WatchedRunLauncher(dg.DefaultRunLauncher):
    """Only a process that was seen alive from here, and is seen to be gone, fails its run."""

    def launch_run(self, context: LaunchRunContext) -> None:
        """Start a run, and note which process it is."""
        began = ticks_since_boot()
        super().launch_run(context)
        with suppress(Exception):  # the run goes on, whatever went wrong here
            self._note_process(context.dagster_run.run_id, began)

    @property
    def supports_check_run_worker_health(self) -> bool:
        """Asks Dagster to look at the processes of started runs."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """FAILED where the run's process is gone; RUNNING otherwise: Dagster fails a run for any other answer."""
        found = why_gone(run)
        return CheckRunHealthResult(WorkerStatus.FAILED if found else WorkerStatus.RUNNING, found)

    def terminate(self, run_id: str) -> bool:
        """Cancel a run, also where the code server that started it is gone."""
        try:
            return super().terminate(run_id) or self._terminate_without_server(run_id)
        except DagsterUserCodeUnreachableError:
            if not self._terminate_without_server(run_id):
                raise
            return True

    def _terminate_without_server(self, run_id: str) -> bool:
        run = self._instance.get_run_by_id(run_id)
        process = RunProcess.of_run(run_id, run.tags) if run and not run.is_finished else None
        if run is None or process is None:
            return False
        if found := process.why_gone():
            self._instance.report_run_canceled(run, f"Canceled: {found}.")
            return True
        # A command that runs a whole study is not ended with one of its runs: no code server ever started it.
        return GRPC_INFO_TAG in run.tags and process.interrupt()

    def _note_process(self, run_id: str, began: int) -> None:
        """Name the process in the run's tags, if it is one of this machine that began since the launch did."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (pid := self._reported_pid(run_id)) is None and time.monotonic() < deadline:
            time.sleep(0.1)
        run = self._instance.get_run_by_id(run_id)
        process = RunProcess.find(run_id, pid) if pid else None
        if run is None or process is None or process.started < began:
            return
        if json.loads(run.tags[GRPC_INFO_TAG])["host"] not in ("localhost", "127.0.0.1"):
            return
        for _ in range(LOOKS):
            if run and RunProcess.of_run(run_id, run.tags) != process:
                self._instance.add_run_tags(run_id, process.tags())
            time.sleep(LOOK_SECONDS)
            run = self._instance.get_run_by_id(run_id)

    def _reported_pid(self, run_id: str) -> int | None:
        for entry in self._instance.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
            pid = entry.get_dagster_event().engine_event_data.metadata.get("pid")
            if pid is not None:
                return int(str(pid.value))
        return None
