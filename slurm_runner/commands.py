"""Runs Slurm's commands, here or over ssh on a login node, and queries any number of jobs by name at once.

`CommandFailed` is raised if Slurm cannot be reached or its answer cannot be understood.
"""

import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from slurm_runner.errors import SlurmError

SECONDS = 60.0
"""Time limit of a command that only queries."""
PASSED = re.compile(r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LD_LIBRARY_PATH|MODULEPATH|SLURM_CONF|SLURM_CLUSTERS|SBATCH_.*")
"""Variables that Slurm's commands, and so the jobs, see: no secrets, and no SQUEUE_FORMAT, which changes the output."""
UNSET = ("SBATCH_WAIT", "SBATCH_CLUSTERS", "SQUEUE_PARTITION", "SQUEUE_ACCOUNT", "SQUEUE_QOS", "SQUEUE_LICENSES")
"""Variables of a login node that would let `sbatch` wait for the job's end, or hide jobs from `squeue`."""
SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15")
SSH_FAILED, NOT_FOUND = 255, 127
FIELDS = "Name:|,ArrayJobID:|,ArrayTaskID:|,State:|,RestartCnt:|,exit_code:|,NodeList:|,Reason:|"
"""The reason comes last, since administrators may write any text there."""
SQUEUE = ("squeue", "--all", "-h", "-r", "-t", "all", "-O", FIELDS, "-n")
"""`--all` includes hidden partitions. All users' jobs are listed, since users of a shared storage continue them."""
SACCT = ("sacct", "--allusers", "-X", "-P", "-n", "-o", "JobName,JobID,State,ExitCode,NodeList")
ARRAY_SIZE = re.compile(r"(?:^MaxArraySize\s*=\s*|\bmax_array_tasks=)(\d+)", re.MULTILINE)
USUAL_ARRAY_SIZE = 1001
"""Slurm's default `MaxArraySize`."""
NO_ACCOUNTING = "accounting storage is disabled"


class CommandFailed(SlurmError):
    """A command could not be run, took too long, or ended with an error; this is never the state of a job. `answer` is
    its output in one line; `is_unreachable` says that the cluster did not answer, so that nothing is known."""

    def __init__(self, name: str, answer: str, is_unreachable: bool) -> None:
        super().__init__(f"{name}: {answer}")
        self.answer, self.is_unreachable = answer, is_unreachable


UNREACHABLE = re.compile(
    r"unable to contact slurm controller|socket timed out|connection (refused|reset|timed out)|"
    r"zero bytes were transmitted|transport endpoint|communication connection failure|standby mode|"
    r"temporarily unavailable|try again|slurmdbd: sending persistconn|unexpected message received|"
    r"protocol authentication error|invalid authentication credential|munge",
    re.IGNORECASE,
)
"""Words of errors about the connection to the controller or its load, not about the request."""


class SlurmCommands:
    """Runs Slurm's commands as argument lists and counts them, here or on `host`, a login node reached over ssh without
    a password."""

    def __init__(self, host: str | None = None) -> None:
        self._host = host
        self.count = 0

    def run(self, arguments: Sequence[str], seconds: float = SECONDS) -> str:
        """The standard output of a command; CommandFailed where it could not be run, took longer than `seconds`, or
        ended with an error."""
        name = arguments[0]
        options = [word for variable in UNSET for word in ("-u", variable)]
        command = ["env", *options, "LC_ALL=C", *arguments]
        environment = {key: value for key, value in os.environ.items() if PASSED.fullmatch(key)}
        if self._host is not None:
            command = [*SSH, self._host, "--", shlex.join(command)]
            environment = dict(os.environ)  # for ssh itself, which does not pass it on
        self.count += 1
        try:
            result = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CommandFailed(name, f"no answer within {error.timeout:.0f} s", is_unreachable=True) from None
        except OSError as error:
            raise CommandFailed(name, f"{command[0]}: {error.strerror}", is_unreachable=False) from None
        if result.returncode == 0:
            return result.stdout
        lines = [line.strip() for line in (result.stderr or result.stdout).splitlines() if line.strip()]
        answer = " / ".join(lines[-3:]) or f"exit status {result.returncode}"
        if result.returncode == NOT_FOUND:
            answer = (
                f"not found; are Slurm's commands installed on {self._host or 'this machine'}? else name a login node"
            )
        is_ssh_lost = self._host is not None and result.returncode == SSH_FAILED and f"{name}: " not in answer
        raise CommandFailed(name, answer, is_ssh_lost or UNREACHABLE.search(answer) is not None)


@dataclass(frozen=True, slots=True)
class Row:
    """A task of a job array as Slurm shows it.

    Attributes:
        index: index of the task; None for a row of several tasks.
        state: first word of the state (`CANCELLED` for `CANCELLED by 0`).
        exit_code: status x 256 + signal, as from `wait`.
        reason: why it is pending.
    """

    name: str
    job_id: str
    index: int | None
    state: str
    exit_code: int
    node: str
    restarts: int = 0
    reason: str = ""


def ask_squeue(names: Iterable[str], commands: SlurmCommands) -> list[Row]:
    """The tasks of jobs with these names that the controller still lists."""
    return _ask(SQUEUE, names, commands, _squeue_row)


def ask_sacct(names: Iterable[str], created: float, commands: SlurmCommands) -> list[Row] | None:
    """The tasks of jobs with these names in the accounting, created at `created` (seconds since 1970) or later; None
    where the cluster has no accounting."""
    days = int((time.time() - created) // 86_400) + 2  # by default it would begin at midnight
    try:
        return _ask([*SACCT, "-S", f"now-{days}days", "--name"], names, commands, _sacct_row)
    except CommandFailed as error:
        if NO_ACCOUNTING not in error.answer.lower():
            raise
        return None


def ask_array_size(commands: SlurmCommands) -> int:
    """Most tasks of an array, from the cluster's settings; Slurm's default if they cannot be read."""
    try:
        config = commands.run(["scontrol", "show", "config"])
    except CommandFailed:
        return USUAL_ARRAY_SIZE
    return max(1, min(map(int, ARRAY_SIZE.findall(config)), default=USUAL_ARRAY_SIZE))


def _ask(
    command: Sequence[str], names: Iterable[str], commands: SlurmCommands, parse: Callable[[str], Row]
) -> list[Row]:
    wanted, rows = sorted(set(names)), []
    for line in commands.run([*command, ",".join(wanted)]).splitlines():
        if line.partition("|")[0] in wanted:  # skips greetings of login nodes and names of clusters
            try:
                rows.append(parse(line))
            except (ValueError, IndexError):
                raise CommandFailed(command[0], f"{line!r} is no line of a job", is_unreachable=False) from None
    return rows


def _squeue_row(line: str) -> Row:
    name, job_id, index, state, restarts, exit_code, node, reason = line.split("|", 7)
    return Row(name, job_id, _index(index), state, int(exit_code), node, int(restarts), reason.removesuffix("|"))


def _sacct_row(line: str) -> Row:
    name, job, state, ended, node = line.split("|")
    job_id, _, index = job.partition("_")
    status, signal = map(int, ended.split(":"))
    return Row(name, job_id, _index(index), state.split()[0], status << 8 | signal, node)


def _index(text: str) -> int | None:
    return int(text) if text.isdigit() else None
