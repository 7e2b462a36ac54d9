"""A run launcher for dagster.yaml: Dagster's own, which also detects runs whose process has died.

A code server reports the end of its runs. If it is killed with them, or the machine restarts, nobody does: the runs
would stay STARTED for ever and keep their places in the pools.
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
"""Longest wait for a process to log its pid, which it does after loading Dagster; slow on a busy machine."""

LOOKS, LOOK_SECONDS = 3, 0.2
"""Number and interval of attempts to tag a run: an event that Dagster stores meanwhile restores the old tags."""


def why_gone(run: dg.DagsterRun) -> str | None:
    """Why a run's process is certainly gone; None where it lives or its state is unknown."""
    process = RunProcess.of_run(run.run_id, run.tags)
    return process.why_gone() if process else None


def fail_dead_runs(instance: dg.DagsterInstance) -> None:
    """Fail runs whose process is gone, as the daemon does regularly, so that they free their places in the pools."""
    for run in instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])):
        reason = why_gone(run)
        current = instance.get_run_by_id(run.run_id)
        if reason and current and current.status == dg.DagsterRunStatus.STARTED:
            instance.report_run_failed(run, f"The run cannot go on: {reason}.")
            instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)


class WatchedRunLauncher(dg.DefaultRunLauncher):
    """Starts runs and notes their processes; a run fails only if its noted process is certainly gone."""

    def launch_run(self, context: LaunchRunContext) -> None:
        """Start a run and note its process."""
        began = ticks_since_boot()
        super().launch_run(context)
        with suppress(Exception):  # a failure here must not stop the run
            self._note_process(context.dagster_run.run_id, began)

    @property
    def supports_check_run_worker_health(self) -> bool:
        """True, so that Dagster checks the processes of started runs."""
        return True

    def check_run_worker_health(self, run: dg.DagsterRun) -> CheckRunHealthResult:
        """FAILED where the run's process is gone, otherwise RUNNING, since Dagster fails a run for any other status."""
        reason = why_gone(run)
        return CheckRunHealthResult(WorkerStatus.FAILED if reason else WorkerStatus.RUNNING, reason)

    def terminate(self, run_id: str) -> bool:
        """Cancel a run, even if the code server that started it is gone."""
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
        if reason := process.why_gone():
            self._instance.report_run_canceled(run, f"Canceled: {reason}.")
            return True
        # Runs of a command that runs a whole study have no code server; the command outlives a cancelled run.
        return GRPC_INFO_TAG in run.tags and process.interrupt()

    def _note_process(self, run_id: str, began: int) -> None:
        """Add the process to the run's tags, if it is on this machine and began after the launch."""
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
