"""SIGTERM (a time limit, a preemption, `scancel`) ends a job at once; a write in hand is ended first, none is begun."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import active_children

from valuesassets.records.files import nothing_unbroken
from valuesassets.records.jobs import EXIT_INTERRUPTED

GRACE_S = 10.0
"""Most seconds that a write in hand and the end of worker processes are waited for, as where a disk hangs."""


@contextlib.contextmanager
def stops_at_term(last_words: Callable[[], None]) -> Iterator[None]:
    """A block in which SIGTERM ends this process and its workers with `EXIT_INTERRUPTED`, whatever they compute.

    A thread does it. A handler in Python waits until the main thread's call into torch has come back, and an exception
    would wait for the threads that load weights.

    Args:
        last_words: called by that thread when no file is half written, and none will be.
    """
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    wakeup_before = signal.set_wakeup_fd(tell, warn_on_full_buffer=False)
    thread = threading.Thread(target=_wait_for_term, args=(told, last_words), daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.set_wakeup_fd(wakeup_before)
        os.close(tell)
        thread.join()  # does not return where SIGTERM has come: what was raised meanwhile is its consequence
        os.close(told)
        signal.signal(signal.SIGTERM, before)


def _wait_for_term(told: int, last_words: Callable[[], None]) -> None:
    while sent := os.read(told, 1):  # a byte per signal, until the other end is closed
        if sent[0] == signal.SIGTERM:
            _end(last_words)


def _end(last_words: Callable[[], None]) -> None:
    limit = threading.Timer(GRACE_S, os._exit, [EXIT_INTERRUPTED])
    limit.daemon = True
    limit.start()
    threading.Thread(target=_end_workers, daemon=True).start()
    with nothing_unbroken():
        try:
            last_words()
        finally:
            os._exit(EXIT_INTERRUPTED)


def _end_workers() -> None:
    """Who shares something with its workers puts it away once they have ended, in a block that is `unbroken`."""
    while True:  # until this process has ended: one may be starting just now
        for worker in active_children():
            worker.terminate()
        time.sleep(0.1)
