"""A submission: tasks of one kind as one job array, asked of Slurm once and only once.

Its name holds a uuid that is on the disk before Slurm is asked: a job that Slurm made without saying so is found by its
name, never made twice.
"""

import shutil
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from filelock import FileLock

from slurm_runner.commands import CommandFailed, SlurmCommands
from slurm_runner.errors import SlurmError, SubmissionRefused, SubmissionUncertain
from slurm_runner.files import read_json, write_json
from slurm_runner.options import SlurmOptions
from slurm_runner.script import COMMAND, LOG, render_batch_script, render_command

RECORD, SCRIPT, LOCK = "submission.json", "batch.sh", "submit.lock"
SBATCH_SECONDS = 120.0
"""A full queue makes `sbatch` wait for a minute or more."""
SETTLE_SECONDS = 3.0
"""Between two looks for a job whose making was not confirmed: what a frozen controller is still to read."""
PATIENCE_SECONDS = 600.0
"""How long a controller that does not answer is waited for."""

ADVICE = {
    "account": "name an account that you may use (`sacctmgr show associations user=$USER`)",
    "qos": "name a QOS that you may use (`sacctmgr show associations user=$USER format=qos`)",
    "node configuration": "ask for fewer GPUs, cores or less memory than a node of the partition has (`sinfo -Nl`)",
    "generic resource": "name a resource that the cluster has (`sinfo -o '%P %G'` lists them)",
    "array": "submit fewer tasks at once (`scontrol show config | grep MaxArraySize`)",
    "time": "ask for less time than the partition's limit (`sinfo -o '%P %l'`), in minutes",
    "partition": "name one of the cluster's partitions (`sinfo -s` lists them)",
    "limit": "wait until other jobs have ended, or ask for less",
}
"""What to do, by a word of the refusal; the first that fits."""


@dataclass(frozen=True)
class Task:
    """One task of a submission.

    Attributes:
        arguments: what to run; `{task}` in a word stands for the task's folder.
        environment: its own variables, from the task's folder.
        files: name -> text to put beside it, for the command to read.
    """

    arguments: Sequence[str]
    environment: Callable[[Path], Mapping[str, str]] = lambda folder: {}
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Submission:
    """What was asked of Slurm, or is about to be.

    Attributes:
        folder: its files; `<index>/` of its tasks.
        created: seconds since 1970.
        minutes, warn_seconds: its time limit, and how long before it the tasks are told.
        was_asked: whether Slurm was ever asked: from then on the job may exist.
        job_id: Slurm's id of the array; None until it is known.
        refused: why Slurm would not have it.
    """

    folder: Path
    uuid: str
    label: str
    n_tasks: int
    created: float
    minutes: int | None = None
    warn_seconds: int = 0
    was_asked: bool = False
    job_id: str | None = None
    refused: str | None = None

    @property
    def name(self) -> str:
        """The job's name: the label for people, the uuid for us."""
        return f"{self.label}-{self.uuid}"

    def task_folder(self, index: int) -> Path:
        """Where a task's command, log and attempts lie."""
        return self.folder / str(index)

    def log(self, index: int) -> Path:
        """A task's log, of all its attempts."""
        return self.task_folder(index) / LOG


def prepare_submission(
    root: Path, label: str, tasks: Sequence[Task], options: SlurmOptions, throttle: int | None = None
) -> Submission:
    """Write all that a submission needs to a new folder below `root`; Slurm is not asked.

    Raises:
        SlurmError: the folder cannot be written, or cannot stand in a script.
    """
    unique = uuid.uuid4().hex
    folder = root.absolute() / unique
    submission = Submission(folder, unique, label, len(tasks), time.time(), options.minutes, options.warn_seconds)
    script = render_batch_script(submission.name, unique, folder, len(tasks), options, throttle)
    try:
        for index, task in enumerate(tasks):
            own = submission.task_folder(index)
            own.mkdir(parents=True)
            for name, text in task.files.items():
                (own / name).write_text(text, encoding="utf-8")
            arguments = [word.replace("{task}", str(own)) for word in task.arguments]
            command = render_command(arguments, options, task.environment(own))
            (own / COMMAND).write_text(command, encoding="utf-8")
            submission.log(index).touch()
        (folder / SCRIPT).write_text(script, encoding="utf-8")
        _save(submission)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise unwritable(folder, error) from None
    return submission


def unwritable(folder: Path, error: OSError) -> SlurmError:
    """The error that says that a submission's files cannot be written."""
    return SlurmError(
        f"{error.filename or folder}: cannot be written: {error.strerror}; nothing was submitted; free space or choose "
        "a folder that this machine and the compute nodes can write"
    )


