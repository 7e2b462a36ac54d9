"""Makes several runs of one command at once, in a few forks of its process."""

import contextlib
import functools
import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import dagster as dg

from valuesassets.dagster_internals.graph import BaseAssetGraph
from valuesassets.dagster_internals.run_starts import OF_AN_INSTANCE
from valuesassets.records.processes import count_cores

MOST_AT_ONCE = 4
"""Most runs at once, as in the UI (`dagster.yaml`, whose pools also limit the runs that ask models)."""
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_TO_END = 60.0
"""Time for a run to end after its command is gone."""


@dataclass(frozen=True)
class Workspace:
    """The graph, and the instance that stores its runs, as one process has them."""

    definitions: dg.Definitions
    instance: dg.DagsterInstance

    @property
    def graph(self) -> BaseAssetGraph:
        """The graph of assets."""
        return self.definitions.get_repository_def().asset_graph


class SideBySide:
    """Makes runs in forks of this process, which have their own connections to the instance."""

    def __init__(self, definitions: dg.Definitions, at_once: int) -> None:
        self._definitions, self.at_once = definitions, at_once
        self._forks = self._fork()

    def _fork(self) -> ProcessPoolExecutor:
        for module in OF_AN_INSTANCE:  # otherwise every fork would import them
            import_module(module)
        gc.freeze()  # collecting shared objects would copy their pages
        context = multiprocessing.get_context("fork")
        forks = ProcessPoolExecutor(self.at_once, context, _begin, (self._definitions, os.getpid()))
        forks.submit(int)  # starts all forks now, before this process has threads
        return forks

    def submit(self, make: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """The future result of a call in a fork; `BrokenProcessPool` if a fork was or is killed."""
        try:
            return self._forks.submit(_make, make, *args)
        except BrokenProcessPool as error:
            future: Future[Any] = Future()
            future.set_exception(error)
            return future

    def renew(self) -> None:
        """Replace the forks after one was killed, once the others have ended."""
        self._forks.shutdown()
        self._forks = self._fork()

    def interrupt(self) -> None:
        """Interrupt the current runs."""
        for fork in multiprocessing.active_children():
            if fork.pid is not None:
                with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
                    os.kill(fork.pid, signal.SIGINT)

    def end(self) -> None:
        """Wait for the forks to end."""
        self._forks.shutdown(cancel_futures=True)


@contextlib.contextmanager
def side_by_side(definitions: dg.Definitions) -> Iterator[SideBySide | None]:
    """Forks for runs, one for each core and at most four; None where there is one core."""
    at_once = min(MOST_AT_ONCE, count_cores())
    runs = SideBySide(definitions, at_once) if at_once > 1 else None
    try:
        yield runs
    finally:
        if runs is not None:
            runs.end()


_workspace: Callable[[], Workspace]
_is_busy = False


def _begin(definitions: dg.Definitions, parent: int) -> None:
    """Prepare a fork: it ignores the terminal's Ctrl-C, which its parent passes on, and ends with its parent."""
    global _workspace
    os.setsid()
    signal.signal(signal.SIGINT, _interrupt)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    # Opened at the first run, when the parent has created missing tables of the instance.
    _workspace = functools.cache(lambda: Workspace(definitions, dg.DagsterInstance.get()))


def _make(make: Callable[..., Any], *args: Any) -> Any:
    global _is_busy
    _is_busy = True
    try:
        return make(_workspace(), *args)
    finally:
        _is_busy = False


def _interrupt(*_: object) -> None:
    if _is_busy:
        raise KeyboardInterrupt


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        threading.Event().wait(SECONDS_BETWEEN_LOOKS)
    if _is_busy:
        end_soon()
    os._exit(1)


def end_soon() -> None:
    """Interrupt this process, and end it if its run has not ended in time."""
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(SECONDS_TO_END)
    os._exit(1)
