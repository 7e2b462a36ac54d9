"""Runs start as forks of a process that has imported what they all need, not as a new Python that imports it first.

Dagster's code server starts each run by `spawn`: every run pays for the import of Dagster, pandas and matplotlib, which
costs more than the run. `forkserver` pays once, in a process of its own, begun with the first run, that has no gRPC, no
thread of Python's and no open database. It imports only other people's code: this project's modules, the study and the
graph are read anew by every run, as they always were, so that no run is given old ones.
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
"""What is imported before runs begin; what is not installed is passed over."""

UNKNOWN = 255
"""Python's word for how a fork has ended whose fork server is gone; the fork may live."""


class OutlivingPopen(Popen):
    """A fork that is looked at itself, in /proc, where its fork server is gone and cannot report its end."""

    def __init__(self, process: BaseProcess) -> None:
        super().__init__(process)
        self._process = RunProcess.find("", self.pid)

    def poll(self, flag: int = os.WNOHANG) -> int | None:
        """Its exit status; None while it lives."""
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
        """Run; what stands in memory before is never garbage, and looking through it would copy its pages."""
        gc.freeze()
        collect_seldom()
        super().run()


class RunForks(ForkServerContext):
    """Takes the place of `multiprocessing.get_context("forkserver")`."""

    Process = RunFork


def start_runs_warm() -> bool:
    """Have the code server that this process is start its runs by forks; elsewhere, nothing is done.

    Returns:
        Whether it does. A server whose Dagster keeps its way of starting runs elsewhere goes on as it was.
    """
    if sys.platform != "linux":
        return False
    context = RunForks()
    context.set_forkserver_preload(list(PRELOADED))
    return start_runs_in(context)
