"""What a run of tests costs: wall and CPU seconds, the ten dearest files, `storage/evidence/test_times*.json`.

CPU seconds of a test are those of its process and of the processes that it started and waited for. What is made once
for the tests of several files (a fixture of the session) has a line of its own, and so no file pays for the others.
Node jobs are forks of one process that serves all tests (`valuesassets/node/fork_server.py`): their seconds are one
sum.

`python -m valuesassets_tests.costs` holds what `make test` stored against the budgets below.
"""

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from valuesassets_tests.needs import REPOSITORY

CPU_SECONDS = "cpu_seconds"
"""The property of a test's report under which forks hand the seconds to the process that sums them up."""
SHARED_SECONDS = "shared_cpu_seconds"
"""The same for the seconds of fixtures that several tests share, by scope and name."""
DEAREST = 10
DEAR = 0.4
"""CPU seconds from which a test, or a fixture of a file, is named in what is stored."""
PART = "VALUESASSETS_TEST_PART"
"""The variable that names the part of the suite: its seconds are stored apart from those of `make test`."""
STORED = Path(os.environ.get("VALUESASSETS_STORAGE", REPOSITORY / "storage")) / "evidence"
SUITE_TIMES = STORED / "test_times.json"

BUDGETS: dict[str, float] = {
    ".": 75,
    "bad_inputs": 260,
    "models": 140,
    "instruments/survey": 95,
    "orchestration": 210,
    "studies": 165,
}
"""By folder of tests, what a file of it may cost in `make test`, in units; a folder without one has that of the folder
above it. A unit is what `work_unit` takes, so that fast machines and slow ones have the same budgets."""
EXCESS = 1.5
"""A file fails where it costs more than so many budgets: seconds on a busy machine differ by as much."""


