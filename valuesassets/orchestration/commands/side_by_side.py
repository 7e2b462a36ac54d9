"""Runs of one command, made side by side in a few forks of it."""

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

MOST_AT_ONCE = 4
"""As many runs as the UI starts at once (`dagster.yaml`, whose pools also limit how many of them ask models)."""
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_TO_END = 60.0
"""What a run has to end in, when the command that it is part of is gone."""


@dataclass(frozen=True)
class Here:
    """A graph and the instance that its runs are kept in, as a process has them."""

    definitions: dg.Definitions
    instance: dg.DagsterInstance

    @property
    def graph(self) -> BaseAssetGraph:
        """The assets."""
        return self.definitions.get_repository_def().asset_graph


class SideBySide:
    """Runs made in forks of this process, which have connections to the instance of their own."""

    def __init__(self, definitions: dg.Definitions, at_once: int) -> None:
        self._definitions, self.at_once = definitions, at_once
        self._forks = self._fork()

    def _fork(self) -> ProcessPoolExecutor:
        for module in OF_AN_INSTANCE:  # or each fork would
            import_module(module)
        gc.freeze()  # what all forks share is never garbage: looking through it would copy its pages
        context = multiprocessing.get_context("fork")
        forks = ProcessPoolExecutor(self.at_once, context, _begin, (self._definitions, os.getpid()))
        forks.submit(int)  # all of them are made now, before this process has threads
        return forks

    def submit(self, make: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """What will be made; `BrokenProcessPool` where a fork was or is killed meanwhile."""
        try:
            return self._forks.submit(_make, make, *args)
        except BrokenProcessPool as killed:
            lost: Future[Any] = Future()
            lost.set_exception(killed)
            return lost

    def renew(self) -> None:
        """Take other forks, once these have ended, one of which was killed."""
        self._forks.shutdown()
        self._forks = self._fork()

    def interrupt(self) -> None:
        """End the runs that are being made."""
        for fork in multiprocessing.active_children():
            if fork.pid is not None:
                with contextlib.suppress(ProcessLookupError):  # it ended meanwhile
                    os.kill(fork.pid, signal.SIGINT)

    def end(self) -> None:
        """Wait for the forks to end."""
        self._forks.shutdown(cancel_futures=True)


@contextlib.contextmanager
def side_by_side(definitions: dg.Definitions) -> Iterator[SideBySide | None]:
    """Forks that make runs, one for each core and four at most; None where there is one core."""
    at_once = min(MOST_AT_ONCE, len(os.sched_getaffinity(0)))
    runs = SideBySide(definitions, at_once) if at_once > 1 else None
    try:
        yield runs
    finally:
        if runs is not None:
            runs.end()


_here: Callable[[], Here]
_is_busy = False


def _begin(definitions: dg.Definitions, parent: int) -> None:
    """Ready a fork: deaf to the terminal's Ctrl-C, which its parent passes on, and watching that parent."""
    global _here
    os.setsid()
    signal.signal(signal.SIGINT, _interrupt)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    # Opened with the first run: by then the parent has made the instance's tables, where they were missing.
    _here = functools.cache(lambda: Here(definitions, dg.DagsterInstance.get()))


def _make(make: Callable[..., Any], *args: Any) -> Any:
    global _is_busy
    _is_busy = True
    try:
        return make(_here(), *args)
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
    """Interrupt this process; where its run has not ended in time, end it all the same."""
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(SECONDS_TO_END)
    os._exit(1)
