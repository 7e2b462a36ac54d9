"""Identifies the process of a run, across machines, containers and restarts."""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

RUN_PROCESS_TAG = ".dagster/valuesassets_run_process"
"""The UI hides tags with this beginning. A retried run copies the tag, so that its value names the run."""


@dataclass(frozen=True)
class RunProcess:
    """One process of one boot of one machine."""

    run_id: str
    host: str
    machine: str  # from /etc/machine-id, "" if missing; cluster nodes with one image share it
    boot: str
    pid_namespace: str
    pid: int
    started: int  # in clock ticks since the boot, a clock that is never set

    @classmethod
    def find(cls, run_id: str, pid: int) -> Self | None:
        """The process with this pid now; None where there is none or no /proc."""
        try:
            return cls(run_id, *_place(), pid, _start_ticks(pid))
        except OSError:
            return None

    @classmethod
    def of_run(cls, run_id: str, tags: Mapping[str, str]) -> Self | None:
        """The process in a run's tag; None where there is no tag, or one copied from the run that this one retries."""
        with suppress(KeyError, TypeError, ValueError):
            process = cls(**json.loads(tags[RUN_PROCESS_TAG]))
            return process if process.run_id == run_id else None
        return None

    def tags(self) -> dict[str, str]:
        """The tag that `of_run` reads."""
        return {RUN_PROCESS_TAG: json.dumps(asdict(self))}

    def why_gone(self) -> str | None:
        """Why the process is certainly gone; None where it lives, or where this process cannot know."""
        try:
            host, machine, boot, pid_namespace = _place()
        except OSError:
            return None
        if (self.host, self.machine) != (host, machine):
            return None
        if self.boot != boot:
            return f"process {self.pid} ended when {self.host} was restarted" if self.machine else None
        if self.pid_namespace != pid_namespace:
            return None
        try:
            with suppress(PermissionError):  # another user's process, perhaps hidden in /proc
                os.kill(self.pid, 0)
            if _start_ticks(self.pid) == self.started:
                return None
        except ProcessLookupError:
            pass
        except OSError:
            return None
        return f"process {self.pid} on {self.host} is gone"

    def interrupt(self) -> bool:
        """Send SIGINT, as Dagster's code server does to cancel a run; False where the process cannot be seen."""
        with suppress(OSError):
            if RunProcess.find(self.run_id, self.pid) == self:
                os.kill(self.pid, signal.SIGINT)
                return True
        return False


def ticks_since_boot() -> int:
    """The time of the clock of `RunProcess.started`; 0 where the system has none."""
    if sys.platform != "linux":
        return 0
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def _place() -> tuple[str, str, str, str]:
    if os.readlink("/proc/self") != str(os.getpid()):
        raise FileNotFoundError("/proc counts the processes of another pid namespace")
    machine = Path("/etc/machine-id")
    return (
        socket.gethostname(),
        machine.read_text().strip() if machine.exists() else "",
        Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        os.readlink("/proc/self/ns/pid"),
    )


def _start_ticks(pid: int) -> int:
    """Start of a process, in clock ticks since the boot (proc(5), fields 3 and 22 of `stat`).

    Raises:
        ProcessLookupError: it has ended and is a zombie.
        OSError: there is no such process, or it is hidden.
    """
    state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    if state in "ZX":
        raise ProcessLookupError(pid)
    return int(fields[18])
