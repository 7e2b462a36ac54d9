"""Runs tasks as processes of this machine, a few at a time, where there is no cluster."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from slurm_runner.files import make_folder
from slurm_runner.script import ATTEMPT, COMMAND
from slurm_runner.submission import Submission
from slurm_runner.verdicts import ExitFile, judge
from slurm_runner.watch import Key, TaskReport

HERE = "here"
"""The job id of local submissions."""
SECONDS_TO_END = 20.0


class LocalRunner:
    """Runs the tasks of submissions on this machine, in order, with the interface of `Watch`.

    Attributes:
        lasts: whether a task outlives its run; local processes do not.
        fault: why tasks cannot be watched; always None here.
        poll_seconds, patience_seconds: short, since looking is cheap and the disk is local.
        attempts: most starts of a task that was stopped from outside.
        most_tasks: most tasks of a submission.

    Args:
        places: most processes at the same time.
    """

    lasts = False
    fault: str | None = None
    poll_seconds, patience_seconds, attempts = 0.3, 0.0, 3
    most_tasks = sys.maxsize

    def __init__(self, places: int = 1) -> None:
        self._places = places
        self._waiting: dict[Key, Submission] = {}
        self._running: dict[Key, tuple[Submission, subprocess.Popen[bytes], float]] = {}

    def submit(self, submission: Submission, say: Callable[[str], None]) -> Submission:
        """The submission with the local job id."""
        return replace(submission, job_id=HERE)

    def add(self, submission: Submission, indices: Sequence[int]) -> None:
        """Queue tasks, which run as soon as there is a place."""
        self._waiting |= {(submission.uuid, index): submission for index in indices}

    def open_reports(self) -> Iterator[tuple[Key, TaskReport]]:
        """The tasks that have not ended."""
        yield from ((key, TaskReport("RUNNING")) for key in self._running)
        yield from ((key, TaskReport("WAITING")) for key in self._waiting)

    def tick(self) -> dict[Key, TaskReport]:
        """The tasks that have ended since the last tick; waiting ones start in their places."""
        ended = {}
        for key, (submission, process, began) in list(self._running.items()):
            if (status := process.poll()) is not None:
                del self._running[key]
                exit_file = ExitFile(0, status if status >= 0 else 128 - status, round(time.monotonic() - began))
                ended[key] = TaskReport("ENDED", verdict=judge(submission, key[1], exit_file))
        for key in list(self._waiting)[: self._places - len(self._running)]:
            submission = self._waiting.pop(key)
            self._running[key] = submission, _start(submission, key[1]), time.monotonic()
        return ended

    def cancel(self, submission: Submission, indices: Iterable[int]) -> None:
        """End running tasks, and remove waiting ones."""
        self._end({(submission.uuid, index) for index in indices})

    def close(self) -> None:
        """End all running tasks, and remove all waiting ones."""
        self._end({*self._waiting, *self._running})

    def _end(self, keys: set[Key]) -> None:
        self._waiting = {key: submission for key, submission in self._waiting.items() if key not in keys}
        processes = [self._running.pop(key)[1] for key in keys & self._running.keys()]
        for process in processes:
            process.terminate()
        for process in processes:
            try:
                process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(submission: Submission, index: int) -> subprocess.Popen[bytes]:
    task = submission.task_folder(index)
    attempt = task / f"{ATTEMPT}-{HERE}.0"
    make_folder(attempt)
    with open(submission.log(index), "ab") as log:
        command = ["bash", str(task / COMMAND)]
        return subprocess.Popen(command, cwd=attempt, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
