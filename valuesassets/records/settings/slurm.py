"""`[slurm]` and `[families.<name>.resources]`: how a cluster is reached, and what a job of a model family needs."""

import re
from typing import Annotated, Any

import pydantic

from slurm_runner.options import fault_of_option
from valuesassets.records.settings.kinds import HOST, Count, Positive, Record, Seconds, unit

Word = Annotated[str, pydantic.Field(pattern=r"^[^\s\"'\\]+$")]
Host = Annotated[str, pydantic.Field(pattern=HOST)]
"""What ssh is given: never an option of its."""
KEYS = {
    "memory_mib": "a family's `memory_gib`",
    "minutes": "a family's `hours`",
    "warn_seconds": "`warn_seconds` of [slurm]",
    "requeue": "`requeue` of [slurm]",
}
"""Where a study says what the fields of `SlurmOptions` say, if not under their names."""
SECRET = re.compile(r"TOKEN|KEY|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)


class JobSettings(Record):
    """Settings of jobs that hold for a study or for one family; the cluster's own defaults where neither says them."""

    partition: Word | None = None
    """Partition of the cluster."""
    account: Word | None = None
    """Account that the jobs are charged to."""
    qos: Word | None = None
    """Quality of service."""
    constraint: Word | None = None
    """Features that a node must have."""
    gres: Word | None = None
    """Generic resources as `sbatch` takes them (`gpu:a100:2`), where a number of `gpus` does not say enough; a study's
    are for the families that say neither."""
    cpus: Positive | None = None
    """Cores of a job."""
    extra: tuple[str, ...] = ()
    """Further options of `sbatch` that have no key here, each `--name` or `--name=value`; a family's stand after the
    study's."""
    modules: tuple[Word, ...] = ()
    """Environment modules to load."""
    container: tuple[str, ...] = ()
    """Words put before the command to enter a container: `["apptainer", "exec", "--nv", "image.sif"]`."""
    environment: dict[Annotated[str, pydantic.Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str] = pydantic.Field(
        default_factory=dict
    )
    """Environment variables of the jobs. They are written to files: no secrets."""

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
    """What one job of a family asks of the cluster; a job reads one cell, or all cells of one model in a grid."""

    gpus: Count = 0
    """GPUs of a job."""
    memory_gib: Annotated[Positive, unit("GiB")] = 4
    """Memory of a job."""
    hours: Annotated[float, pydantic.Field(gt=0), unit("hours")] = 1.0
    """Time limit of a job."""


class SlurmSettings(JobSettings):
    """The cluster on which models are asked; they are asked on this machine if the table is left out."""

    host: Host | None = None
    """Login node to reach over ssh without a password; if left out, this machine has Slurm's commands."""
    python: str | None = None
    """The environment's Python as the compute nodes see it; this one if left out."""
    throttle: Positive = 8
    """Most jobs of a grid that run at a time."""
    poll_seconds: Seconds = 10.0
    """Time between two queries to Slurm."""
    attempts: Positive = 3
    """How often a job is submitted that the cluster lost (a node that failed, preemption)."""
    requeue: bool = False
    """Whether Slurm itself may start a job again."""
    warn_seconds: Annotated[Positive, unit("seconds")] = 120
    """How long before its time limit a job is told to save what it has."""
    unknown_seconds: Seconds = 300.0
    """How long a job may be missing from Slurm's answers before it counts as lost."""
    exit_file_seconds: Seconds = 60.0
    """How long the shared disk may take to show what a job has written."""

    def for_family(self, resources: Resources) -> dict[str, Any]:
        """The settings of a family's jobs: its own, of which a number of `gpus` is its `gres`; else the study's."""
        own, general = resources.model_dump(), self.model_dump()
        names = JobSettings.model_fields
        chosen = {name: own[name] or general[name] for name in names}
        if resources.gpus and not resources.gres:
            chosen["gres"] = f"gpu:{resources.gpus}"
        chosen["extra"] = (*general["extra"], *own["extra"])
        chosen["environment"] = general["environment"] | own["environment"]
        return chosen
