"""Watches all tasks of several submissions with one query to Slurm per tick."""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

from slurm_runner.commands import CommandFailed, Row, SlurmCommands, ask_array_size, ask_sacct, ask_squeue
from slurm_runner.errors import SlurmError
from slurm_runner.submission import Submission, cancel, submit, user_name
from slurm_runner.verdicts import ENDED, STOP_STATUSES, Ending, Verdict, is_hopeless, judge, read_exit, stuck

NOT_SEEN, UNKNOWN = "SUBMITTED", "UNKNOWN"
"""Our own states: before the first query, and for tasks that Slurm does not list."""

Key = tuple[str, int]
"""A task: the uuid of its submission, and its index."""


@dataclass(slots=True)
class TaskReport:
    """The state of a task.

    Attributes:
        state: Slurm's state, or `SUBMITTED` before the first query, or `UNKNOWN` where Slurm does not list the task.
        reason: why it is pending, or why its state is unknown.
        node: the node that it runs on.
        restarts: how often Slurm has restarted it.
        exit_code: status x 256 + signal, as from `wait`.
        since: time of the last change of state, in seconds of the monotonic clock.
        is_hopeless: whether, according to Slurm, it will never start.
        was_looked_up: whether the accounting does not list it either.
        verdict: how it ended; None before.
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
    """Watches submissions; every `tick` queries Slurm at most once.

    Attributes:
        commands: runs Slurm's commands.
        patience_seconds: longest time until a shared disk shows the exit file or result of an ended task.
        unknown_seconds: time after which a task that is found nowhere counts as vanished.
        poll_seconds: time between two ticks.
        attempts: most submissions of a task that the cluster loses.
        lasts: whether a task outlives its run; jobs on Slurm do.
        fault: why Slurm did not answer at the last tick; None where it answered.
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
        """Most tasks in an array of the cluster."""
        return ask_array_size(self.commands)

    def submit(self, submission: Submission, say: Callable[[str], None]) -> Submission:
        """Submit, and return the submission with its job id."""
        return submit(submission, self.commands, say)

    def cancel(self, submission: Submission, indices: Iterable[int]) -> None:
        """Cancel tasks."""
        cancel(submission, indices, self.commands)

    def close(self) -> None:
        """Do nothing: jobs go on without this process."""

    def add(self, submission: Submission, indices: Sequence[int] | None = None) -> None:
        """Watch tasks of a submission, all of them if no indices are given; SlurmError where it has no job id, so that
        its own job would look like a duplicate."""
        if submission.job_id is None:
            raise SlurmError(f"{submission.name}: is not submitted yet; submit it, then watch it")
        self._submissions[submission.uuid] = submission
        for index in range(submission.n_tasks) if indices is None else indices:
            self._open.setdefault((submission.uuid, index), TaskReport())

    def open_reports(self) -> Iterator[tuple[Key, TaskReport]]:
        """The tasks that have not ended."""
        yield from self._open.items()

    def tick(self) -> dict[Key, TaskReport]:
        """The tasks that have ended since the last tick, after one query to Slurm and a look at exit files."""
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

    def _submissions_by_name(self, keys: Iterable[Key]) -> dict[str, Submission]:
        submissions = (self._submissions[uuid] for uuid, _ in keys)
        return {submission.name: submission for submission in submissions}

    def _foreign_owner(self, key: Key) -> str | None:
        submission = self._submissions[key[0]]
        return submission.user if submission.is_foreign else None

    def _ask_squeue(self) -> None:
        by_name = self._submissions_by_name(self._open)
        keys_seen, hopeless, doubles = set[Key](), list[Key](), set[str]()
        for row in ask_squeue(by_name, self.commands):
            submission = by_name[row.name]
            if row.job_id != submission.job_id:
                if row.state not in ENDED:
                    doubles.add(row.job_id)
            elif row.index is not None and (key := (submission.uuid, row.index)) in self._open:
                keys_seen.add(key)
                if self._update(key, row):
                    hopeless.append(key)
        self._missing = self._open.keys() - keys_seen
        for task in map(self._open.__getitem__, self._missing):
            if task.state not in ENDED and task.state != UNKNOWN:
                task.state, task.reason, task.since = UNKNOWN, "", time.monotonic()
        if doubles:  # duplicates by an unconfirmed submission; if this fails, the next tick tries again
            with contextlib.suppress(CommandFailed):
                self.commands.run(["scancel", *sorted(doubles)])
        if hopeless:
            owners = {key: self._foreign_owner(key) for key in hopeless}
            if ours := [key for key in hopeless if owners[key] is None]:
                self._cancel(*ours)
            for key, owner in owners.items():
                self._open[key].verdict = stuck(self._open[key].reason, owner)

    def _ask_sacct(self) -> None:
        by_name = self._submissions_by_name(self._missing)
        missing, self._missing = self._missing, set[Key]()
        rows = ask_sacct(by_name, min(submission.created for submission in by_name.values()), self.commands)
        self._has_accounting = rows is not None
        for row in rows or ():
            submission = by_name[row.name]
            if row.index is not None and row.job_id == submission.job_id and row.state in ENDED:
                key = submission.uuid, row.index
                if key in missing:
                    self._update(key, replace(row, restarts=self._open[key].restarts))
        for key in missing:
            self._open[key].was_looked_up = True

    def _update(self, key: Key, row: Row) -> bool:
        """Update a task from Slurm's row; return whether Slurm has reported twice that it will never start."""
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
        """The verdict on a task; None where it has not ended or its state is unknown. `is_deaf` says that Slurm has not
        answered for `unknown_seconds`."""
        submission, index, seconds = self._submissions[key[0]], key[1], time.monotonic() - task.since
        if task.state == UNKNOWN:
            is_patience_over = seconds >= self.unknown_seconds
            # The exit file counts only if the accounting does not list the task or cannot be queried.
            if not (task.was_looked_up or not self._has_accounting or is_patience_over or self.fault is not None):
                return None  # the next tick asks the accounting
            exit_file = read_exit(submission, index, task.restarts)
            if exit_file is not None:
                return judge(submission, index, exit_file)
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
            # The node failed after the work was done, and Slurm repeats it; or Slurm itself does not answer.
            exit_file = read_exit(submission, index, task.restarts)
            if exit_file is None or exit_file.rc != 0 or not (is_deaf or exit_file.restart < task.restarts):
                return None
            if not is_deaf and not submission.is_foreign:
                try:
                    self._cancel(key)
                except CommandFailed as error:
                    self.fault = str(error)
                    return None
            return Verdict(Ending.DONE, "exit status 0")
        exit_file = read_exit(submission, index, task.restarts)
        # In these states there must be an exit file, and the verdict depends on it.
        is_due = task.state == "COMPLETED" or (task.state == "FAILED" and task.exit_code >> 8 in STOP_STATUSES)
        if exit_file is None and is_due and seconds < self.patience_seconds:
            return None
        return judge(submission, index, exit_file, task.state, task.exit_code)
