"""`[slurm]` and `[families.<name>.resources]`: the cluster, and what a job of a model family needs."""

import re
from typing import Annotated, Any

import pydantic

from slurm_runner.options import fault_of_option
from valuesassets.records.settings.kinds import HOST, Count, Positive, Record, Seconds, unit

Word = Annotated[str, pydantic.Field(pattern=r"^[^\s\"'\\]+$")]
Host = Annotated[str, pydantic.Field(pattern=HOST)]
"""A host for ssh, which cannot be mistaken for an option."""
KEYS = {
    "memory_mib": "a family's `memory_gib`",
    "minutes": "a family's `hours`",
    "warn_seconds": "`warn_seconds` of [slurm]",
    "requeue": "`requeue` of [slurm]",
}
"""Keys of a study for fields of `SlurmOptions` that have another name there."""
SECRET = re.compile(r"TOKEN|KEY|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)


class JobSettings(Record):
    """Settings of jobs, for a study or for one family; without both, the cluster's defaults apply."""

    partition: Word | None = None
    """Partition of the cluster."""
    account: Word | None = None
    """Account to charge for the jobs."""
    qos: Word | None = None
    """Quality of service."""
    constraint: Word | None = None
    """Features that a node must have."""
    gres: Word | None = None
    """Generic resources for `sbatch` (`gpu:a100:2`), where the number `gpus` is not specific enough; the study's value
    applies to families with neither key."""
    cpus: Positive | None = None
    """Cores of a job."""
    extra: tuple[str, ...] = ()
    """Further options of `sbatch` without a key here, each `--name` or `--name=value`; a family's follow the
    study's."""
    modules: tuple[Word, ...] = ()
    """Environment modules to load."""
    container: tuple[str, ...] = ()
    """Words before the command that enter a container: `["apptainer", "exec", "--nv", "image.sif"]`."""
    environment: dict[Annotated[str, pydantic.Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str] = pydantic.Field(
        default_factory=dict
    )
    """Environment variables of the jobs. They are written to files, so put no secrets here."""

    @pydantic.model_validator(mode="after")
    def _can_be_sent(self) -> "JobSettings":
        for option in self.extra:
            if fault := fault_of_option(option, KEYS):
                raise ValueError(f"extra holds {option!r}: {fault}")
        for name in self.environment:
            if SECRET.search(name):
                raise ValueError(
                    f"environment names {name}, which looks like a secret, and a job's script is a file; leave it out: "
                    "weights are fetched before the jobs start, which ask nobody for anything"
                )
        return self


class Resources(JobSettings):
    """Resources of one job of a family; a job reads one cell, or all cells of one model in a grid."""

    gpus: Count = 0
    """Number of GPUs of a job."""
    memory_gib: Annotated[Positive, unit("GiB")] = 4
    """Memory of a job."""
    hours: Annotated[float, pydantic.Field(gt=0), unit("hours")] = 1.0
    """Time limit of a job."""


class SlurmSettings(JobSettings):
    """The cluster on which models run; without this table, they run on this machine."""

    host: Host | None = None
    """Login node, reached over ssh without a password; leave it out if this machine has Slurm's commands."""
    python: str | None = None
    """Path of the environment's Python on the compute nodes; this process's Python if left out."""
    throttle: Positive = 8
    """Most jobs of a grid that run at the same time."""
    poll_seconds: Seconds = 10.0
    """Time between two queries to Slurm."""
    attempts: Positive = 3
    """Number of times that a job is submitted when the cluster loses it (node failure, preemption)."""
    requeue: bool = False
    """Whether Slurm itself may restart a job."""
    warn_seconds: Annotated[Positive, unit("seconds")] = 120
    """How long before its time limit a job is warned, so that it saves its results."""
    unknown_seconds: Seconds = 300.0
    """Time after which a job that is missing from Slurm's answers counts as lost."""
    exit_file_seconds: Seconds = 60.0
    """Longest time until the shared disk shows a file that a job has written."""

    def for_family(self, resources: Resources) -> dict[str, Any]:
        """The settings of a family's jobs: its own, with `gpus` as `gres`, and otherwise the study's."""
        family, general = resources.model_dump(), self.model_dump()
        names = JobSettings.model_fields
        chosen = {name: family[name] or general[name] for name in names}
        if resources.gpus and not resources.gres:
            chosen["gres"] = f"gpu:{resources.gpus}"
        chosen["extra"] = (*general["extra"], *family["extra"])
        chosen["environment"] = general["environment"] | family["environment"]
        return chosen
