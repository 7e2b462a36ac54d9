"""Tests run in forks: all of them once, a group's in one process, in any outcome; a fork that dies fails one test."""

import re

from valuesassets_tests.made_tests import run_made_tests

WORKERS = ["forked_workers:ForkedWorkers"]
OUTCOMES = """
    import os
    import pytest

    MADE = os.getpid()

    @pytest.fixture(scope="module")
    def once(tmp_path_factory):
        print("made once")
        yield tmp_path_factory.mktemp("once")

    @pytest.mark.group("{first}")
    @pytest.mark.parametrize("number", range(6))
    def test_first(number, once):
        assert os.getpid() != MADE
        (once / f"{{os.getpid()}}-{{number}}").touch()
        assert len({{path.name.partition("-")[0] for path in once.iterdir()}}) == 1
        assert len(list(once.iterdir())) == number + 1

    @pytest.mark.group("{second}")
    @pytest.mark.parametrize("number", range(6))
    def test_second(number):
        {body}
"""


def outcomes(folder, body, first="a", second="b", *options):
    """What a run of made tests came to: pytest's exit status, its last line, all that it printed."""
    done = run_made_tests(folder, OUTCOMES.format(first=first, second=second, body=body), WORKERS, *options)
    return done.returncode, done.stdout.splitlines()[-1], done.stdout + done.stderr


def test_all_tests_run_once_and_a_groups_in_one_fork(tmp_path):
    code, line, printed = outcomes(tmp_path, "pass")
    assert (code, re.sub(r" in .*", "", line)) == (0, "12 passed"), printed


def test_failures_are_reported_with_what_was_printed(tmp_path):
    code, line, printed = outcomes(tmp_path, "print('said', number); assert number != 3")
    assert (code, re.sub(r" in .*", "", line)) == (1, "1 failed, 11 passed"), printed
    assert "said 3" in printed
    assert "said 2" not in printed


def test_a_fork_that_dies_fails_the_test_it_ran_and_no_other(tmp_path):
    code, line, printed = outcomes(tmp_path, "number == 3 and os._exit(7)")
    assert (code, re.sub(r" in .*", "", line)) == (1, "1 failed, 11 passed"), printed
    assert "the process that ran it ended with status 7" in printed


def test_one_failure_stops_the_run_where_that_is_wanted(tmp_path):
    code, _, printed = outcomes(tmp_path, "assert number != 0", "a", "b", "--exitfirst")
    assert code == 1, printed
    assert "stopping after 1 failures" in printed


def test_one_group_needs_no_fork(tmp_path):
    code, line, printed = outcomes(tmp_path, "pass", "a", "a")
    assert (code, re.sub(r" in .*", "", line)) == (1, "6 failed, 6 passed"), printed  # the first compare processes


BROKEN_END = """
    import pytest

    @pytest.fixture(scope="session")
    def held():
        yield
        raise RuntimeError("the cluster does not end")

    @pytest.mark.group("a")
    def test_one(held):
        pass

    @pytest.mark.group("b")
    def test_two():
        pass
"""


def test_a_fixture_of_the_session_that_breaks_at_its_end_fails_the_run(tmp_path):
    done = run_made_tests(tmp_path, BROKEN_END, WORKERS)
    assert done.returncode == 1, done.stdout
    assert "the cluster does not end" in done.stdout
    assert re.sub(r" in .*", "", done.stdout.splitlines()[-1]) == "2 passed, 1 error"
