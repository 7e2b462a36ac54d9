"""What the benchmarks found, as numbers in a file and as a table. A part that was run replaces its own entries only."""

import operator
import os
import platform
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from valuesassets.records.files import read_json, write_json
from valuesassets_tests.needs import REPOSITORY

Entries = dict[str, dict[str, Any]]
Tell = Callable[[str], None]
"""Called with what is being measured, as it goes on."""

NOT_MEASURED = "not measured"
_COMPARISONS = {"<=": operator.le, ">=": operator.ge}


def entry(values: Sequence[float], unit: str, wanted: str | None = None, **more: Any) -> dict[str, Any]:
    """One entry: smallest, middle and largest of some repetitions.

    Args:
        wanted: `>= 12` must hold of the middle, `<= 0.6` of the largest.
    """
    found = {"min": min(values), "median": statistics.median(values), "max": max(values), "unit": unit}
    if wanted is not None:
        found |= {"wanted": wanted, "is_met": holds(found["max" if wanted.startswith("<") else "median"], wanted)}
    return found | more | {"machine": describe_machine()}


def not_measured(reason: str) -> dict[str, Any]:
    """An entry in place of a number that this machine cannot give."""
    return {"min": None, "median": None, "max": None, "unit": NOT_MEASURED, "reason": reason}


def holds(value: float, wanted: str) -> bool:
    """Whether a value is within its limit.

    >>> holds(0.59, "<= 0.6"), holds(11.9, ">= 12")
    (True, False)
    """
    sign, limit = wanted.split()
    return bool(_COMPARISONS[sign](value, float(limit)))


def describe_machine() -> dict[str, Any]:
    """What the numbers depend on beside the code."""
    return {"processor": _processor(), "torch": torch.__version__, "threads": torch.get_num_threads()}


def add_entries(path: Path, entries: Entries) -> None:
    """Put entries into the file, in place of those of the same names."""
    known = read_json(path) if path.is_file() else {}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, known | entries)


def draw_table(entries: Entries) -> Table:
    """All entries: smallest, middle, largest, and whether the limit is kept."""
    table = Table(title="benchmarks", title_justify="left")
    table.add_column("", no_wrap=True)
    for heading in ("min", "median", "max"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("unit")
    table.add_column("wanted")
    for name, found in sorted(entries.items()):
        numbers = ["" if found[key] is None else f"{found[key]:.4g}" for key in ("min", "median", "max")]
        wanted = f"{found['wanted']}: {'yes' if found['is_met'] else 'NO'}" if "wanted" in found else ""
        table.add_row(name, *numbers, found["unit"], wanted or found.get("reason", ""))
    return table


def show(path: Path, console: Console) -> None:
    """Print all that a file of entries holds, and where it is."""
    entries = read_json(path)
    console.print(draw_table(entries))
    for name, found in sorted(entries.items()):
        if "rows" in found:
            console.print(draw_rows(name, found["rows"]))
    console.print(f"written to {path}", highlight=False, soft_wrap=True)


def draw_rows(name: str, rows: Sequence[dict[str, Any]]) -> Table:
    """The rows of an entry that holds several sizes."""
    table = Table(title=name, title_justify="left", box=None, padding=(0, 1))
    for heading in rows[0]:
        table.add_column(heading.replace("_", " "), justify="right")
    for row in rows:
        table.add_row(*(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()))
    return table


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def evidence_folder() -> Path:
    """Where the make targets leave what they found."""
    return Path(os.environ.get("VALUESASSETS_STORAGE") or REPOSITORY / "storage") / "evidence"
