import time
from types import SimpleNamespace

import pytest

from slurm_runner.commands import SlurmCommands
from slurm_runner.options import SlurmOptions
from slurm_runner.submission import cancel, submit
from slurm_runner.verdicts import Ending
from slurm_runner.watch import NOT_SEEN, UNKNOWN, Watch
from valuesassets_tests.slurm_runner.arrays import watch_array
from valuesassets_tests.slurm_runner.batch import prepared
from valuesassets_tests.slurm_runner.endings import endings
from valuesassets_tests.waiting import wait_until

pytestmark = [pytest.mark.slurm, pytest.mark.group("slurm")]


@pytest.fixture
def commands(cluster):
    return SlurmCommands()


def watched(submission, commands, **patience):
    watch = Watch(commands, **patience)
    watch.add(submission)
    return watch


def states(watch):
    return [report.state for _, report in watch.open_reports()]


def tick_until_ended(watch):
    """The endings of all that is watched."""
    ended = {}

    def is_over():
        ended.update({key: report.verdict.ending for key, report in watch.tick().items()})
        return not list(watch.open_reports())

    wait_until(is_over)
    return [ended[key] for key in sorted(ended)]


def test_an_array_is_watched_with_one_query_a_tick_and_every_task_judged_by_what_it_did(cluster, tmp_path):
    result = watch_array(120, tmp_path, seconds_between=0.3)
    assert result.endings == {"done": 118, "failed": 2}
    assert result.misjudged == []
    assert result.most_queries == 1


def test_a_state_that_nobody_has_heard_of_is_no_ending(cluster, commands, tmp_path, stand_in):
    submission = submit(prepared(tmp_path, "sh", "-c", f"while [ ! -e {tmp_path}/go ]; do sleep 0.1; done"), commands)
    undo = stand_in("squeue", '$REAL "$@" | sed "s/|[A-Z]*|0|0|/|EXPEDITING|0|0|/"')
    watch = watched(submission, commands)
    assert states(watch) == [NOT_SEEN]
    assert watch.tick() == {}
    assert states(watch) == ["EXPEDITING"]
    undo()
    (tmp_path / "go").touch()
    assert tick_until_ended(watch) == [Ending.DONE]


def test_tasks_that_can_never_start_are_cancelled_with_one_command(cluster, commands, tmp_path):
    options = SlurmOptions(partition="short", minutes=5)
    submission = submit(prepared(tmp_path, "true", options=options, n_tasks=6), commands)
    watch = watched(submission, commands)
    wait_until(lambda: "PartitionTimeLimit" in cluster.ask("squeue", "-h", "-j", submission.job_id, "-o", "%r"))
    asked = commands.count
    assert watch.tick() == {}
    ended = watch.tick()
    assert commands.count == asked + 3
    assert [report.verdict.ending for report in ended.values()] == [Ending.STUCK] * 6
    wait_until(lambda: {row[3] for row in cluster.jobs() if row[1] == submission.job_id} == {"CANCELLED"})


def test_a_task_told_to_stop_waits_for_its_exit_file_to_show(cluster, commands, tmp_path, stand_in):
    stand_in("mv", '(setsid sh -c \'sleep 1.5; exec "$0" "$@"\' $REAL "$@" > /dev/null 2>&1 &)')
    submission = submit(prepared(tmp_path, "sh", "-c", "exit 75"), commands)
    assert endings(submission, commands) == [Ending.PREEMPTED]


@pytest.mark.parametrize(("leaves", "expected"), [(True, Ending.DONE), (False, Ending.VANISHED)])
def test_an_accounting_that_fails_keeps_no_task_waiting_for_ever(
    cluster, commands, tmp_path, stand_in, leaves, expected
):
    submission = submit(prepared(tmp_path, "true"), commands)
    assert endings(submission, commands) == [Ending.DONE]
    if not leaves:
        next(submission.folder.rglob("exit.json")).unlink()
    stand_in("squeue", "exit 0")
    stand_in("sacct", "echo sacct: error: Problem talking to the database: Connection refused >&2; exit 1")
    watch = watched(submission, commands, unknown_seconds=600 if leaves else 1.5)
    started = time.monotonic()
    assert tick_until_ended(watch) == [expected]
    assert leaves or time.monotonic() - started >= 1.5


def test_a_task_that_neither_slurm_nor_a_cluster_without_accounting_shows_ended_as_its_exit_file_says(
    cluster, commands, tmp_path, stand_in
):
    submission = submit(prepared(tmp_path, "sh", "-c", "exit 3"), commands)
    assert endings(submission, commands) == [Ending.FAILED]
    stand_in("squeue", "exit 0")
    watch = watched(submission, commands)
    assert watch.tick() == {}
    assert states(watch) == [UNKNOWN]
    assert [report.verdict.ending for report in watch.tick().values()] == [Ending.FAILED]


def test_a_task_is_not_given_up_at_the_first_answer_after_a_long_silence(
    cluster, commands, tmp_path, stand_in, monkeypatch
):
    submission = submit(prepared(tmp_path, "sleep", "6000"), commands)
    undo = stand_in("squeue", "echo squeue: error: broken >&2; exit 1")
    watch = watched(submission, commands, unknown_seconds=600)
    assert watch.tick() == {}
    monkeypatch.setattr("slurm_runner.watch.time", SimpleNamespace(monotonic=lambda: time.monotonic() + 601))
    assert watch.tick() == {}
    assert watch.fault == "squeue: squeue: error: broken"
    stand_in("squeue", "exit 0")
    assert [watch.tick(), watch.tick(), watch.tick()] == [{}, {}, {}]
    undo()
    wait_until(lambda: watch.tick() or states(watch) != ["PENDING"])
    assert states(watch) == ["RUNNING"]
    cancel(submission, [0], commands)
    assert tick_until_ended(watch) == [Ending.CANCELLED]


def test_work_that_was_done_while_the_controller_is_lost_is_done(cluster, commands, tmp_path):
    work = "sh", "-c", f"while [ ! -e {tmp_path}/go ]; do sleep 0.1; done"
    submission = submit(prepared(tmp_path, *work), commands)
    watch = watched(submission, commands, unknown_seconds=1)
    wait_until(lambda: watch.tick() or states(watch) == ["RUNNING"])
    cluster.kill("slurmctld")
    try:
        (tmp_path / "go").touch()
        assert tick_until_ended(watch) == [Ending.DONE]
        assert "contact slurm controller" in watch.fault
    finally:
        cluster.start("slurmctld")
        cluster.wait_until_idle()
