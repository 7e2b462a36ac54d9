"""Lines that say how far a job has come."""

import time
from collections.abc import Callable

SECONDS_BETWEEN = 1.0


class Progress:
    """Prints to stdout, and tells Dagster where it listens."""

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self._tell = tell
        self._last = time.monotonic()

    def say(self, line: str) -> None:
        """One line, at once."""
        print(line, flush=True)
        if self._tell:
            self._tell(line)

    def count(self, verb: str, done: int, total: int) -> None:
        """`scored 24/66`: at most once a second, and at the end."""
        now = time.monotonic()
        if done == total or now - self._last >= SECONDS_BETWEEN:
            self._last = now
            self.say(f"{verb} {done}/{total}")
