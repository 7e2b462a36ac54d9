"""Verdicts: how a task ended, according to Slurm's answer and the task's exit file.

A failed command of Slurm is never a state; a task that is not found is unknown, never done.
"""

import math
import re
from dataclasses import dataclass
from enum import StrEnum

from slurm_runner.errors import SlurmError
from slurm_runner.files import read_json, tail
from slurm_runner.script import ATTEMPT, EXIT, NO_MODULE, UNWRITABLE
from slurm_runner.submission import Submission

STOPPED_EARLY = 75
"""Exit status of a command that SIGTERM stopped after it saved its results, so that it can continue (EX_TEMPFAIL)."""
STOP_STATUSES = (STOPPED_EARLY, 128 + 15)
"""Exit statuses of commands that SIGTERM stopped, whether they handled it or not."""


class Ending(StrEnum):
    """How a task ended."""

    DONE = "done"
    FAILED = "failed"
    TIMEOUT = "out of time"
    OUT_OF_MEMORY = "out of memory"
    CANCELLED = "cancelled"
    NODE_LOST = "node lost"
    PREEMPTED = "preempted"
    VANISHED = "vanished"
    STUCK = "can never start"

    @property
    def is_infrastructure(self) -> bool:
        """Whether the cluster is to blame, so that another attempt makes sense."""
        return self in (Ending.NODE_LOST, Ending.PREEMPTED, Ending.VANISHED)


@dataclass(frozen=True)
class Verdict:
    """A task's ending, with the reason and what to do in words."""

    ending: Ending
    reason: str


@dataclass(frozen=True)
class ExitFile:
    """The file that a task's wrapper writes last: the restart, its exit status and its duration in seconds."""

    restart: int
    rc: int
    seconds: int