def open_submission(folder: Path) -> Submission | None:
    """The submission of a folder; None where there is none that can be read."""
    found = read_json(folder / RECORD)
    if not isinstance(found, dict):
        return None
    try:
        return Submission(folder=folder, **found)
    except TypeError:
        return None


def submit(
    submission: Submission,
    commands: SlurmCommands,
    say: Callable[[str], None] = lambda line: None,
    patience_seconds: float = PATIENCE_SECONDS,
    settle_seconds: float = SETTLE_SECONDS,
) -> Submission:
    """The submission with its job id: asked of Slurm, or found there under its name where it was asked before.

    Any number of processes may call this for one submission: the first asks, the others learn its answer.

    Raises:
        SubmissionRefused: Slurm's reason and what to do.
        SubmissionUncertain: the controller did not answer for so long; try again with the same submission.
    """
    with FileLock(submission.folder / LOCK):
        return _submit(
            open_submission(submission.folder) or submission, commands, say, patience_seconds, settle_seconds
        )


def _submit(
    submission: Submission,
    commands: SlurmCommands,
    say: Callable[[str], None],
    patience_seconds: float,
    settle_seconds: float,
) -> Submission:
    if submission.refused:
        raise SubmissionRefused(submission.refused)
    if submission.job_id is not None:
        return submission
    until = time.monotonic() + patience_seconds
    pause = 0.5
    said = "it was asked for by a process that stopped"
    while True:
        try:
            job_id = _look_up_settled(submission, commands, settle_seconds) if submission.was_asked else None
            if job_id is None:
                submission = replace(submission, was_asked=True)
                _save(submission)
                job_id = _sbatch(submission, commands)
            submission = replace(submission, job_id=job_id)
            _save(submission)
            return submission
        except CommandFailed as error:
            if not error.is_unreachable:
                refused = (
                    f"Slurm refused the job: {error.said}; {_advice(error.said)} (script: {submission.folder / SCRIPT})"
                )
                _save(replace(submission, refused=refused))
                raise SubmissionRefused(refused) from None
            said = str(error)
        if time.monotonic() >= until:
            raise SubmissionUncertain(
                f"Slurm did not answer for {patience_seconds:.0f} s ({said}); whether the job exists is not known: "
                "materialise again once the controller is back, and it is looked for by its name first"
            )
        say(f"Slurm does not answer ({said}); asking again in {pause:.0f} s, by the job's name first")
        time.sleep(min(pause, max(0.0, until - time.monotonic())))
        pause = min(pause * 2, 30.0)


def look_up(submission: Submission, commands: SlurmCommands) -> list[str]:
    """Ids of the jobs that carry the submission's name, oldest first: one, unless Slurm was asked twice.

    Raises:
        CommandFailed: Slurm could not be asked.
    """
    listed = commands.run(["squeue", "--me", "-h", "-t", "all", "-n", submission.name, "-O", "ArrayJobID:|"])
    return sorted({line.strip(" |") for line in listed.splitlines() if line.strip(" |")}, key=int)


def _look_up_settled(submission: Submission, commands: SlurmCommands, settle_seconds: float) -> str | None:
    for pause in (settle_seconds, 0):
        found = look_up(submission, commands)
        if found:
            return found[0]
        time.sleep(pause)
    try:
        listed = commands.run(
            ["sacct", "-X", "-P", "-n", "-S", days_since(submission), f"--name={submission.name}", "-o", "JobID"]
        )
    except CommandFailed as error:
        if error.is_unreachable:
            raise
        return None  # no accounting here
    return next((line.split("_")[0] for line in listed.splitlines() if line), None)


def days_since(submission: Submission) -> str:
    """When a submission was made, as `sacct -S` takes it, a day before at least: it would begin at midnight."""
    return f"now-{int((time.time() - submission.created) // 86_400) + 2}days"


def _sbatch(submission: Submission, commands: SlurmCommands) -> str:
    said = commands.run(["sbatch", "--parsable", str(submission.folder / SCRIPT)], SBATCH_SECONDS)
    return said.strip().splitlines()[-1].split(";")[0]


def _advice(said: str) -> str:
    return next((what for word, what in ADVICE.items() if word in said.lower()), "mend the study's Slurm options")


def _save(submission: Submission) -> None:
    fields = asdict(submission)
    del fields["folder"]
    write_json(submission.folder / RECORD, fields)
