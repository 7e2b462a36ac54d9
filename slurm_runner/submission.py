"""A submission: tasks of one kind as one job array, submitted to Slurm exactly once.

Its name holds a uuid that is on the disk before Slurm is asked. A job that Slurm created without confirming it is found
by this name, so that it is never created twice. All functions raise `SlurmError` if a folder cannot be read or written,
and `CommandFailed` if Slurm cannot be reached.
"""

import os
import re
import shlex
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from slurm_runner.commands import CommandFailed, SlurmCommands, ask_sacct, ask_squeue
from slurm_runner.errors import SlurmError, SubmissionRefused, SubmissionUncertain
from slurm_runner.files import locked, make_folder, read_json, share, write_json, writing
from slurm_runner.options import SlurmOptions
from slurm_runner.script import ATTEMPT, COMMAND, DIRECTIVE, LOG, render_batch_script, render_command

RECORD, SCRIPT, LOCK = "submission.json", "batch.sh", "submit.lock"
SBATCH_SECONDS = 120.0
"""Time limit of `sbatch`, which waits for a minute or more if the queue is full."""
SETTLE_SECONDS = 3.0
"""Pause between two queries for an unconfirmed job, in which a slow controller reads pending requests."""
PATIENCE_SECONDS = 600.0
"""Longest wait for a controller that does not answer."""
LABEL_LENGTH = 100
"""Longest label; the accounting would cut longer names."""

ADVICE = {
    "invalid --|unrecognized option": "mend it in the study's `extra` (`man sbatch`)",
    "wallduration": "ask for less time than your account or QOS allows",
    "per(job|node)": "ask for fewer GPUs, cores or less memory than your account or QOS allows a job",
    "submitjob|accounting/qos policy": "ask for fewer cells at a time, or wait until jobs have ended",
    r"\baccount\b": "name an account that you may use (`sacctmgr show associations user=$USER`)",
    "qos": "name a QOS that you may use (`sacctmgr show associations user=$USER format=qos`)",
    "node configuration": "ask for fewer GPUs, cores or less memory than a node of the partition has (`sinfo -Nl`)",
    "generic resource": "name a resource that the cluster has (`sinfo -o '%P %G'` lists them)",
    "array": "submit fewer tasks at once (`scontrol show config | grep MaxArraySize`)",
    r"\btime\b": "ask for less time than the partition's limit (`sinfo -o '%P %l'`), in minutes",
    "partition": "name one of the cluster's partitions (`sinfo -s` lists them)",
    "limit": "wait until other jobs have ended, or ask for less",
}
"""What to do, by a pattern of the refusal; the first match counts."""


@dataclass(frozen=True)
class Task:
    """One task of a submission.

    Attributes:
        arguments: the command; `{task}` in a word stands for the task's folder.
        environment: returns the task's own variables for its folder.
        files: text by name, to be written into the task's folder.
    """

    arguments: Sequence[str]
    environment: Callable[[Path], Mapping[str, str]] = lambda folder: {}
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Submission:
    """A submission that Slurm has received or will receive.

    Attributes:
        folder: folder of its files, with a folder `<index>/` for each task.
        created: seconds since 1970.
        minutes, warn_seconds: time limit, and how long before it the tasks are warned.
        user: the user who submitted it; None in records of earlier versions.
        was_asked: whether Slurm was ever asked; from then on the job may exist.
        job_id: Slurm's id of the array; None until it is known.
        refused: why Slurm refused it, or None.
    """

    folder: Path
    uuid: str
    label: str
    n_tasks: int
    created: float
    minutes: int | None = None
    warn_seconds: int = 0
    user: str | None = None
    was_asked: bool = False
    job_id: str | None = None
    refused: str | None = None

    @property
    def name(self) -> str:
        """The job's name: a label for people, and the uuid to find it."""
        return f"{self.label}-{self.uuid}"

    @property
    def is_foreign(self) -> bool:
        """Whether another user submitted it, whose jobs Slurm may hide (`PrivateData`)."""
        return self.user is not None and self.user != user_name()

    def task_folder(self, index: int) -> Path:
        """The folder of a task's command, log and attempts."""
        return self.folder / str(index)

    def log(self, index: int) -> Path:
        """The log of all attempts of a task."""
        return self.task_folder(index) / LOG


def user_name() -> str:
    """The user of this process, by name or else by number."""
    try:
        import pwd  # not on Windows

        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def prepare_submission(root: Path, label: str, tasks: Sequence[Task], options: SlurmOptions) -> Submission:
    """Write a submission's files to a new folder below `root`, all or none, without asking Slurm."""
    new_uuid, label = uuid.uuid4().hex, re.sub(r"[^A-Za-z0-9_.+-]+", "-", label)[:LABEL_LENGTH]
    folder = root.absolute() / new_uuid
    submission = Submission(folder, new_uuid, label, len(tasks), time.time(), options.minutes, options.warn_seconds)
    script = render_batch_script(submission.name, new_uuid, folder, len(tasks), options)
    try:
        with writing(folder):
            make_folder(root.absolute())
            for index, task in enumerate(tasks):
                task_folder = submission.task_folder(index)
                task_folder.mkdir(parents=True)
                for name, text in task.files.items():
                    (task_folder / name).write_text(text, encoding="utf-8")
                arguments = [word.replace("{task}", str(task_folder)) for word in task.arguments]
                command = render_command(arguments, options, task.environment(task_folder))
                (task_folder / COMMAND).write_text(command, encoding="utf-8")
                submission.log(index).touch()
            (folder / SCRIPT).write_text(script, encoding="utf-8")
            (folder / LOCK).touch()
            share(folder)
            _save(submission)
    except SlurmError:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return submission


