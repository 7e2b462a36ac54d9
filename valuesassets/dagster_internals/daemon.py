"""Works around a race in which Dagster's daemon drops the retry of a failed run.

Dagster first stores the event that a run has failed, and then the run's new status. A daemon that reads the event
between the two finds a run that has not failed, skips it, and never reads that event again.
"""

import time
from collections.abc import Iterator, Sequence
from logging import Logger

import dagster as dg
from dagster._core.workspace.context import IWorkspaceProcessContext
from dagster._daemon.auto_run_reexecution.auto_run_reexecution import consume_new_runs_for_automatic_reexecution
from dagster._daemon.auto_run_reexecution.event_log_consumer import EventLogConsumerDaemon
from dagster._daemon.cli import run_command

__all__ = ["retry_failed_runs", "run_command"]

PATIENCE_SECONDS = 20.0
"""Longest wait for the status after the event; a process killed in between never stores it."""


def retry_failed_runs() -> None:
    """Let the daemon in this process wait for the status of each run before it retries the run."""
    EventLogConsumerDaemon.handle_updated_runs_fns = property(lambda _: [_retry_stored])  # type: ignore[assignment]


def _retry_stored(context: IWorkspaceProcessContext, records: Sequence[dg.RunRecord], logger: Logger) -> Iterator[None]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    run_filter = dg.RunsFilter(run_ids=[record.dagster_run.run_id for record in records])
    while not all(record.dagster_run.is_finished for record in records) and time.monotonic() < deadline:
        yield  # lets the daemon send its heartbeat
        time.sleep(0.1)
        records = context.instance.get_run_records(run_filter)
    yield from consume_new_runs_for_automatic_reexecution(context, records, logger)