ENDED = frozenset(
    {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED", "TIMEOUT"}
)
"""Final states; unknown states of a newer Slurm do not count as final."""
NODE_STATES = {"NODE_FAIL": Ending.NODE_LOST, "BOOT_FAIL": Ending.NODE_LOST, "PREEMPTED": Ending.PREEMPTED}

HOPELESS = re.compile(
    r"PartitionTimeLimit|PartitionNodeLimit|DependencyNeverSatisfied|BadConstraints|InvalidAccount|InvalidQOS|"
    r"AccountNotAllowed|QOSNotAllowed|AccountingPolicy|.*WallDurationPerJob.*|.*PerJobLimit|.*PerJob|.*launch.failed.*"
)
"""Reasons for which a task is pending for ever."""
PENDING_ADVICE = {
    "PartitionTimeLimit": "ask for less time than the partition allows (`sinfo -o '%P %l'`)",
    "PartitionNodeLimit": "ask for fewer nodes than the partition allows",
    "WallDuration": "ask for less time than your account or QOS allows",
    "Account": "name an account that may use the partition",
    "QOS": "name a QOS that you may use, or ask for less",
    "launch failed": "see the log of slurmd on the node, then `scontrol release` or submit again",
    "BadConstraints": "ask for what a node of the partition has (`sinfo -Nl`)",
}
NO_LOG = 53
"""Exit status of slurmd if it could not open the log."""
EARLY_SECONDS = 65
"""How much too early Slurm may send the warning of `--signal`."""
OVER_MEMORY = re.compile(r"exceeded (?:job |step )?memory limit|oom[-_ ]kill|out of memory", re.IGNORECASE)


def is_hopeless(reason: str) -> bool:
    """Whether a pending task will never start.

    >>> is_hopeless("PartitionTimeLimit"), is_hopeless("QOSMaxWallDurationPerJobLimit"), is_hopeless("Resources")
    (True, True, False)
    """
    return HOPELESS.fullmatch(reason) is not None


def stuck(reason: str, owner: str | None = None) -> Verdict:
    """The verdict on a task that will never start; `owner` is the user who alone may cancel it, None if it was
    cancelled already."""
    advice = next((what for word, what in PENDING_ADVICE.items() if word in reason), "ask for something else")
    done = "it was cancelled" if owner is None else f"let {owner} cancel it"
    return Verdict(Ending.STUCK, f"Slurm will never start it: {reason}; {advice}; {done}")


def read_exit(submission: Submission, index: int, restarts: int = 0) -> ExitFile | None:
    """The exit file that counts, of a successful attempt or else of the last one; None where there is none. Failures of
    attempts before the last of `restarts` by Slurm are ignored."""
    exit_files = []
    for path in submission.task_folder(index).glob(f"{ATTEMPT}-{submission.job_id or '*'}.*/{EXIT}"):
        try:
            fields = read_json(path) or {}
            exit_file = ExitFile(fields["restart"], fields["rc"], fields["seconds"])
            if fields["uuid"] == submission.uuid and (exit_file.rc == 0 or exit_file.restart >= restarts):
                exit_files.append(exit_file)
        except (SlurmError, TypeError, KeyError):  # damaged, or not yet visible on the shared disk
            continue
    return max(exit_files, key=lambda exit_file: (exit_file.rc == 0, exit_file.restart), default=None)


def judge(
    submission: Submission, index: int, exit_file: ExitFile | None, state: str | None = None, exit_code: int = 0
) -> Verdict:
    """The verdict on a task that has ended.

    Args:
        exit_file: its exit file, or None.
        state: Slurm's state, one of `ENDED`; None where Slurm no longer lists the task, so that the exit file decides.
        exit_code: status x 256 + signal, as from `wait`.
    """
    if state is None and exit_file is not None:
        state, exit_code = "FAILED" if exit_file.rc else "COMPLETED", exit_file.rc << 8
    log = submission.log(index)
    log_end = tail(log, 30)
    status, signal = exit_code >> 8, exit_code & 127
    was_killed = state == "FAILED" and (signal or max(status, exit_file.rc if exit_file else 0) > 128)
    if state == "OUT_OF_MEMORY" or (was_killed and OVER_MEMORY.search(log_end)):
        return Verdict(Ending.OUT_OF_MEMORY, f"it needed more memory than it asked for; ask for more (log: {log})")
    if exit_file is not None and exit_file.rc == 0 and state != "FAILED":
        return Verdict(Ending.DONE, "exit status 0")
    if state in NODE_STATES:
        return Verdict(NODE_STATES[state], f"Slurm says {state} (log: {log})")
    if exit_file is not None and exit_file.rc in STOP_STATUSES and state in ("FAILED", "TIMEOUT", "COMPLETED"):
        limit_seconds = math.inf if submission.minutes is None else submission.minutes * 60
        if state != "TIMEOUT" and exit_file.seconds < limit_seconds - submission.warn_seconds - EARLY_SECONDS:
            return Verdict(Ending.PREEMPTED, f"it was told to stop after {exit_file.seconds} s (log: {log})")
        state = "TIMEOUT"
    if state == "TIMEOUT":
        limit = f" of {submission.minutes} min" if submission.minutes else ""
        return Verdict(Ending.TIMEOUT, f"its time limit{limit} was over; ask for more time (log: {log})")
    if state == "CANCELLED":
        return Verdict(Ending.CANCELLED, f"somebody cancelled the job; materialise again to go on (log: {log})")
    if exit_file is not None and exit_file.rc != 0:
        return Verdict(Ending.FAILED, f"{_why(exit_file.rc)} (log: {log})")
    if state == "COMPLETED":
        return Verdict(Ending.FAILED, f"Slurm says COMPLETED, yet the task left no exit file; see the log: {log}")
    if NO_LOG in (status, signal):
        return Verdict(
            Ending.FAILED,
            f"the node could not open the log {log}; is the folder on a disk that compute nodes share and can write?",
        )
    ended = f"signal {signal}" if signal else _why(status)
    return Verdict(Ending.FAILED, f"Slurm says {state}: {ended} (log: {log})")


def _why(rc: int) -> str:
    if rc == UNWRITABLE:
        return "the node could not write into the task's folder; is it on a shared disk with room?"
    if rc == NO_MODULE:
        return "a module could not be loaded; mend the study's modules"
    if rc == 128 + 9:
        return "it was killed (SIGKILL): too little memory on the node, or a person; ask for more memory"
    return f"exit status {rc}"
