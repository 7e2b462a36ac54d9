"""Runs the scripts of a submission under plain bash, as a node would."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slurm_runner.options import SlurmOptions
from slurm_runner.submission import SCRIPT, Submission, Task, prepare_submission

JOB = {"SLURM_ARRAY_JOB_ID": "7", "SLURM_JOB_ID": "8", "SLURM_ARRAY_TASK_ID": "0", "SLURMD_NODENAME": "n1"}


def prepared(
    root: Path, *arguments: str, label: str = "test", options: SlurmOptions | None = None, n_tasks: int = 1, **task: Any
) -> Submission:
    """A submission of tasks that are alike."""
    return prepare_submission(root, label, [Task(arguments, **task)] * n_tasks, options or SlurmOptions())


def start(submission: Submission, variables: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start its task here; what it writes goes to its log."""
    environment = os.environ | JOB | dict(variables or {})
    with open(submission.log(0), "ab") as log:
        command = ["bash", str(submission.folder / SCRIPT)]
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def run(submission: Submission, variables: Mapping[str, str] | None = None) -> int:
    """The exit status of its task."""
    return start(submission, variables).wait(300)
