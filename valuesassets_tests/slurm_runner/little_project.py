"""A Dagster project that is not valuesassets: one asset, made by a Slurm job that speaks through Pipes."""

import sys
from pathlib import Path

import dagster as dg

from slurm_runner.commands import SlurmCommands
from slurm_runner.options import SlurmOptions
from slurm_runner.pipes import SlurmPipesClient, Take
from slurm_runner.submission import Task
from slurm_runner.watch import Watch

SPEAKER = Path(__file__).with_name("speaker.py")


def project(root: Path, told: str = "", take: Take | None = None) -> dg.Definitions:
    """The project; its job gets the words of `told`, and waits for `go` below `root` where they say so."""

    @dg.asset(check_specs=[dg.AssetCheckSpec("is_large", asset="rivers")])
    def rivers(context: dg.AssetExecutionContext, slurm: dg.ResourceParam[SlurmPipesClient]):
        done = slurm.run(
            context=context,
            task=Task([sys.executable, str(SPEAKER), str(root), *told.split()]),
            folder=root / "rivers",
            label="rivers",
            options=SlurmOptions(requeue=True),
            fingerprint="1",
            take=take,
            patience_seconds=3,
            extras={"unit": "km"},
        )
        return done.get_results()

    def watch(commands: SlurmCommands) -> Watch:
        return Watch(commands, exit_file_seconds=5, unknown_seconds=5)

    client = SlurmPipesClient(SlurmCommands(), root / "slurm", poll_seconds=0.2, attempts=2, watch=watch)
    return dg.Definitions(assets=[rivers], resources={"slurm": client})


def materialise(instance: dg.DagsterInstance, definitions: dg.Definitions) -> dg.ExecuteInProcessResult:
    """Materialise the asset in this process."""
    job = definitions.resolve_implicit_global_asset_job_def()
    return job.execute_in_process(instance=instance, raise_on_error=False)


if __name__ == "__main__":
    folder, told = Path(sys.argv[1]), " ".join(sys.argv[2:])
    with dg.DagsterInstance.local_temp(str(folder / "dagster")) as instance:
        materialise(instance, project(folder, told))
