"""CPU time of the processes of an instance, told from others by their environment: whoever started them."""

import os
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

TICKS = os.sysconf("SC_CLK_TCK")
EVERY_SECONDS = 0.1
YOUNG_SECONDS = 3
"""So long a process may still be its parent's image, which has not begun its own program."""
KINDS = {
    "node": ("valuesassets.node",),
    "webserver": ("webserver",),
    "daemon": ("daemon",),
    "code server": ("api grpc", "code-server"),
    "warm": ("multiprocessing.forkserver",),
    "run": ("multiprocessing.spawn",),
    "tracker": ("resource_tracker",),
}
"""What a process is for, by a part of its command line; the first that fits."""
OTHERS = "supervisor"

Identity = tuple[int, int]
"""A process of this boot: its pid, and when it began in clock ticks since the boot."""


@dataclass
class Seen:
    """A process as it was seen last; a forked run is of its server's kind.

    Attributes:
        parent: the pid of whoever started it, or has taken it over.
        own: its CPU time in seconds.
        waited: that of its children which have ended, and of theirs.
        is_alive: whether it was there when all were looked at last.
    """

    kind: str
    parent: int
    own: float = 0.0
    waited: float = 0.0
    is_alive: bool = True


class Processes:
    """Looks at all processes with a variable in their environment, ten times a second while in a `with` block.

    Attributes:
        history: `totals` at each look, with the time of the day.
    """

    def __init__(self, environment: Mapping[str, str], variable: str = "VALUESASSETS_DAGSTER") -> None:
        self._mark = f"{variable}={environment[variable]}".encode()
        self._foreign: set[Identity] = set()
        self._seen: dict[Identity, Seen] = {}
        self.history: list[tuple[float, dict[str, float]]] = []
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def look(self) -> dict[Identity, Seen]:
        """All of them as they are now; those that have ended as they were seen last."""
        with self._lock:
            here = set()
            for name in os.listdir("/proc"):
                if name.isdigit() and int(name) != os.getpid():
                    # What ends while it is looked at has been looked at before.
                    with suppress(OSError, IndexError):
                        here.add(self._look_at(Path("/proc", name)))
            for identity, process in self._seen.items():
                process.is_alive = identity in here
            return {identity: replace(process) for identity, process in self._seen.items()}

    def totals_at(self, moment: float) -> dict[str, float]:
        """`totals` as they were at a time of the day; where nothing was seen before it, none."""
        return next((found for then, found in reversed(self.history) if then <= moment), {})

    def _watch(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            self.history.append((time.time(), totals(self.look())))

    def _look_at(self, folder: Path) -> Identity:
        """A process, noted where it is one of ours."""
        fields = (folder / "stat").read_text().rpartition(")")[2].split()  # proc(5), from the third on
        identity = (int(folder.name), int(fields[19]))
        if identity in self._foreign or fields[0] in "ZX":
            return identity if identity in self._seen and fields[0] == "Z" else (0, 0)
        is_young = time.clock_gettime(time.CLOCK_BOOTTIME) - identity[1] / TICKS < YOUNG_SECONDS
        if is_young or identity not in self._seen:
            if self._mark not in (folder / "environ").read_bytes().split(b"\0"):
                if not is_young:
                    self._foreign.add(identity)
                return (0, 0)
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            self._seen.setdefault(identity, Seen(OTHERS, int(fields[1]))).kind = _kind(command)
        process = self._seen[identity]
        process.own, process.waited = (sum(map(int, fields[at : at + 2])) / TICKS for at in (11, 13))
        return identity


def _kind(command: str) -> str:
    return next((kind for kind, parts in KINDS.items() if any(part in command for part in parts)), OTHERS)


def totals(seen: Mapping[Identity, Seen]) -> dict[str, float]:
    """Seconds of CPU time by kind of those that live; `ended`: of all under them that have ended.

    Nothing is counted twice, and nothing is lost but what ended without a parent that waited.
    """
    found: dict[str, float] = {"ended": 0.0}
    for process in seen.values():
        if process.is_alive:
            found[process.kind] = found.get(process.kind, 0.0) + process.own
            found["ended"] += process.waited
    return found
