"""Requests to a model behind an API that answers after a while: how long many of them take, so many at a time."""

import os
import time

from valuesassets.remote.asking import RemoteAsking
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry
from valuesassets_tests.remote.loopback_openai import CHAT, KEY, MODEL, LoopbackOpenAi
from valuesassets_tests.remote.remote_trials import asked

WANTED = {"remote_400_of_200_ms": (400, 0.2, 16, 7.5), "remote_400_of_50_ms": (400, 0.05, 8, 3.5)}
"""Requests, seconds that each takes the server, how many at a time, and seconds wanted for all."""


def measure(tell: Tell, share: float = 1.0) -> Entries:
    """Seconds for all requests, the client's first import of the SDK left out; a share of them is asked."""
    os.environ["BENCH_KEY"] = KEY
    found = {}
    for name, (requests, wait_s, concurrency, wanted) in WANTED.items():
        tell(f"remote: {requests} requests of {1000 * wait_s:.0f} ms, {concurrency} at a time")
        number = round(requests * share)
        seconds = [_seconds(number, wait_s, concurrency) for _ in range(2)]
        found[name] = entry(seconds[1:], "s", wanted=f"<= {wanted}", ideal=number * wait_s / concurrency)
    return found


def _seconds(requests: int, wait_s: float, concurrency: int) -> float:
    server = LoopbackOpenAi(wait_s=wait_s)
    with server.serving():
        endpoint = server.endpoint(key_env="BENCH_KEY", concurrency=concurrency)
        trials = [asked(f"question {number}", f"q{number}") for number in range(requests)]
        asking = RemoteAsking(MODEL, endpoint, CHAT, trials)
        begun = time.perf_counter()
        asking.ask(asking.connect(None))
        return time.perf_counter() - begun
