"""Waits for what others do in their own time."""

import time
from collections.abc import Callable


def wait_until(
    holds: Callable[[], object], seconds: float = 300, every: float = 0.2, said: Callable[[], object] = str
) -> None:
    """Wait until something holds; where it does not in time, `said` tells what is known of it."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, f"{holds}: not within {seconds} s; {said()}"
        time.sleep(every)
