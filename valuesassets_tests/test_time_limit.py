"""A long run of tests says what fails when it fails, and begins no test after its time."""

import time

import pytest

from valuesassets_tests.made_tests import run_made_tests
from valuesassets_tests.time_limit import UNTIL

LIMIT, WORKERS = "time_limit:TimeLimit", "forked_workers:ForkedWorkers"
TESTS = """
    import pytest


    @pytest.fixture
    def broken():
        raise RuntimeError("the cluster does not start")


    @pytest.mark.group("another")
    def test_one():
        pass


    def test_two(broken):
        pass
"""
WAITING = """
    import threading

    import pytest


    @pytest.mark.group("another")
    def test_one():
        threading.Event().wait()


    def test_two():
        pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("plugins", [[LIMIT], [LIMIT, WORKERS]], ids=["here", "in forks"])
def test_failures_are_printed_at_once_and_no_test_begins_late(plugins, tmp_path):
    for minutes in (60, -1):
        until = {UNTIL: str(time.time() + 60 * minutes)}
        done = run_made_tests(tmp_path, TESTS, plugins, **until)
        at_once, _, at_the_end = done.stdout.partition("= ERRORS =")
        is_late = minutes < 0
        assert ("setup failed" in at_once and "the cluster does not start" in at_once) is not is_late
        assert ("left out, there was no time left for it: 2 tests" in done.stdout) is is_late
        assert ("1 passed, 1 error" in at_the_end) is not is_late
        assert done.returncode == (0 if is_late else 1)


@pytest.mark.slow
def test_a_test_that_waits_for_ever_fails(tmp_path):
    limit = {"VALUESASSETS_TEST_SECONDS": "1"}
    done = run_made_tests(tmp_path, WAITING, [LIMIT, WORKERS], **limit)
    assert "it took 1 s, which no test does" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
