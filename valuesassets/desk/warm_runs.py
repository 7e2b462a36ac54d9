"""Starts runs as forks of a process that has imported large libraries, so that runs start faster.

Dagster's code server starts each run by `spawn`, which imports Dagster, pandas and matplotlib every time; that costs
more than most runs. `forkserver` imports them once, in a separate process without gRPC, Python threads or open
databases, which starts with the first run. It imports other people's code only: every run reads this project's modules,
the study and the graph itself, so that none gets old ones.
"""

import gc
import os
import sys
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.popen_forkserver import Popen
from multiprocessing.process import BaseProcess

from valuesassets.dagster_internals.run_starts import OF_A_RUN, start_runs_in
from valuesassets.desk.run_process import RunProcess
from valuesassets.records.garbage import collect_seldom

PRELOADED = (
    *OF_A_RUN,
    "pandas",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "scipy.optimize",
    "scipy.stats",
    "matplotlib.backends.backend_agg",
    "matplotlib.figure",
)
"""Modules that are imported before runs begin; those not installed are skipped."""

UNKNOWN = 255
"""Python's exit status for a fork whose fork server is gone; the fork may still live."""


class OutlivingPopen(Popen):
    """A fork that is checked in /proc where its fork server is gone and cannot report its end."""

    def __init__(self, process: BaseProcess) -> None:
        super().__init__(process)
        self._process = RunProcess.find("", self.pid)

    def poll(self, flag: int = os.WNOHANG) -> int | None:
        """The exit status; None while the fork lives."""
        status = super().poll(flag)
        if status == UNKNOWN and self._process is not None and self._process.why_gone() is None:
            self.returncode = status = None
        return status


class RunFork(ForkServerProcess):
    """The process of one run."""

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> OutlivingPopen:  # noqa: N802
        return OutlivingPopen(process_obj)

    def run(self) -> None:
        """Run without collecting inherited objects, since that would copy their shared pages."""
        gc.freeze()
        collect_seldom()
        super().run()


class RunForks(ForkServerContext):
    """A replacement for `multiprocessing.get_context("forkserver")`."""

    Process = RunFork


def start_runs_warm() -> bool:
    """Let the code server in this process start its runs as forks, and return whether it does; other processes, and a
    Dagster that starts runs in another way, are left unchanged."""
    if sys.platform != "linux":
        return False
    context = RunForks()
    context.set_forkserver_preload(list(PRELOADED))
    return start_runs_in(context)
