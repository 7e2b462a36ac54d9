"""The options of a job for `sbatch`: partition, memory, time and others."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from slurm_runner.errors import SlurmError

WORDS = ("partition", "account", "qos", "constraint", "gres")
"""Options of `sbatch` that take one word, and the fields of `SlurmOptions` of the same names."""
TAKEN: Mapping[str, str | None] = {
    **{f"--{word}": word for word in WORDS},
    "--cpus-per-task": "cpus",
    "--mem": "memory_mib",
    "--time": "minutes",
    "--time-min": "minutes",
    "--signal": "warn_seconds",
    "--requeue": "requeue",
    "--no-requeue": "requeue",
    "--export": "environment",
    **dict.fromkeys(("--clusters", "--array", "--job-name", "--output", "--error", "--open-mode")),
    **dict.fromkeys(("--parsable", "--quiet", "--wait", "--wrap", "--test-only", "--help", "--usage", "--version")),
}
"""Options of `sbatch` that users may not add, because jobs are found, timed and judged by them, with the field of
`SlurmOptions` to use instead, if there is one."""


def fault_of_option(option: str, keys: Mapping[str, str] | None = None) -> str | None:
    """Why a further option of `sbatch` cannot be added, and what to do; None where it can.

    Args:
        keys: the user's names for fields of `SlurmOptions`, where they differ.

    >>> fault_of_option("--part=gpu"), fault_of_option("--mem-per-cpu=2G")
    ('--partition is set for every job already; say it as `partition`', None)
    """
    try:
        words = shlex.split(option)
    except ValueError:  # a quote that is not closed
        words = []
    if len(words) != 1 or "\n" in option or not re.match(r"--[a-z]", words[0]):
        return "write an option of sbatch as '--name' or '--name=value', in quotes where there are blanks"
    option_name = words[0].partition("=")[0]  # `sbatch` takes names abbreviated too
    name = option_name if option_name in TAKEN else next((name for name in TAKEN if name.startswith(option_name)), None)
    if name is None:
        return None
    field = TAKEN[name]
    instead = f"say it as {(keys or {}).get(field, f'`{field}`')}" if field else "leave it out"
    return f"{name} is set for every job already; {instead}"


@dataclass(frozen=True)
class SlurmOptions:
    """Options of one submission; None leaves an option to the cluster's defaults.

    Attributes:
        partition, account, qos, constraint, gres: in the notation of `sbatch` (`gres`: `gpu:a100:2`).
        cpus: cores of a task.
        memory_mib: memory of a task's node, MiB.
        minutes: time limit.
        warn_seconds: how long before the limit the job is warned (SIGTERM) to save its results.
        requeue: whether Slurm may restart the job itself after a node failure.
        throttle: most tasks of an array at the same time.
        extra: further options of `sbatch`, none of `TAKEN`, each `--name` or `--name=value`, quoted as in a batch
            script.
        modules: environment modules to load.
        container: words before the command that enter a container (`apptainer exec --nv image.sif`).
        environment: variables of the job; of the submitter's environment only PATH, HOME and the like are passed on.
    """

    partition: str | None = None
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    gres: str | None = None
    cpus: int | None = None
    memory_mib: int | None = None
    minutes: int | None = None
    warn_seconds: int = 120
    requeue: bool = False
    throttle: int | None = None
    extra: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    container: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in WORDS:
            if re.search(r"[\s\"'\\]", value := getattr(self, name) or ""):
                raise SlurmError(f"{name} {value!r}: a word without blanks and quotes was expected; mend it")
        for option in self.extra:
            if fault := fault_of_option(option):
                raise SlurmError(f"option of sbatch {option!r}: {fault}")
        if self.minutes is not None and self.minutes * 60 <= self.warn_seconds:
            raise SlurmError(
                f"a time limit of {self.minutes} min leaves no time before the warning at {self.warn_seconds} s; "
                "ask for more time or a shorter warning"
            )

    def directives(self) -> list[str]:
        """The options in the notation of `sbatch`."""
        options = {
            **{f"--{word}": getattr(self, word) for word in WORDS},
            "--cpus-per-task": self.cpus,
            "--mem": f"{self.memory_mib}M" if self.memory_mib is not None else None,
            "--time": self.minutes,
            "--signal": f"B:TERM@{self.warn_seconds}",
        }
        directives = [f"{name}={value}" for name, value in options.items() if value is not None]
        return [*directives, "--requeue" if self.requeue else "--no-requeue", *self.extra]
