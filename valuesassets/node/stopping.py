"""Ends a job at once on SIGTERM (a time limit, a preemption, `scancel`), after any write that has begun."""

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
"""Most seconds to wait for unfinished writes and worker processes, since a disk may hang."""


@contextlib.contextmanager
def stops_at_term(last_words: Callable[[], None]) -> Iterator[None]:
    """A block in which SIGTERM ends this process and its workers with `EXIT_INTERRUPTED`, whatever they compute.

    A thread waits for the signal. A signal handler in Python would only run after the main thread's call into torch
    returns, and an exception would wait for the threads that load weights.

    Args:
        last_words: called by that thread when no file is half written and no further write can begin.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    wakeup_before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    thread = threading.Thread(target=_wait_for_term, args=(reader, last_words), daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.set_wakeup_fd(wakeup_before)
        os.close(writer)
        thread.join()  # does not return after SIGTERM: any error since then is its consequence
        os.close(reader)
        signal.signal(signal.SIGTERM, before)


def _wait_for_term(reader: int, last_words: Callable[[], None]) -> None:
    while signals := os.read(reader, 1):  # one byte per signal, until the other end is closed
        if signals[0] == signal.SIGTERM:
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
    """End the workers; a process that shares resources with them frees these in a block that is `unbroken`."""
    while True:  # until this process ends, since a worker may just be starting
        for worker in active_children():
            worker.terminate()
        time.sleep(0.1)
