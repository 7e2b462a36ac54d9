import os
import signal
import time

from valuesassets_tests.slurm_runner.batch import prepared, start

STARTS = 25


def told_to_stop(root, command):
    """The exit status of a command that gets SIGTERM once it has made the file `up`."""
    submission = prepared(root, *command)
    process, until = start(submission), time.monotonic() + 60
    while not list(submission.folder.rglob("up")):
        assert time.monotonic() < until
        time.sleep(0.002)
    time.sleep(0.01)
    os.kill(process.pid, signal.SIGTERM)
    return process.wait(30)


def test_a_command_told_to_stop_keeps_its_exit_status_however_quick_it_is(tmp_path):
    quick = ["dash", "-c", 'trap "exit 75" TERM; touch up; sleep 5 & wait']
    assert {told_to_stop(tmp_path, quick) for _ in range(STARTS)} == {75}
