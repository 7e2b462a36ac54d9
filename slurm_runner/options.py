"""What a job asks of Slurm."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from slurm_runner.errors import SlurmError


@dataclass(frozen=True)
class SlurmOptions:
    """Options of one submission; what is None is left to the cluster's defaults.

    Attributes:
        partition, account, qos, constraint, gres: as `sbatch` takes them (`gres`: `gpu:a100:2`).
        cpus: cores of a task.
        memory_mib: memory of a task's node, MiB.
        minutes: time limit.
        warn_seconds: how long before the limit the job is told (SIGTERM) to save what it has.
        requeue: whether Slurm may start the job again by itself after a node was lost.
        extra: further options of `sbatch`, each `--name` or `--name=value`.
        modules: environment modules to load.
        container: words that enter a container, put before the command (`apptainer exec --nv image.sif`).
        environment: variables of the job; of the submitter's own only PATH, HOME and the like are passed on.
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
    extra: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    container: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for option in self.extra:
            if not option.startswith("--") or "\n" in option:
                raise SlurmError(f"option of sbatch {option!r}: '--name' or '--name=value' was expected; mend it")
        if self.minutes is not None and self.minutes * 60 <= self.warn_seconds:
            raise SlurmError(
                f"a time limit of {self.minutes} min leaves no time before the warning at {self.warn_seconds} s; "
                "ask for more time or a shorter warning"
            )

    def directives(self) -> list[str]:
        """The options as `sbatch` takes them."""
        named = {
            "--partition": self.partition,
            "--account": self.account,
            "--qos": self.qos,
            "--constraint": self.constraint,
            "--gres": self.gres,
            "--cpus-per-task": self.cpus,
            "--mem": f"{self.memory_mib}M" if self.memory_mib is not None else None,
            "--time": self.minutes,
            "--signal": f"B:TERM@{self.warn_seconds}",
        }
        given = [f"{name}={value}" for name, value in named.items() if value is not None]
        return [*given, "--requeue" if self.requeue else "--no-requeue", *self.extra]
