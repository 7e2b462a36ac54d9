"""Slurm's commands, on this machine or over ssh on a login node; queries about jobs by name, one for any number.

Where Slurm cannot be asked, or nobody understands its answer, that is `CommandFailed`.
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
"""How long a command may take that only asks."""
KEPT = re.compile(r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LD_LIBRARY_PATH|MODULEPATH|SLURM_CONF|SLURM_CLUSTERS|SBATCH_.*")
"""Variables that Slurm's commands see, and so the jobs: no secret travels, no SQUEUE_FORMAT changes what comes back."""
FORGOTTEN = ("SBATCH_WAIT", "SBATCH_CLUSTERS", "SQUEUE_PARTITION", "SQUEUE_ACCOUNT", "SQUEUE_QOS", "SQUEUE_LICENSES")
"""Variables that would let `sbatch` wait for the job's end, or hide jobs from `squeue`: a login node may set them."""
SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15")
SSH_FAILED, NOT_FOUND = 255, 127
FIELDS = "Name:|,ArrayJobID:|,ArrayTaskID:|,State:|,RestartCnt:|,exit_code:|,NodeList:|,Reason:|"
"""Reasons may be an administrator's own words, so they stand last."""
SQUEUE = ("squeue", "--all", "-h", "-r", "-t", "all", "-O", FIELDS, "-n")
"""`--all`: in hidden partitions too. Of every user, as `sacct`: who shares a storage goes on with each other's jobs."""
SACCT = ("sacct", "--allusers", "-X", "-P", "-n", "-o", "JobName,JobID,State,ExitCode,NodeList")
ARRAY_SIZE = re.compile(r"(?:^MaxArraySize\s*=\s*|\bmax_array_tasks=)(\d+)", re.MULTILINE)
USUAL_ARRAY_SIZE = 1001
"""Slurm's own `MaxArraySize`."""
NO_ACCOUNTING = "accounting storage is disabled"


class CommandFailed(SlurmError):
    """A command could not be run, took too long, or ended with an error: never the state of a job.

    Attributes:
        said: what it wrote, one line.
        is_unreachable: whether the cluster did not answer, so that nothing is known.
    """

    def __init__(self, name: str, said: str, is_unreachable: bool) -> None:
        super().__init__(f"{name}: {said}")
        self.said, self.is_unreachable = said, is_unreachable


UNREACHABLE = re.compile(
    r"unable to contact slurm controller|socket timed out|connection (refused|reset|timed out)|"
    r"zero bytes were transmitted|transport endpoint|communication connection failure|standby mode|"
    r"temporarily unavailable|try again|slurmdbd: sending persistconn|unexpected message received|"
    r"protocol authentication error|invalid authentication credential|munge",
    re.IGNORECASE,
)
"""Words of answers that tell of the way to the controller or of its being busy, not of what was asked."""


class SlurmCommands:
    """Runs Slurm's commands as argument lists and counts them.

    Args:
        host: a login node to run them on, over ssh without a password; this machine where None.
    """

    def __init__(self, host: str | None = None) -> None:
        self._host = host
        self.count = 0

    def run(self, arguments: Sequence[str], seconds: float = SECONDS) -> str:
        """What a command wrote to its standard output.

        Raises:
            CommandFailed: it could not be run, took longer than `seconds`, or ended with an error.
        """
        name = arguments[0]
        unset = [word for variable in FORGOTTEN for word in ("-u", variable)]
        command = ["env", *unset, "LC_ALL=C", *arguments]
        kept = {key: value for key, value in os.environ.items() if KEPT.fullmatch(key)}
        if self._host is not None:
            command = [*SSH, self._host, "--", shlex.join(command)]
            kept = dict(os.environ)  # for ssh itself: it passes none of it on
        self.count += 1
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                env=kept,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise CommandFailed(name, f"no answer within {error.timeout:.0f} s", is_unreachable=True) from None
        except OSError as error:
            raise CommandFailed(name, f"{command[0]}: {error.strerror}", is_unreachable=False) from None
        if done.returncode == 0:
            return done.stdout
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        said = " / ".join(lines[-3:]) or f"exit status {done.returncode}"
        if done.returncode == NOT_FOUND:
            said = (
                f"not found; are Slurm's commands installed on {self._host or 'this machine'}? else name a login node"
            )
        is_ssh_lost = self._host is not None and done.returncode == SSH_FAILED and f"{name}: " not in said
        raise CommandFailed(name, said, is_ssh_lost or UNREACHABLE.search(said) is not None)


@dataclass(frozen=True, slots=True)
class Row:
    """A task of a job array as Slurm shows it.

    Attributes:
        index: None where the row is of several tasks.
        state: without what stands after a blank (`CANCELLED by 0`).
        exit_code: as `wait` gives it: status x 256 + signal.
        reason: why it pends.
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
    """The tasks under these names that the controller has not forgotten."""
    return _ask(SQUEUE, names, commands, _of_squeue)


def ask_sacct(names: Iterable[str], created: float, commands: SlurmCommands) -> list[Row] | None:
    """The tasks under these names that the accounting knows, of jobs made at `created` (seconds since 1970) or later.

    Returns:
        None where there is no accounting.
    """
    days = int((time.time() - created) // 86_400) + 2  # it would begin at midnight
    try:
        return _ask([*SACCT, "-S", f"now-{days}days", "--name"], names, commands, _of_sacct)
    except CommandFailed as error:
        if NO_ACCOUNTING not in error.said.lower():
            raise
        return None


def ask_array_size(commands: SlurmCommands) -> int:
    """The most tasks that an array may have, by the cluster's settings; what is usual where they cannot be had."""
    try:
        said = commands.run(["scontrol", "show", "config"])
    except CommandFailed:
        return USUAL_ARRAY_SIZE
    return max(1, min(map(int, ARRAY_SIZE.findall(said)), default=USUAL_ARRAY_SIZE))


def _ask(
    command: Sequence[str], names: Iterable[str], commands: SlurmCommands, read: Callable[[str], Row]
) -> list[Row]:
    wanted, rows = sorted(set(names)), []
    for line in commands.run([*command, ",".join(wanted)]).splitlines():
        if line.partition("|")[0] in wanted:  # nor a login node's greeting, nor the name of a cluster
            try:
                rows.append(read(line))
            except (ValueError, IndexError):
                raise CommandFailed(command[0], f"{line!r} is no line of a job", is_unreachable=False) from None
    return rows


def _of_squeue(line: str) -> Row:
    name, job_id, index, state, restarts, exit_code, node, reason = line.split("|", 7)
    return Row(name, job_id, _index(index), state, int(exit_code), node, int(restarts), reason.removesuffix("|"))


def _of_sacct(line: str) -> Row:
    name, job, state, ended, node = line.split("|")
    job_id, _, index = job.partition("_")
    status, signal = map(int, ended.split(":"))
    return Row(name, job_id, _index(index), state.split()[0], status << 8 | signal, node)


def _index(text: str) -> int | None:
    return int(text) if text.isdigit() else None
