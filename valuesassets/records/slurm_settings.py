"""What a study asks of Slurm: how the cluster is reached, and what a job of a model family needs."""

import re
from typing import Annotated, Any

import pydantic

from slurm_runner.options import TAKEN, is_one_option, taken_option

Count = Annotated[int, pydantic.Field(ge=0)]
Positive = Annotated[int, pydantic.Field(gt=0)]
Word = Annotated[str, pydantic.Field(pattern=r"^[^\s\"'\\]+$")]
KEYS = {
    "memory_mib": "a family's `memory_gib`",
    "minutes": "a family's `hours`",
    "warn_seconds": "`warn_seconds` of [slurm]",
    "requeue": "`requeue` of [slurm]",
}
"""Where a study says what the fields of `SlurmOptions` say, if not under their names."""
SECRET = re.compile(r"TOKEN|KEY|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)


class JobSettings(pydantic.BaseModel):
    """What may be said for all jobs of a study, and otherwise for those of a family; else the cluster's defaults."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    partition: Word | None = None
    account: Word | None = None
    qos: Word | None = None
    constraint: Word | None = None
    gres: Word | None = None
    """Generic resources as `sbatch` takes them (`gpu:a100:2`), where a number of `gpus` does not say enough; a study's
    are for the families that say neither."""
    cpus: Positive | None = None
    """Cores of a job."""
    extra: tuple[str, ...] = ()
    """Options of `sbatch` that no key says, each `--name` or `--name=value`; a family's stand after the study's."""
    modules: tuple[Word, ...] = ()
    """Environment modules to load."""
    container: tuple[str, ...] = ()
    """Words that enter a container, put before the command: ["apptainer", "exec", "--nv", "image.sif"]."""
    environment: dict[Annotated[str, pydantic.Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], str] = {}
    """Variables of the jobs. They are written to files: no secrets."""

    @pydantic.model_validator(mode="after")
    def _can_be_sent(self) -> "JobSettings":
        for option in self.extra:
            if not is_one_option(option):
                raise ValueError(
                    f"extra holds {option!r}; write an option of sbatch as '--name' or '--name=value', in quotes where "
                    "there are blanks"
                )
            if name := taken_option(option):
                field = TAKEN[name]
                instead = f"say it as {KEYS.get(field, f'`{field}`')}" if field else "leave it out"
                raise ValueError(f"extra holds {option!r}, and {name} is set for every job already; {instead}")
        for name in self.environment:
            if SECRET.search(name):
                raise ValueError(
                    f"environment names {name}, which looks like a secret, and a job's script is a file; leave it out: "
                    "weights are fetched before the jobs start, which ask nobody for anything"
                )
        return self


class Resources(JobSettings):
    """What one job of a family asks for: one cell, or all cells of one model where the grid is submitted at once."""

    gpus: Count = 0
    memory_gib: Positive = 4
    hours: Annotated[float, pydantic.Field(gt=0)] = 1.0


class SlurmSettings(JobSettings):
    """That a study's models are asked on Slurm, and how."""

    host: Word | None = None
    """A login node to reach over ssh without a password; this machine has Slurm's commands where not given."""
    python: str | None = None
    """The environment's Python as the compute nodes see it; this one where not given."""
    throttle: Positive = 8
    """Most jobs of the grid at a time."""
    poll_seconds: Annotated[float, pydantic.Field(gt=0)] = 10.0
    """Between two queries to Slurm."""
    attempts: Positive = 3
    """How often a job is submitted that the cluster lost (node, preemption)."""
    requeue: bool = False
    """Whether Slurm itself may start a job again."""
    warn_seconds: Positive = 120
    """How long before its time limit a job is told to save what it has."""
    unknown_seconds: Annotated[float, pydantic.Field(gt=0)] = 300.0
    """How long a job may be found nowhere before it counts as lost."""
    exit_file_seconds: Annotated[float, pydantic.Field(gt=0)] = 60.0
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
