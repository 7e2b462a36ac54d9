"""Waits for what a cluster does in its own time, and for commands that fail."""

import time
from collections.abc import Callable

import pytest

from slurm_runner.commands import CommandFailed, SlurmCommands
from slurm_runner.submission import Submission
from slurm_runner.verdicts import Ending
from slurm_runner.watch import Watch


def wait_until(holds: Callable[[], object], seconds: float = 60, every: float = 0.05) -> None:
    """Wait until something holds."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, holds
        time.sleep(every)


def endings(submission: Submission, commands: SlurmCommands, seconds: float = 60, **patience: float) -> list[Ending]:
    """How the tasks of a submission ended, by index."""
    watch, ended = Watch(commands, **patience), dict[int, Ending]()
    watch.add(submission)

    def all_ended() -> bool:
        for (_, index), report in watch.tick().items():
            assert report.verdict is not None
            ended[index] = report.verdict.ending
        return not len(watch)

    wait_until(all_ended, seconds, every=0.2)
    return [ended[index] for index in range(submission.n_tasks)]


def fails(commands: SlurmCommands, *arguments: str, **limits: float) -> CommandFailed:
    """The error that a command ends with."""
    with pytest.raises(CommandFailed) as caught:
        commands.run(arguments, **limits)
    return caught.value
