"""Importing the library changes nothing in the process that imports it."""

import subprocess
import sys

from valuesassets_tests.needs import REPOSITORY

CODE = """
import gc, logging, os, signal, sys, threading, warnings

def state():
    handlers = {name: signal.getsignal(name) for name in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}}
    return {
        "garbage": (gc.get_threshold(), gc.isenabled(), gc.get_freeze_count()),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "signals": handlers,
        "threads": threading.active_count(),
        "warnings": list(warnings.filters),
        "logging": (logging.root.level, list(logging.root.handlers)),
        "path": list(sys.path),
        "recursion": sys.getrecursionlimit(),
        "hooks": (sys.excepthook, sys.displayhook),
    }

before, modules = state(), set(sys.modules)
import valuesassets, slurm_runner
after = state()
print([name for name in before if before[name] != after[name]])
packages = {name.partition(".")[0] for name in set(sys.modules) - modules}
print(sorted(packages - {"valuesassets", "slurm_runner"} - sys.stdlib_module_names))
"""


def test_importing_the_library_changes_nothing_and_loads_nothing_else():
    done = subprocess.run([sys.executable, "-c", CODE], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["[]", "[]", ""]
