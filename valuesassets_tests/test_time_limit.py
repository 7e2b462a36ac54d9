"""A long run of tests says what fails when it fails, and begins no test after its time."""

import time

import pytest

from valuesassets_tests.made_tests import run_made_tests
from valuesassets_tests.time_limit import UNTIL

TESTS = """
    import pytest


    @pytest.fixture
    def broken():
        raise RuntimeError("the cluster does not start")


    def test_one():
        pass


    def test_two(broken):
        pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("processes", [(), ("-n", "1")], ids=["here", "in a worker"])
def test_failures_are_printed_at_once_and_no_test_begins_late(processes, tmp_path):
    for minutes in (60, -1):
        until = {UNTIL: str(time.time() + 60 * minutes)}
        done = run_made_tests(tmp_path, TESTS, "time_limit.TimeLimit", *processes, **until)
        at_once, _, at_the_end = done.stdout.partition("= ERRORS =")
        is_late = minutes < 0
        assert ("setup failed" in at_once and "the cluster does not start" in at_once) is not is_late
        assert ("left out, there was no time left for it: 2 tests" in done.stdout) is is_late
        assert ("1 passed, 1 error" in at_the_end) is not is_late
        assert done.returncode == (0 if is_late else 1)


@pytest.mark.slow
def test_a_test_that_waits_for_ever_fails(tmp_path):
    tests = "import threading\n\n\ndef test_one():\n    threading.Event().wait()\n\n\ndef test_two():\n    pass\n"
    limit = {"VALUESASSETS_TEST_SECONDS": "1"}
    done = run_made_tests(tmp_path, tests, "time_limit.TimeLimit", "-n", "1", **limit)
    assert "it took 1 s, which no test does" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
