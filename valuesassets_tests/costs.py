"""What a run of tests costs: wall and CPU seconds, the ten dearest files, `storage/evidence/test_times*.json`.

CPU seconds of a test are those of its process and of the processes that it started and waited for. Node jobs are forks
of one process that serves all tests (`valuesassets/node/fork_server.py`): their seconds are one sum.
"""

import json
import os
import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from valuesassets_tests.needs import REPOSITORY

CPU_SECONDS = "cpu_seconds"
"""The property of a test's report under which xdist's workers hand the seconds to the process that sums them up."""
DEAREST = 10
PART = "VALUESASSETS_TEST_PART"
"""The variable that names the part of the suite: its seconds are stored apart from those of `make test`."""
STORED = Path(os.environ.get("VALUESASSETS_STORAGE", REPOSITORY / "storage")) / "evidence"


def cpu_seconds() -> float:
    """Of this process and of those that it started and waited for."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Costs:
    """Sums up what tests cost, in the process that reports; in workers, hands it over."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.files: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])  # CPU and wall seconds
        self.tests = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.before = cpu_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        report = yield
        now = cpu_seconds()
        report.user_properties = [(CPU_SECONDS, now - self.before)]
        self.before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = self.files[report.nodeid.partition("::")[0]]
        file[0] += dict(report.user_properties).get(CPU_SECONDS, 0.0)
        file[1] += report.duration
        self.tests += report.when == "call"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print and store the sums; nothing where no test ran."""
        if not self.tests or "PYTEST_XDIST_WORKER" in os.environ:
            return
        wall, cpu = time.monotonic() - self.started, sum(cpu for cpu, _ in self.files.values())
        dearest = sorted(self.files.items(), key=lambda file: -file[1][0])
        terminalreporter.write_sep("=", f"{self.tests} tests: {wall:.0f} s, {cpu:.0f} CPU s and those of node jobs")
        for name, (seconds, _) in dearest[:DEAREST]:
            terminalreporter.write_line(f"{seconds:8.1f} CPU s  {name}")
        STORED.mkdir(parents=True, exist_ok=True)
        part = os.environ.get(PART, "suite").replace("-", "_")
        files = {name: {"cpu_seconds": round(cpu, 2), "wall_seconds": round(wall, 2)} for name, (cpu, wall) in dearest}
        record = {"wall_seconds": round(wall, 1), "cpu_seconds": round(cpu, 1), "tests": self.tests, "files": files}
        stored = STORED / ("test_times.json" if part == "suite" else f"test_times_{part}.json")
        stored.write_text(json.dumps(record, indent=1) + "\n")
