"""A plugin of pytest: forks of the process that has imported and collected the tests run them.

pytest-xdist has each of its workers import and collect everything anew. Here that is done once. A group of tests (the
mark `group`, else their module) stays in one fork, whose fixtures are then made once; groups are dealt out in the order
in which they were collected.

    pytest's process: collects, deals out groups, reports
        fork 0, fork 1, ...: run a group's tests, hand over their reports, ask for the next group

A fork that dies fails the test that it was running, and another fork runs what was left of the group.
"""

import multiprocessing
import os
import traceback
from collections import defaultdict, deque
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal

import pytest
from _pytest.runner import pytest_sessionfinish as tear_all_down

GROUP = "group"
"""The mark that names a test's group."""
NUMBER = "VALUESASSETS_TEST_FORK"
"""The variable that holds a fork's number; only forks have it."""
SECONDS_TO_END = 60
"""What forks have for their fixtures' ends where the run is interrupted."""
FORKS: Any = multiprocessing.get_context("fork")


def is_fork() -> bool:
    """Whether this process runs tests that another one reports."""
    return NUMBER in os.environ


def group_of(item: pytest.Item) -> str:
    """The name of a test's group."""
    mark = item.get_closest_marker(GROUP)
    return mark.args[0] if mark else item.nodeid.partition("::")[0]


def folder_of_all_forks(factory: pytest.TempPathFactory) -> Path:
    """A folder for temporary files that the forks of a run share."""
    own = factory.getbasetemp()
    return own.parent if is_fork() else own


class _Fork:
    """A process that runs tests, as the process that reports sees it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.left: deque[int] = deque()
        """The places of the tests that it was given and that have not ended; it runs the first."""
        self.last = 0
        """The place of the test that it ended last."""
        self.fault = ""
        """What broke outside of tests, such as the end of a fixture of the session."""
        self.connection, self.far_end = FORKS.Pipe()
        self.process: Any = None


class _Reporter:
    """Hands over what a fork has to report, a test at a time; replaces pytest's own reporter there."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config, self._connection = config, connection
        self._reports: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(_as_data(self._config, report))

    def pytest_runtest_logfinish(self) -> None:
        self._connection.send(self._reports)
        self._reports = []


class ForkedWorkers:
    """Replaces pytest's loop over the tests.

    Args:
        n_forks: how many processes run tests; with one, or one group of tests, pytest's own process does.
    """

    def __init__(self, n_forks: int = 2) -> None:
        self._n_forks = n_forks
        self._groups: deque[list[int]] = deque()
        self._forks: list[_Fork] = []
        self._stop = FORKS.Event()

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", f"{GROUP}(name): runs in the process of its group")

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run all tests; None leaves them to pytest's own loop."""
        places = defaultdict(list)
        for place, item in enumerate(session.items):
            places[group_of(item)].append(place)
        n_forks = min(self._n_forks, len(places))
        is_failed = session.testsfailed and not session.config.option.continue_on_collection_errors
        if n_forks < 2 or is_failed or session.config.option.collectonly:
            return None
        self._groups = deque(places.values())
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # the forks' own ones lie in it
        try:
            for number in range(n_forks):
                self._start(session, number)
            self._report(session)
        finally:
            self._stop.set()
            for fork in self._forks:
                fork.process.join(SECONDS_TO_END)
                fork.process.terminate()
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        return True

    def _start(self, session: pytest.Session, number: int) -> None:
        fork = _Fork(number)
        fork.process = FORKS.Process(target=self._run_fork, args=(session, fork))
        fork.process.start()
        fork.far_end.close()
        self._forks.append(fork)

    def _report(self, session: pytest.Session) -> None:
        """Hear the forks until all have ended."""
        while self._forks:
            ready = wait([fork.connection for fork in self._forks])
            for fork in [fork for fork in self._forks if fork.connection in ready]:
                try:
                    reports = fork.connection.recv()
                except (EOFError, ConnectionResetError):
                    self._end(session, fork)
                    continue
                if isinstance(reports, str):
                    fork.fault = reports
                elif reports is None:
                    group = self._groups.popleft() if self._groups else []
                    fork.left.extend(group)
                    fork.connection.send(group)
                else:
                    fork.last = fork.left.popleft()
                    _report_test(session, fork.last, reports)
            if session.shouldfail or session.shouldstop:
                self._stop.set()
                self._groups.clear()

    def _end(self, session: pytest.Session, fork: _Fork) -> None:
        """Take a fork from the list; where it died, the test that it was running, or its last one, has failed."""
        self._forks.remove(fork)
        fork.connection.close()
        fork.process.join()
        is_whole = not fork.left and fork.process.exitcode == 0
        if is_whole or (self._stop.is_set() and not fork.fault):
            return
        when: Literal["call", "teardown"] = "call" if fork.left else "teardown"
        place = fork.left.popleft() if fork.left else fork.last
        item = session.items[place]
        message = f"the process that ran it ended with status {fork.process.exitcode}\n{fork.fault}"
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", message, when)
        _report_test(session, place, [_as_data(session.config, report)])
        if fork.left:
            self._groups.appendleft(list(fork.left))
        if self._groups:
            self._start(session, fork.number)

    def _run_fork(self, session: pytest.Session, fork: _Fork) -> None:
        """Run tests in this process, which is a fork, until there are no more."""
        for other in [*self._forks, fork]:
            other.connection.close()
        os.environ[NUMBER] = str(fork.number)
        plugins = session.config.pluginmanager
        plugins.unregister(name="terminalreporter")
        plugins.register(_Reporter(session.config, fork.far_end))
        capture: Any = plugins.getplugin("capturemanager")
        capture.stop_global_capturing()  # its files are shared with the other forks
        capture.start_global_capturing()
        capture.suspend_global_capture()
        factory: Any = session.config._tmp_path_factory  # type: ignore[attr-defined]
        factory._basetemp = factory.getbasetemp() / f"fork-{fork.number}"
        factory._basetemp.mkdir(exist_ok=True)
        try:
            try:
                while group := self._next_group(session, fork.far_end):
                    for item, following in zip(group, [*group[1:], session], strict=True):
                        if self._stop.is_set() or session.shouldfail or session.shouldstop:
                            return
                        # After a group's last test, what is made for the session alone stays.
                        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            finally:
                tear_all_down(session)
        except (KeyboardInterrupt, BrokenPipeError, EOFError):  # the process that reports has ended
            pass
        except Exception:
            fork.far_end.send(traceback.format_exc())
            raise

    @staticmethod
    def _next_group(session: pytest.Session, connection: Connection) -> list[Any]:
        connection.send(None)
        return [session.items[place] for place in connection.recv()]


def _report_test(session: pytest.Session, place: int, reports: list[dict[str, Any]]) -> None:
    config, item = session.config, session.items[place]
    nodeid, location = item.nodeid, item.location
    if config.option.verbose > 0:
        config.hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
    for data in reports:
        report = config.hook.pytest_report_from_serializable(config=config, data=data)
        config.hook.pytest_runtest_logreport(report=report)
    config.hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)


def _as_data(config: pytest.Config, report: pytest.TestReport) -> dict[str, Any]:
    return config.hook.pytest_report_to_serializable(config=config, report=report)
