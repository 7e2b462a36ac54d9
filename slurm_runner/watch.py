"""All tasks of some submissions, watched with one query to Slurm per tick."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from slurm_runner.commands import CommandFailed, Row, SlurmCommands, ask_array_size, ask_sacct, ask_squeue
from slurm_runner.errors import SlurmError
from slurm_runner.submission import Submission, cancel, submit, user_name
from slurm_runner.verdicts import ENDED, TOLD_TO_STOP, Ending, Verdict, is_hopeless, judge, read_exit, stuck

NOT_SEEN, UNKNOWN = "SUBMITTED", "UNKNOWN"
"""States of ours: nobody has looked yet; Slurm does not show it."""

Key = tuple[str, int]
"""A task: uuid of its submission, index."""


@dataclass(slots=True)
class TaskReport:
    """What is known of a task.

    Attributes:
        state: Slurm's, or ours: `SUBMITTED` before the first look, `UNKNOWN` where Slurm does not show it.
        reason: why it pends, or why nothing is known of it.
        node: where it runs.
        restarts: how often Slurm has started it again.
        exit_code: as `wait` gives it: status x 256 + signal.
        since: when it became as it is, in seconds of the monotonic clock.
        is_hopeless: whether Slurm has said that it will never start.
        was_looked_up: whether the accounting does not show it either.
        verdict: None while it has not ended.
    """

    state: str = NOT_SEEN
    reason: str = ""
    node: str = ""
    restarts: int = 0
    exit_code: int = 0
    since: float = field(default_factory=time.monotonic)
    is_hopeless: bool = False
    was_looked_up: bool = False
    verdict: Verdict | None = None


@dataclass(eq=False)
class Watch:
    """Watches submissions; every `tick` asks Slurm once at most.

    Attributes:
        commands: how Slurm is asked.
        patience_seconds: how long a shared disk may take to show an exit file or a result of a task that has ended.
        unknown_seconds: how long a task may be found nowhere before it counts as vanished.
        poll_seconds: between two ticks.
        attempts: how often a task is submitted that the cluster lost.
        lasts: whether a task outlives the run that asked for it.
        fault: why Slurm could not be asked at the last tick; None where it answered.
    """

    commands: SlurmCommands
    patience_seconds: float = 60.0
    unknown_seconds: float = 300.0
    poll_seconds: float = 5.0
    attempts: int = 3
    lasts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._submissions: dict[str, Submission] = {}
        self._open: dict[Key, TaskReport] = {}
        self._missing: set[Key] = set()
        self._has_accounting, self._answered = True, time.monotonic()
        self.fault: str | None = None

    @cached_property
    def most_tasks(self) -> int:
        """The most that an array of the cluster may have."""
        return ask_array_size(self.commands)

    def submit(self, submission: Submission, say: Callable[[str], None]) -> Submission:
        """The submission with its job id."""
        return submit(submission, self.commands, say)

    def cancel(self, submission: Submission, indices: Iterable[int]) -> None:
        """Cancel tasks."""
        cancel(submission, indices, self.commands)

    def close(self) -> None:
        """Jobs go on without us."""

    def add(self, submission: Submission, indices: Sequence[int] | None = None) -> None:
        """Watch tasks of a submission, all of them where none are named.

        Raises:
            SlurmError: it has no job id: its own job would pass for one made twice.
        """
        if submission.job_id is None:
            raise SlurmError(f"{submission.name}: is not submitted yet; submit it, then watch it")
        self._submissions[submission.uuid] = submission
        for index in range(submission.n_tasks) if indices is None else indices:
            self._open.setdefault((submission.uuid, index), TaskReport())

    def open_reports(self) -> Iterator[tuple[Key, TaskReport]]:
        """The tasks that have not ended."""
        yield from self._open.items()

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

    def _cancel(self, *keys: Key) -> None:
        self.commands.run(["scancel", *(f"{self._submissions[uuid].job_id}_{index}" for uuid, index in keys)])

    def _ask_squeue(self) -> None:
        by_name = {(one := self._submissions[uuid]).name: one for uuid, _ in self._open}
        seen, hopeless, doubles = set[Key](), list[Key](), set[str]()
        for row in ask_squeue(by_name, self.commands):
            submission = by_name[row.name]
            if row.job_id != submission.job_id:
                if row.state not in ENDED:
                    doubles.add(row.job_id)
            elif row.index is not None and (key := (submission.uuid, row.index)) in self._open:
                seen.add(key)
                if self._see(key, row):
                    hopeless.append(key)
        self._missing = self._open.keys() - seen
        for task in map(self._open.__getitem__, self._missing):
            if task.state not in ENDED and task.state != UNKNOWN:
                task.state, task.reason, task.since = UNKNOWN, "", time.monotonic()
        if doubles:  # made twice by a controller that did not say so; where that fails, the next tick tries again
            with contextlib.suppress(CommandFailed):
                self.commands.run(["scancel", *sorted(doubles)])
        if hopeless:
            owners = {key: one.user if (one := self._submissions[key[0]]).is_foreign else None for key in hopeless}
            if own := [key for key in hopeless if owners[key] is None]:
                self._cancel(*own)
            for key, owner in owners.items():
                self._open[key].verdict = stuck(self._open[key].reason, owner)

    def _ask_sacct(self) -> None:
        asked = {(one := self._submissions[uuid]).name: one for uuid, _ in self._missing}
        missing, self._missing = self._missing, set[Key]()
        rows = ask_sacct(asked, min(submission.created for submission in asked.values()), self.commands)
        self._has_accounting = rows is not None
        for row in rows or ():
            submission = asked[row.name]
            if row.index is not None and row.job_id == submission.job_id and row.state in ENDED:
                key = submission.uuid, row.index
                if key in missing:
                    self._see(key, replace(row, restarts=self._open[key].restarts))
        for key in missing:
            self._open[key].was_looked_up = True

    def _see(self, key: Key, row: Row) -> bool:
        """Note what Slurm says of a task; whether it has said twice that it will never start."""
        task = self._open[key]
        if (row.state, row.restarts) != (task.state, task.restarts):
            task.since = time.monotonic()
        was_hopeless, task.is_hopeless = task.is_hopeless, row.state not in ENDED and is_hopeless(row.reason)
        task.state, task.reason, task.node, task.restarts = row.state, row.reason, row.node, row.restarts
        task.exit_code, task.was_looked_up = row.exit_code, False
        return was_hopeless and task.is_hopeless

    def _ended(self) -> dict[Key, TaskReport]:
        is_deaf = time.monotonic() - self._answered >= self.unknown_seconds
        for key, task in self._open.items():
            task.verdict = task.verdict or self._judge(key, task, is_deaf)
        ended = {key: task for key, task in self._open.items() if task.verdict}
        self._open = {key: task for key, task in self._open.items() if not task.verdict}
        self._missing -= ended.keys()
        return ended

    def _judge(self, key: Key, task: TaskReport, is_deaf: bool) -> Verdict | None:
        """The verdict on a task; None where it has not ended or is not known.

        Args:
            is_deaf: whether Slurm has not answered for longer than we are patient.
        """
        submission, index, seconds = self._submissions[key[0]], key[1], time.monotonic() - task.since
        if task.state == UNKNOWN:
            is_patience_over = seconds >= self.unknown_seconds
            # An exit file counts once the accounting has no other word, or cannot be asked.
            if not (task.was_looked_up or not self._has_accounting or is_patience_over or self.fault is not None):
                return None  # the next tick asks the accounting
            left = read_exit(submission, index, task.restarts)
            if left is not None:
                return judge(submission, index, left)
            if not is_patience_over or self.fault is not None:
                return None
            if submission.is_foreign:
                user, task.node = submission.user, ""
                task.reason = (
                    f"found nowhere, and jobs of {user} may be hidden from {user_name()}; it has ended when its exit "
                    f"file shows; where `squeue` shows {user} no such job, cancel this run, remove {submission.folder} "
                    "and materialise again"
                )
                return None
            return Verdict(
                Ending.VANISHED, f"Slurm has not known the job for {seconds:.0f} s, and it left no exit file"
            )
        if task.state not in ENDED:
            if not (task.restarts or is_deaf):
                return None
            # The node was lost with the work done, and Slurm has it done again; or Slurm itself is lost.
            left = read_exit(submission, index, task.restarts)
            if left is None or left.rc != 0 or not (is_deaf or left.restart < task.restarts):
                return None
            if not is_deaf and not submission.is_foreign:
                try:
                    self._cancel(key)
                except CommandFailed as error:
                    self.fault = str(error)
                    return None
            return Verdict(Ending.DONE, "exit status 0")
        left = read_exit(submission, index, task.restarts)
        # By what Slurm says it has left an exit file, and the verdict hangs on that.
        is_due = task.state == "COMPLETED" or (task.state == "FAILED" and task.exit_code >> 8 in TOLD_TO_STOP)
        if left is None and is_due and seconds < self.patience_seconds:
            return None
        return judge(submission, index, left, task.state, task.exit_code)
