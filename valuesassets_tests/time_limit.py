"""What a long run of tests says while it runs, and the time after which it begins no further test.

A run that CI ends by force prints no summary: each failure is printed when it happens, and each test that took minutes
with the time at which it ended. After the time in `VALUESASSETS_TESTS_UNTIL` (seconds since 1970) tests are skipped and
counted, so that a slow machine still says what the others came to. A test that was skipped has not passed.
"""

import os
import time
from typing import Any

import pytest

UNTIL = "VALUESASSETS_TESTS_UNTIL"
REASON = "there was no time left for it"
LONG = 60
"""Seconds from which a test is printed when it ends."""


class TimeLimit:
    """A plugin of pytest, in the process that reports and in its workers."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._terminal: Any = None
        self._n_left_out = 0

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._terminal = session.config.pluginmanager.get_plugin("terminalreporter")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if time.time() > float(os.environ.get(UNTIL, "inf")):
            pytest.skip(REASON)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._n_left_out += report.skipped and REASON in str(report.longrepr)
        if "PYTEST_XDIST_WORKER" in os.environ or not self._terminal:
            return
        if report.failed:
            self._print(f"{report.nodeid}: {report.when} failed\n{report.longreprtext}")
        elif report.duration >= LONG:
            self._print(f"{report.nodeid}: {report.when} took {report.duration:.0f} s")

    def pytest_terminal_summary(self) -> None:
        if self._n_left_out:
            self._terminal.write_sep("=", f"left out, {REASON}: {self._n_left_out} tests")

    def _print(self, line: str) -> None:
        self._terminal.ensure_newline()
        self._terminal.write_line(f"after {time.monotonic() - self._started:.0f} s: {line}")
