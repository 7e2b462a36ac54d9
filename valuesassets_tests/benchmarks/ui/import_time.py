"""What a process pays before it can do anything: Python, Dagster, the graph's modules, the graph."""

import os
import re
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry
from valuesassets_tests.needs import REPOSITORY

MODULE = "valuesassets.definitions"
BUILT = f"import {MODULE} as module; module.defs().get_repository_def()"
LINE = re.compile(r"import time:\s+(\d+) \|\s+\d+ \| \s*([\w.]+)")
SHOWN = 14


def measure_import(repeats: int, tell: Tell) -> Entries:
    """CPU and wall time of a Python that imports Dagster, the graph's modules, and that builds the graph."""
    commands = {"import_dagster": "import dagster", "import_definitions": f"import {MODULE}", "load_graph": BUILT}
    entries: Entries = {}
    for name, command in commands.items():
        tell(f"{name}: python -c '{command}', {repeats} times")
        cpu, wall = zip(*(run_python(["-c", command]) for _ in range(repeats)), strict=True)
        wanted = "<= 2.5" if name == "import_definitions" else None
        entries[name] = entry(cpu, "s of CPU time", wanted, wall_seconds=entry(wall, "s"))
    entries["import_definitions"]["rows"] = import_rows()
    return entries


def run_python(arguments: Sequence[str]) -> tuple[float, float]:
    """CPU time of a new Python with its children, and wall time, in seconds."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return cpu_seconds(after) - cpu_seconds(before), time.perf_counter() - started


def cpu_seconds(usage: resource.struct_rusage) -> float:
    """User and system time."""
    return usage.ru_utime + usage.ru_stime


def import_rows(package_of: Callable[[str], str] | None = None) -> list[dict[str, Any]]:
    """Wall time that the modules of each package took by themselves, the longest first; with `-X importtime`."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", f"import {MODULE}"],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=True,
    )
    spent: dict[str, list[int]] = defaultdict(list)
    for microseconds, name in LINE.findall(done.stderr):
        spent[(package_of or _package)(name)].append(int(microseconds))
    ordered = sorted(spent.items(), key=lambda item: -sum(item[1]))
    rest = [each for _, times in ordered[SHOWN:] for each in times]
    return [
        {"package": name, "modules": len(times), "seconds": sum(times) / 1e6}
        for name, times in [*ordered[:SHOWN], ("others", rest)]
    ]


def _package(name: str) -> str:
    top = name.partition(".")[0].lstrip("_")
    return "Python's own" if top in sys.stdlib_module_names or f"_{top}" in sys.stdlib_module_names else top
