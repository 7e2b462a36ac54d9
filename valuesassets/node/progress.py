"""Reports of a running job: its progress, heartbeats of its node, and where it stopped."""

import contextlib
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dagster_pipes import PipesContext

SECONDS_BETWEEN_COUNTS = 1.0
SECONDS_BETWEEN_BEATS = 30.0


class Progress:
    """Prints lines to stdout, and sends them to Dagster if it listens; any thread may use it. `stand` gives the words
    about how far the job came and where a new attempt begins; the stopping thread calls it."""

    def __init__(self, pipes: PipesContext | None = None) -> None:
        self._pipes = pipes
        self._lock = threading.Lock()
        self._last = time.monotonic()
        self.stand: Callable[[], str] = lambda: "with what it has written in its place; a new attempt does the rest"

    def say(self, line: str) -> None:
        """Print one line at once."""
        with self._lock:
            self._say(line)

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """A block in which no thread says anything, so that a fork finds no line half said."""
        with self._lock:
            yield

    def count(self, verb: str, done: int, total: int) -> None:
        """Print a count such as `scored 24/66`, at most once a second and at the end."""
        now = time.monotonic()
        if done == total or now - self._last >= SECONDS_BETWEEN_COUNTS:
            self._last = now
            self.say(f"{verb} {done}/{total}")

    def tell_dagster(self, message: dict[str, Any]) -> None:
        """Send a message to Dagster alone, if it listens."""
        with self._lock:
            if self._pipes:
                self._pipes.report_custom_message(message)

    def say_stopped(self) -> None:
        """Print the last line of a job that SIGTERM stopped, and close the connection to Dagster."""
        stand = self.stand()
        with self._lock:
            self._say(f"stopped by SIGTERM {stand}")
            if self._pipes:
                self._pipes.close()
                self._pipes = None

    def _say(self, line: str) -> None:
        print_line(line)
        if self._pipes:
            self._pipes.log.info(line)


def print_line(line: str) -> None:
    """Print a line in one write: `print` writes the line break separately, and another thread may write in between."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextlib.contextmanager
def heartbeat(send: Callable[[dict[str, Any]], None]) -> Iterator[None]:
    """A block in which `send` gets `{"heartbeat": ...}` at once and every `SECONDS_BETWEEN_BEATS`, but not after it."""
    ended, began = threading.Event(), time.monotonic()

    def beat() -> None:
        while not ended.is_set():
            with contextlib.suppress(OSError):  # a disk that is full now may have room for the next one
                send({"heartbeat": vital_signs(time.monotonic() - began)})
            ended.wait(SECONDS_BETWEEN_BEATS)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def vital_signs(seconds: float) -> dict[str, Any]:
    """Host, seconds since the job began, resident memory, and GPU memory (both GiB; None if no GPU is in use)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "host": socket.gethostname(),
        "seconds": round(seconds, 1),
        "memory_gib": _gib(pages * os.sysconf("SC_PAGE_SIZE")),
        "gpu_memory_gib": _gpu_memory_gib(),
    }


def _gpu_memory_gib() -> float | None:
    # Not imported: the job may not need torch, or be about to load it.
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None or not hasattr(cuda, "memory_reserved") or not cuda.is_initialized():
        return None
    return _gib(sum(cuda.memory_reserved(index) for index in range(cuda.device_count())))


def _gib(n_bytes: int) -> float:
    return round(n_bytes / 2**30, 3)