def open_submission(folder: Path) -> Submission | None:
    """The submission in a folder; None where there is none, or a damaged one."""
    try:
        return Submission(folder=folder, **read_json(folder / RECORD))
    except TypeError:
        return None


def submit(
    submission: Submission,
    commands: SlurmCommands,
    say: Callable[[str], None] = lambda line: None,
    patience_seconds: float = PATIENCE_SECONDS,
    settle_seconds: float = SETTLE_SECONDS,
) -> Submission:
    """Submit to Slurm, or find the job by its name if it was submitted before; returns the submission with its job id.

    Any number of processes may call this for one submission: the first one asks Slurm, the others read its answer.

    Raises:
        SubmissionRefused: Slurm refused; gives its reason and what to do.
        SubmissionUncertain: the controller did not answer in time; try again with the same submission.
    """
    with locked(submission.folder / LOCK):
        current = open_submission(submission.folder)
        if current is None:
            raise SlurmError(f"{submission.folder}: holds no submission any more; ask for a new one")
        if current.refused:
            raise SubmissionRefused(current.refused)
        deadline, pause = time.monotonic() + patience_seconds, 0.5
        while current.job_id is None:
            try:
                job_id = _look_up_settled(current, commands, settle_seconds) if current.was_asked else None
                if job_id is None:
                    current = _record_asking(current)
                    job_id = _sbatch(current, commands)
                current = replace(current, job_id=job_id)
                _save(current)
            except CommandFailed as error:
                if time.monotonic() >= deadline:
                    raise SubmissionUncertain(
                        f"Slurm did not answer for {patience_seconds:.0f} s ({error}); whether the job exists is not "
                        "known: materialise again once the controller is back, and it is looked for by its name first"
                    ) from None
                say(f"Slurm does not answer ({error}); asking again in {pause:.0f} s, by the job's name first")
                time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
                pause = min(pause * 2, 30.0)
        return current


def cancel(submission: Submission, indices: Iterable[int], commands: SlurmCommands) -> None:
    """Cancel tasks with one command; all tasks if Slurm was asked and the job's id is unknown."""
    current = open_submission(submission.folder) or submission
    if current.job_id is not None:
        commands.run(["scancel", *(f"{current.job_id}_{index}" for index in indices)])
    elif current.was_asked:
        commands.run(["scancel", f"--name={current.name}"])


def _record_asking(submission: Submission) -> Submission:
    """Record on the disk that this user asks Slurm for the submission, before asking."""
    if submission.was_asked and submission.is_foreign:
        raise SubmissionUncertain(
            f"{submission.user} asked Slurm for {submission.name}, and whether the job exists cannot be seen by "
            f"{user_name()}: let {submission.user} materialise again; or, where `squeue` shows {submission.user} no "
            f"such job, remove {submission.folder} and materialise again"
        )
    recorded = replace(submission, was_asked=True, user=user_name())
    _save(recorded)
    return recorded


def _look_up_settled(submission: Submission, commands: SlurmCommands, settle_seconds: float) -> str | None:
    """Id of the job with the submission's name, the oldest if Slurm made two; None where there is none."""
    for pause in (settle_seconds, 0):
        ids = {row.job_id for row in ask_squeue([submission.name], commands)}
        if ids:
            return min(ids, key=int)
        time.sleep(pause)
    if ids := {path.name.split("-")[1].split(".")[0] for path in submission.folder.glob(f"*/{ATTEMPT}-*")}:
        return min(ids, key=int)  # it has run already, and Slurm may no longer list it
    ids = {row.job_id for row in ask_sacct([submission.name], submission.created, commands) or ()}
    return min(ids, key=int, default=None)


def _sbatch(submission: Submission, commands: SlurmCommands) -> str:
    """The id of a new job; after `CommandFailed` it is unknown whether Slurm has created it."""
    script = submission.folder / SCRIPT
    # As arguments, the directives take precedence over the user's SBATCH_ variables.
    lines = [line for line in script.read_bytes().decode("utf-8").split("\n") if line.startswith(DIRECTIVE)]
    directives = [word for line in lines for word in shlex.split(line.removeprefix(DIRECTIVE))]
    try:
        output = commands.run(["sbatch", "--parsable", *directives, str(script)], SBATCH_SECONDS)
    except CommandFailed as error:
        if error.is_unreachable:
            raise
        fitting = (what for words, what in ADVICE.items() if re.search(words, error.answer.lower()))
        advice = next(fitting, "mend the study's Slurm options")
        message = f"Slurm refused the job: {error.answer}; {advice} (script: {script})"
        _save(replace(submission, refused=message))
        raise SubmissionRefused(message) from None
    last = output.strip().rpartition("\n")[2].split(";")[0]
    if not last.isdigit():
        raise CommandFailed("sbatch", f"{output!r} where the id of a job was expected", is_unreachable=True)
    return last


def _save(submission: Submission) -> None:
    fields = {name: value for name, value in vars(submission).items() if name != "folder"}
    write_json(submission.folder / RECORD, fields)
