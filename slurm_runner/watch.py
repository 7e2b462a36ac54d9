"""All tasks of some submissions, watched with one query to Slurm per tick."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from slurm_runner.commands import CommandFailed, SlurmCommands
from slurm_runner.submission import Submission, days_since
from slurm_runner.verdicts import (
    ACTIVE,
    Ending,
    Verdict,
    is_hopeless,
    judge,
    judge_by_exit_file,
    read_exit,
    stuck,
)

FIELDS = "Name:|,ArrayJobID:|,ArrayTaskID:|,State:|,Reason:|,RestartCnt:|,exit_code:|,NodeList:|"
EXIT_FILE_SECONDS = 60.0
"""How long a shared disk may take to show an exit file of a task that Slurm says is done."""
UNKNOWN_SECONDS = 300.0
"""How long a task may be found nowhere before it counts as vanished."""

Key = tuple[str, int]
"""A task: uuid of its submission, index."""


@dataclass(frozen=True, slots=True)
class TaskReport:
    """What is known of a task.

    Attributes:
        state: Slurm's; `UNKNOWN` where Slurm does not show it.
        reason: why it pends.
        node: where it runs.
        restarts: how often Slurm has started it again.
        verdict: None while it has not ended.
    """

    state: str = "UNKNOWN"
    reason: str = ""
    node: str = ""
    restarts: int = 0
    verdict: Verdict | None = None


@dataclass(slots=True)
class _Open:
    """A task that has not ended: since when it has been as it is, in seconds of the monotonic clock."""

    report: TaskReport
    exit_code: int = 0
    since: float = 0.0
    is_hopeless: bool = False


class Watch:
    """Watches submissions; every `tick` asks Slurm once at most.

    Attributes:
        fault: why Slurm could not be asked at the last tick; None where it answered.

    Args:
        exit_file_seconds, unknown_seconds: patience with a shared disk, and with a task found nowhere.
    """

    def __init__(
        self,
        commands: SlurmCommands,
        exit_file_seconds: float = EXIT_FILE_SECONDS,
        unknown_seconds: float = UNKNOWN_SECONDS,
    ) -> None:
        self._commands = commands
        self._exit_file_seconds, self._unknown_seconds = exit_file_seconds, unknown_seconds
        self._submissions: dict[str, Submission] = {}
        self._open: dict[Key, _Open] = {}
        self._missing: set[Key] = set()
        self._has_accounting = True
        self._answered = time.monotonic()
        self.fault: str | None = None

    def add(self, submission: Submission, indices: Sequence[int] | None = None) -> None:
        """Watch tasks of a submission, all of them where none are named."""
        self._submissions[submission.uuid] = submission
        now = time.monotonic()
        for index in range(submission.n_tasks) if indices is None else indices:
            self._open.setdefault((submission.uuid, index), _Open(TaskReport(), since=now))

    def __len__(self) -> int:
        """How many tasks have not ended."""
        return len(self._open)

    def open_reports(self) -> Iterator[tuple[Key, TaskReport]]:
        """The tasks that have not ended."""
        return ((key, task.report) for key, task in self._open.items())

    def tick(self) -> dict[Key, TaskReport]:
        """The tasks that have ended since the last tick: after one query to Slurm, and a look at exit files."""
        if not self._open:
            return {}
        try:
            if self._missing and self._has_accounting:
                self._ask_sacct()
            else:
                self._ask_squeue()
            self.fault, self._answered = None, time.monotonic()
        except CommandFailed as error:
            self.fault = str(error)
        return self._ended()

    def cancel(self, key: Key) -> None:
        """Cancel a task.

        Raises:
            CommandFailed: Slurm could not be asked.
        """
        uuid, index = key
        job_id = self._submissions[uuid].job_id
        if job_id is not None:
            self._commands.run(["scancel", f"{job_id}_{index}"])

    def _ask_squeue(self) -> None:
        names = ",".join(sorted({self._submissions[uuid].name for uuid, _ in self._open}))
        listed = self._commands.run(["squeue", "--me", "-h", "-r", "-t", "all", "-n", names, "-O", FIELDS])
        by_name = {submission.name: submission for submission in self._submissions.values()}
        seen: set[Key] = set()
        for line in listed.splitlines():
            name, job_id, index, state, reason, restarts, exit_code, node, *_ = line.split("|")
            submission = by_name.get(name)
            if submission is None:
                continue
            if job_id != submission.job_id:
                self._commands.run(["scancel", job_id])  # made twice by a controller that did not say so
                continue
            key = (submission.uuid, int(index))
            seen.add(key)
            if key in self._open:
                self._see(key, TaskReport(state, reason, node, int(restarts)), int(exit_code))
        self._missing = set()
        for key, task in self._open.items():
            if key not in seen:
                self._missing.add(key)
                if task.report.state in ACTIVE:
                    self._see(key, replace(task.report, state="UNKNOWN"), 0)

    def _ask_sacct(self) -> None:
        asked = {uuid: self._submissions[uuid] for uuid, _ in self._missing}
        names = ",".join(submission.name for submission in asked.values())
        since = days_since(min(asked.values(), key=lambda submission: submission.created))
        self._missing, missing = set(), self._missing
        command = [
            "sacct",
            "-X",
            "-P",
            "-n",
            "-S",
            since,
            f"--name={names}",
            "-o",
            "JobName,JobID,State,ExitCode,NodeList",
        ]
        try:
            listed = self._commands.run(command)
        except CommandFailed as error:
            if error.is_unreachable:
                raise
            self._has_accounting = False  # "accounting storage is disabled"
            return
        by_name = {submission.name: submission for submission in asked.values()}
        for line in listed.splitlines():
            name, job, state, exit_code, node = line.split("|")
            job_id, _, index = job.partition("_")
            submission = by_name.get(name)
            if submission is None or job_id != submission.job_id or not index.isdigit():
                continue
            key, state = (submission.uuid, int(index)), state.split()[0]
            if key in missing and state not in ACTIVE:
                status, _, signal = exit_code.partition(":")
                self._see(key, TaskReport(state, "", node), int(status) << 8 | int(signal))

    def _see(self, key: Key, report: TaskReport, exit_code: int) -> None:
        task = self._open[key]
        if (report.state, report.restarts) != (task.report.state, task.report.restarts):
            task.since = time.monotonic()
        was_hopeless, task.is_hopeless = task.is_hopeless, report.state == "PENDING" and is_hopeless(report.reason)
        task.report, task.exit_code = report, exit_code
        if was_hopeless and task.is_hopeless:
            self.cancel(key)
            task.report = replace(report, verdict=stuck(report.reason))

    def _ended(self) -> dict[Key, TaskReport]:
        now = time.monotonic()
        is_deaf = now - self._answered >= self._unknown_seconds
        ended: dict[Key, TaskReport] = {}
        for key, task in self._open.items():
            verdict = task.report.verdict or self._judge(key, task, now - task.since, is_deaf)
            if verdict is not None:
                ended[key] = replace(task.report, verdict=verdict)
        for key in ended:
            del self._open[key]
        self._missing -= ended.keys()
        return ended

    def _judge(self, key: Key, task: _Open, seconds: float, is_deaf: bool) -> Verdict | None:
        """The verdict on a task that has been as it is for so long; None where it has not ended or is not known.

        Args:
            is_deaf: whether Slurm has not answered for longer than we are patient.
        """
        submission, index, report = self._submissions[key[0]], key[1], task.report
        if report.state in ACTIVE:
            if not (report.restarts or is_deaf):
                return None
            # The node was lost with the work done, and Slurm has it done again; or Slurm itself is lost.
            left = read_exit(submission, index)
            if left is None or left.rc != 0 or not (is_deaf or left.restart < report.restarts):
                return None
            return Verdict(Ending.DONE, "exit status 0") if is_deaf or self._could_cancel(key) else None
        if report.state == "UNKNOWN":
            is_asked_for = key in self._missing and self._has_accounting  # the next tick asks the accounting
            if (self.fault is not None and not is_deaf) or (self.fault is None and is_asked_for):
                return None
            left = read_exit(submission, index)
            if left is not None:
                return judge_by_exit_file(submission, index, left)
            if seconds < self._unknown_seconds or self.fault is not None:
                return None
            return Verdict(
                Ending.VANISHED, f"Slurm has not known the job for {seconds:.0f} s, and it left no exit file"
            )
        left = read_exit(submission, index)
        if report.state == "COMPLETED" and left is None and seconds < self._exit_file_seconds:
            return None
        return judge(submission, index, report.state, task.exit_code, left)

    def _could_cancel(self, key: Key) -> bool:
        try:
            self.cancel(key)
        except CommandFailed as error:
            self.fault = str(error)
            return False
        return True
