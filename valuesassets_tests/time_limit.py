"""What a long run of tests says while it runs, and the time after which it begins no further test.

A run that CI ends by force prints no summary: each failure is printed when it happens, and each test that took minutes
with the time at which it ended. After the time in `VALUESASSETS_TESTS_UNTIL` (seconds since 1970) tests are skipped and
counted, so that a slow machine still says what the others came to. A test that was skipped has not passed. The end says
what the machine's cores did meanwhile: some machines are slow since they wait for a disk or share their host.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from valuesassets_tests.forked_workers import is_fork

UNTIL = "VALUESASSETS_TESTS_UNTIL"
REASON = "there was no time left for it"
LONG = 60
"""Seconds from which a test is printed when it ends."""
MOST_SECONDS = int(os.environ.get("VALUESASSETS_TEST_SECONDS", "1800"))
"""After which a test fails: one that waits for ever keeps its process, and all tests that wait for it, to the end."""
CORES = Path("/proc/stat")
STATES = ("user", "nice", "system", "idle", "waiting for disks", "interrupts", "interrupts", "given to other machines")
"""What Linux counts of its cores since it started, in this order (Source: proc_stat(5))."""


def core_times() -> list[int]:
    """Hundredths of a second of all cores, by `STATES`; nothing where the system does not count them."""
    if not CORES.exists():
        return []
    return [int(number) for number in CORES.read_text(encoding="ascii").split("\n", 1)[0].split()[1 : len(STATES) + 1]]


def core_shares(before: list[int], after: list[int]) -> str:
    """What cores did between two counts, in words.

    >>> core_shares([5, 0, 0, 10, 0, 0, 0, 0], [45, 0, 20, 30, 10, 0, 0, 10])
    'cores: 60 % busy, 20 % idle, 10 % waiting for disks, 10 % given to other machines'
    """
    spent = [late - early for early, late in zip(before, after, strict=True)]
    total = sum(spent) or 1
    busy = sum(spent[place] for place in (0, 1, 2, 5, 6))
    shares = {"busy": busy} | {STATES[place]: spent[place] for place in (3, 4, 7)}
    return "cores: " + ", ".join(f"{100 * share / total:.0f} % {name}" for name, share in shares.items())


class TimeLimit:
    """A plugin of pytest, in the process that reports and in its forks."""

    def __init__(self) -> None:
        self._started, self._core_times = time.monotonic(), core_times()
        self._terminal: Any = None
        self._n_left_out = 0

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._terminal = session.config.pluginmanager.get_plugin("terminalreporter")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if time.time() > float(os.environ.get(UNTIL, "inf")):
            pytest.skip(REASON)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        signal.signal(signal.SIGALRM, _end_test)
        signal.alarm(MOST_SECONDS)
        try:
            return (yield)
        finally:
            signal.alarm(0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._n_left_out += report.skipped and REASON in str(report.longrepr)
        if is_fork() or not self._terminal:
            return
        if report.failed:
            self._print(f"{report.nodeid}: {report.when} failed\n{report.longreprtext}")
        elif report.duration >= LONG:
            self._print(f"{report.nodeid}: {report.when} took {report.duration:.0f} s")

    def pytest_terminal_summary(self) -> None:
        if self._core_times:
            self._terminal.write_line(core_shares(self._core_times, core_times()))
        if self._n_left_out:
            self._terminal.write_sep("=", f"left out, {REASON}: {self._n_left_out} tests")

    def _print(self, line: str) -> None:
        self._terminal.write_line(f"\nafter {time.monotonic() - self._started:.0f} s: {line}")  # dots stand before it


def _end_test(*_: object) -> None:
    raise TimeoutError(f"it took {MOST_SECONDS} s, which no test does")
