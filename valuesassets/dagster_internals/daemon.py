"""Dagster's daemon, which runs failed runs again also where it hears of a failure before it is noted.

Dagster stores the event that a run has failed, and then the run with its new status. Its daemon, where it looks for
events between the two, finds a run that has not failed, passes it over, and never looks at that event again.
"""

import time
from collections.abc import Iterator, Sequence
from logging import Logger

import dagster as dg
from dagster._core.workspace.context import IWorkspaceProcessContext
from dagster._daemon.auto_run_reexecution.auto_run_reexecution import consume_new_runs_for_automatic_reexecution
from dagster._daemon.auto_run_reexecution.event_log_consumer import EventLogConsumerDaemon
from dagster._daemon.cli import run_command

__all__ = ["retry_what_has_failed", "run_command"]

PATIENCE_SECONDS = 20.0
"""What Dagster may take between storing the event and the status; of a process that was killed between, for ever."""


def retry_what_has_failed() -> None:
    """Have the daemon that this process is wait until what it has heard of is noted."""
    EventLogConsumerDaemon.handle_updated_runs_fns = property(lambda _: [_retry_noted])  # type: ignore[assignment]


def _retry_noted(context: IWorkspaceProcessContext, records: Sequence[dg.RunRecord], logger: Logger) -> Iterator[None]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    these_runs = dg.RunsFilter(run_ids=[record.dagster_run.run_id for record in records])
    while not all(record.dagster_run.is_finished for record in records) and time.monotonic() < deadline:
        yield  # the daemon says that it lives
        time.sleep(0.1)
        records = context.instance.get_run_records(these_runs)
    yield from consume_new_runs_for_automatic_reexecution(context, records, logger)
