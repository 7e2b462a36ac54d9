"""What became of a task: from what Slurm says of it and the exit file that it left, to one ending.

A command that fails is never a state; a task that is not found is unknown, never done.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from slurm_runner.files import read_json, tail
from slurm_runner.script import EXIT, NO_MODULE, UNWRITABLE
from slurm_runner.submission import Submission

STOPPED_EARLY = 75
"""Exit status of a command that was told to stop (SIGTERM), has saved what it had and can go on (EX_TEMPFAIL)."""


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
    """A task's ending and, in words, what was found and what to do."""

    ending: Ending
    reason: str


@dataclass(frozen=True)
class ExitFile:
    """What a task's wrapper wrote last: the attempt, its exit status and how long it ran (seconds)."""

    restart: int
    rc: int
    seconds: int
    node: str


STARTING = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED"}
ACTIVE = STARTING | {
    "RUNNING",
    "COMPLETING",
    "SUSPENDED",
    "RESIZING",
    "STAGE_OUT",
    "SIGNALING",
    "SPECIAL_EXIT",
    "STOPPED",
}
"""States after which another one comes."""
NODE_STATES = {"NODE_FAIL": Ending.NODE_LOST, "BOOT_FAIL": Ending.NODE_LOST, "PREEMPTED": Ending.PREEMPTED}

HOPELESS = re.compile(
    r"PartitionTimeLimit|PartitionNodeLimit|DependencyNeverSatisfied|BadConstraints|InvalidAccount|InvalidQOS|"
    r"AccountNotAllowed|QOSNotAllowed|AccountingPolicy|.*WallDurationPerJob.*|.*PerJobLimit|.*PerJob|.*launch failed.*"
)
"""Reasons for which a task pends for ever."""
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
"""Exit status that slurmd gives where it could not open the log."""
EARLY_SECONDS = 65
"""How much before its time Slurm may send the warning of `--signal`."""
OVER_MEMORY = re.compile(r"exceeded (?:job |step )?memory limit|oom[-_ ]kill|out of memory", re.IGNORECASE)


def is_hopeless(reason: str) -> bool:
    """Whether a pending task will never start.

    >>> is_hopeless("PartitionTimeLimit"), is_hopeless("QOSMaxWallDurationPerJobLimit"), is_hopeless("Resources")
    (True, True, False)
    """
    return HOPELESS.fullmatch(reason) is not None


def stuck(reason: str) -> Verdict:
    """The verdict on a task that will never start."""
    advice = next((what for word, what in PENDING_ADVICE.items() if word in reason), "ask for something else")
    return Verdict(Ending.STUCK, f"Slurm will never start it: {reason}; {advice}; it was cancelled")


def read_exit(submission: Submission, index: int) -> ExitFile | None:
    """The exit file of the newest attempt that left one; None where there is none or it is of another submission."""
    found = []
    for path in submission.task_folder(index).glob(f"attempt-*/{EXIT}"):
        written = read_json(path)
        if isinstance(written, dict) and written.get("uuid") == submission.uuid:
            found.append(ExitFile(written["restart"], written["rc"], written["seconds"], written["node"]))
    return max(found, key=lambda exit_file: (exit_file.rc == 0, exit_file.restart), default=None)


def judge(submission: Submission, index: int, state: str, exit_code: int, left: ExitFile | None) -> Verdict:
    """The verdict on a task that Slurm says has ended.

    Args:
        state: Slurm's, without what stands after a blank (`CANCELLED by 0`).
        exit_code: as `wait` gives it: status x 256 + signal.
        left: its exit file.
    """
    log = submission.log(index)
    last = tail(log, 30)
    status, signal = exit_code >> 8, exit_code & 127
    if state == "OUT_OF_MEMORY" or (state == "FAILED" and (signal or status > 128) and OVER_MEMORY.search(last)):
        return Verdict(Ending.OUT_OF_MEMORY, f"it needed more memory than it asked for; ask for more (log: {log})")
    if left is not None and left.rc == 0 and state != "FAILED":
        return Verdict(Ending.DONE, "exit status 0")
    if state in NODE_STATES:
        return Verdict(NODE_STATES[state], f"Slurm says {state} (log: {log})")
    if left is not None and left.rc == STOPPED_EARLY and state in ("FAILED", "TIMEOUT", "COMPLETED"):
        if state != "TIMEOUT" and not _is_near_limit(submission, left.seconds):
            return Verdict(Ending.PREEMPTED, f"it was told to stop after {left.seconds} s (log: {log})")
        state = "TIMEOUT"
    if state == "TIMEOUT":
        limit = f" of {submission.minutes} min" if submission.minutes else ""
        return Verdict(Ending.TIMEOUT, f"its time limit{limit} was over; ask for more time (log: {log})")
    if state == "CANCELLED":
        return Verdict(Ending.CANCELLED, f"somebody cancelled the job; materialise again to go on (log: {log})")
    if left is not None and left.rc != 0:
        return Verdict(Ending.FAILED, f"{_why(left.rc)} (log: {log})")
    if state == "COMPLETED":
        return Verdict(Ending.FAILED, f"Slurm says COMPLETED, yet the task left no exit file; see the log: {log}")
    if NO_LOG in (status, signal):
        return Verdict(
            Ending.FAILED,
            f"the node could not open the log {log}; is the folder on a disk that compute nodes share and can write?",
        )
    ended = f"signal {signal}" if signal else f"exit status {status}"
    return Verdict(Ending.FAILED, f"Slurm says {state} ({ended}) (log: {log})")


def _is_near_limit(submission: Submission, seconds: int) -> bool:
    """Whether a task that was told to stop was told so for its time limit: Slurm may be a minute early."""
    limit = submission.minutes
    return limit is not None and seconds >= limit * 60 - submission.warn_seconds - EARLY_SECONDS


def judge_by_exit_file(submission: Submission, index: int, left: ExitFile) -> Verdict:
    """The verdict on a task of which Slurm knows nothing any more."""
    return judge(submission, index, "COMPLETED" if left.rc == 0 else "FAILED", left.rc << 8, left)


def _why(rc: int) -> str:
    if rc == UNWRITABLE:
        return "the node could not write into the task's folder; is it on a shared disk with room?"
    if rc == NO_MODULE:
        return "a module could not be loaded; mend the study's modules"
    if rc == 128 + 9:
        return "it was killed (SIGKILL): too little memory on the node, or a person; ask for more memory"
    return f"exit status {rc}"
