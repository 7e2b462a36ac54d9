"""How this project starts its own modules as processes, and how many of them the machine has cores for."""

import os
import sys
from importlib import resources
from pathlib import Path

PACKAGES = Path(str(resources.files("valuesassets"))).parent
"""The folder that holds this package: of a checkout its root, else of installed packages."""
SAFE_PATH = "PYTHONSAFEPATH"
"""The variable by which Python, like its option -P, does not look for modules in the working folder."""


def python_module(module: str, *arguments: str, python: str | None = None) -> list[str]:
    """The command that runs a module with this Python, or another.

    A file of the working folder is never imported in place of a library's module of that name, unless this project
    itself is imported from there, as sources that nobody has installed are.
    """
    return [python or sys.executable, *([] if _is_imported_from_here() else ["-P"]), "-m", module, *arguments]


def safe_path() -> dict[str, str]:
    """The environment variable that does the same for what Dagster starts by itself."""
    return {} if _is_imported_from_here() else {SAFE_PATH: "1"}


def _is_imported_from_here() -> bool:
    return Path.cwd() == PACKAGES


def count_cores() -> int:
    """Cores that this process may use: those of a Slurm job or a container, where the system tells."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
