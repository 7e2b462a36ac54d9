"""`Pace`: limits the rate of requests over all threads that send them."""

import threading
import time
from collections.abc import Callable

MINUTE_S = 60.0


class Pace:
    """Gives turns to send, spread over a minute (None: no limit), and none while a server has asked to wait."""

    def __init__(
        self,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._requests, self._tokens, self._clock = requests_per_minute, tokens_per_minute, clock
        self._next, self._holding = 0.0, 0
        self._change = threading.Condition()

    def wait_for_turn(self, tokens: int, pause: Callable[[float], None]) -> None:
        """Wait until a request with this many tokens may be sent; `pause` waits for a number of seconds."""
        with self._change:
            now = self._clock()
            turn = max(now, self._next)
            shares = [1 / self._requests if self._requests else 0.0, tokens / self._tokens if self._tokens else 0.0]
            self._next = turn + MINUTE_S * max(shares)
        if turn > now:
            pause(turn - now)
        with self._change:
            self._change.wait_for(lambda: not self._holding)

    def hold(self, seconds: float, pause: Callable[[float], None]) -> None:
        """Wait, and let no thread send meanwhile."""
        with self._change:
            self._holding += 1
        try:
            pause(seconds)
        finally:
            with self._change:
                self._holding -= 1
                self._change.notify_all()
