"""Runs that are retried: the daemon waits for the status that Dagster stores after a run's last event."""

import logging
from types import SimpleNamespace

import dagster as dg
import pytest

from valuesassets.dagster_internals import daemon

LOOKS = 5


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def consumed(monkeypatch):
    """What Dagster gets to retry: the statuses of the runs, one list for each time."""
    statuses: list[list[dg.DagsterRunStatus]] = []

    def consume(_context, records, _logger):
        statuses.append([record.dagster_run.status for record in records])
        yield

    monkeypatch.setattr(daemon, "consume_new_runs_for_automatic_reexecution", consume)
    return statuses


def started_run(instance):
    """The record of a run whose failure is not stored yet."""

    @dg.job
    def empty(): ...

    run = instance.create_run_for_job(empty, status=dg.DagsterRunStatus.STARTED)
    return instance.get_run_records(dg.RunsFilter(run_ids=[run.run_id]))


def test_a_status_that_is_stored_after_some_looks_is_waited_for(instance, consumed):
    records = started_run(instance)
    waiting = daemon._retry_stored(SimpleNamespace(instance=instance), records, logging.getLogger())
    for _ in range(LOOKS):
        next(waiting)
    assert consumed == []
    instance.report_run_failed(records[0].dagster_run)
    assert len([*waiting]) <= 2  # what Dagster yields, and the look that was under way
    assert consumed == [[dg.DagsterRunStatus.FAILURE]]


def test_a_status_that_never_comes_is_not_waited_for_for_ever(instance, consumed, monkeypatch):
    monkeypatch.setattr(daemon, "PATIENCE_SECONDS", 0.2)
    [*daemon._retry_stored(SimpleNamespace(instance=instance), started_run(instance), logging.getLogger())]
    assert consumed == [[dg.DagsterRunStatus.STARTED]]