def cpu_seconds() -> float:
    """Of this process and of those that it started and waited for."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def work_unit() -> float:
    """The CPU seconds of a fixed piece of work, half of it Python's and half numpy's: the least of five tries."""
    random = np.random.default_rng(0)
    matrix = random.random((160, 160))
    tries = []
    for _ in range(5):
        before = time.process_time()
        sum(number * number % 7 for number in range(1_000_000))
        for _ in range(40):
            np.sort(matrix @ matrix, axis=None)
        tries.append(time.process_time() - before)
    return min(tries)


def _unit_of_a_fresh_process() -> float:
    """`work_unit` beside nothing: in a process that has run tests it took half as long again."""
    program = f"from {__name__} import work_unit; print(round(work_unit(), 4))"
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    said = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True
    )
    return float(said.stdout)


def budget_of(file: str) -> float:
    """What a file of tests may cost, in units: the budget of the nearest folder that has one."""
    folder = Path(file).parent.relative_to("valuesassets_tests") if file.startswith("valuesassets_tests") else Path()
    return next(BUDGETS[str(each)] for each in (folder, *folder.parents) if str(each) in BUDGETS)


def files_beyond_budget(times: Mapping[str, Any]) -> list[str]:
    """A line for each file that exceeds its budget by more than half."""
    unit = times["unit_cpu_s"]
    lines = []
    for cost in times["files"]:
        file, units = cost["file"], cost["cpu_s"] / unit
        if units > EXCESS * (budget := budget_of(file)):
            lines.append(
                f"{file} costs {units:.0f} units ({cost['cpu_s']:.1f} CPU s) in `make test`, {budget:.0f} are "
                "planned for a file of its folder; make it cheaper, or mark its dear tests as slow: `make test-all` "
                "runs those"
            )
    return lines


class Costs:
    """Sums up what tests cost, in the process that reports; in forks, hands it over."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.files: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])  # CPU and wall seconds
        self.shared: dict[str, float] = defaultdict(float)  # CPU seconds, by fixture of the session
        self.fixtures: dict[str, float] = defaultdict(float)  # the same of a file's fixtures
        self.seconds: dict[str, float] = defaultdict(float)  # CPU seconds, by test
        self.tests = 0
        self._shared_by_test: list[tuple[str, str, float]] = []
        self._is_within_fixture = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.before = cpu_seconds()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        if fixturedef.scope == "function" or self._is_within_fixture:
            return (yield)
        before, self._is_within_fixture = cpu_seconds(), True
        try:
            return (yield)
        finally:
            self._is_within_fixture = False
            self._shared_by_test.append((fixturedef.scope, fixturedef.argname, cpu_seconds() - before))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        report = yield
        now, shared = cpu_seconds(), self._shared_by_test
        own = now - self.before - sum(seconds for _, _, seconds in shared)
        report.user_properties = [(CPU_SECONDS, own), (SHARED_SECONDS, shared)]
        self.before, self._shared_by_test = now, []
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        properties: dict[str, Any] = dict(report.user_properties)
        file = self.files[report.nodeid.partition("::")[0]]
        file[0] += (seconds := properties.get(CPU_SECONDS, 0.0))
        self.seconds[report.nodeid] += seconds
        file[1] += report.duration
        for scope, name, seconds in properties.get(SHARED_SECONDS, []):
            if scope == "session":
                self.shared[name] += seconds
            else:
                file[0] += seconds
                self.fixtures[f"{report.nodeid.partition('::')[0]}::{name}"] += seconds
        self.tests += report.when == "call"

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print and store the sums; nothing where no test ran."""
        if not self.tests:
            return
        wall = time.monotonic() - self.started
        cpu = sum(cpu for cpu, _ in self.files.values()) + sum(self.shared.values())
        dearest = sorted(self.files.items(), key=lambda file: -file[1][0])
        terminalreporter.write_sep("=", f"{self.tests} tests: {wall:.0f} s, {cpu:.0f} CPU s and those of node jobs")
        for name, (seconds, _) in dearest[:DEAREST]:
            terminalreporter.write_line(f"{seconds:8.1f} CPU s  {name}")
        for name, seconds in sorted(self.shared.items(), key=lambda each: -each[1]):
            if seconds >= 1:
                terminalreporter.write_line(f"{seconds:8.1f} CPU s  {name}, made once for several files")
        part = os.environ.get(PART, "").replace("-", "_")
        if not part:  # some tests, for somebody
            return
        record = {
            "wall_s": round(wall, 1),
            "cpu_s": round(cpu, 1),
            "unit_cpu_s": _unit_of_a_fresh_process(),
            "tests": self.tests,
            "files": [
                {"file": name, "cpu_s": round(cpu, 2), "wall_s": round(wall, 2)} for name, (cpu, wall) in dearest
            ],
            "dear_tests": _dear(self.seconds),
            "dear_fixtures": _dear(self.fixtures),
            "made_once": {name: round(seconds, 2) for name, seconds in self.shared.items()},
        }
        STORED.mkdir(parents=True, exist_ok=True)
        stored = SUITE_TIMES if part == "suite" else STORED / f"test_times_{part}.json"
        stored.write_text(json.dumps(record, indent=1) + "\n")


def _dear(seconds: Mapping[str, float]) -> dict[str, float]:
    """The dearest first, those that cost `DEAR` or more."""
    ordered = sorted(seconds.items(), key=lambda each: -each[1])
    return {name: round(each, 2) for name, each in ordered if each >= DEAR}


def main() -> int:
    """Print the files whose last run by `make test` exceeds their budget; 1 where there is one."""
    if not SUITE_TIMES.exists():
        print(f"{SUITE_TIMES} is not there, so no budget of tests is checked; `make test` writes it")
        return 0
    times = json.loads(SUITE_TIMES.read_text(encoding="utf-8"))
    if "unit_cpu_s" not in times:
        print(f"{SUITE_TIMES} is of an earlier version, so no budget of tests is checked; `make test` writes it anew")
        return 0
    lines = files_beyond_budget(times)
    print("\n".join(lines) or "every file of tests is within its budget")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
