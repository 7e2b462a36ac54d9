"""Slurm for node jobs: options of a family's jobs, the folder of submissions, and the scripts of a whole grid."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg

from slurm_runner.commands import SlurmCommands
from slurm_runner.errors import SlurmError
from slurm_runner.options import SlurmOptions
from slurm_runner.script import render_batch_script, render_command
from slurm_runner.watch import Watch
from valuesassets.orchestration.grid.cells import cache_variables, model_label
from valuesassets.orchestration.instruments import instruments_of
from valuesassets.orchestration.resources import Storage
from valuesassets.records.errors import JobError
from valuesassets.records.processes import python_module
from valuesassets.records.settings.slurm import Resources, SlurmSettings
from valuesassets.records.study import Study

T = TypeVar("T")
Asked = TypeVar("Asked")
NODE, JOB = "valuesassets.node", "job.json"


def slurm_watch(settings: SlurmSettings) -> Watch:
    """A watch on Slurm, here or on the study's login node, with the study's time limits."""
    patience = settings.exit_file_seconds, settings.unknown_seconds, settings.poll_seconds, settings.attempts
    return Watch(SlurmCommands(settings.host), *patience)


def slurm_root(storage: Storage) -> Path:
    """The folder of submissions."""
    return storage.folder.absolute() / "slurm"


def slurm_options(study: Study, storage: Storage, family: str | None) -> SlurmOptions:
    """The Slurm options of a family's jobs, or of a job without a family; JobError where options contradict each
    other."""
    settings = study.slurm or SlurmSettings()
    resources = study.families[family].resources if family else Resources()
    chosen: dict[str, Any] = settings.for_family(resources)
    cache = cache_variables(storage, family, chosen["environment"]) if family else {}
    fixed = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", "PYTHONUNBUFFERED": "1"}
    try:
        memory, minutes = resources.memory_gib * 1024, max(1, round(resources.hours * 60))
        manners = settings.model_dump(include={"warn_seconds", "requeue", "throttle"})
        chosen |= manners | {"environment": cache | fixed | chosen["environment"]}
        return SlurmOptions(**chosen, memory_mib=memory, minutes=minutes)
    except SlurmError as error:
        of_family = f", family {family}" if family else ""
        raise JobError(f"study {study.name}{of_family}: {error}") from None


def job_label(study: Study, asset: dg.AssetKey) -> str:
    """The label of a job in `squeue`."""
    return "-".join([study.name, *asset.path])


def alike(things: Iterable[T], request_of: Callable[[T], Asked]) -> list[tuple[Asked, list[T]]]:
    """Groups of things with the same request, such as the same Slurm options or model, in order."""
    groups: dict[str, tuple[Asked, list[T]]] = {}
    for thing in things:
        request = request_of(thing)
        groups.setdefault(repr(request), (request, []))[1].append(thing)
    return list(groups.values())


def grid_scripts(study: Study, storage_root: Path) -> list[str]:
    """The batch scripts of the whole grid, each with the command of its first task; JobError where the study does not
    run on Slurm, or its options contradict each other."""
    if study.slurm is None:
        raise JobError(f"study {study.name}: has no [slurm] table, so its models are run here; see docs/slurm.md")
    storage, texts = Storage(root=str(storage_root.absolute()), study=study.name), []
    folder = slurm_root(storage) / "UUID"
    groups = alike(study.families, partial(slurm_options, study, storage))
    for instrument in instruments_of(study):
        for options, families in groups:
            cells = [cell for cell in instrument.cells(study) if cell.family in families]
            n_tasks = len({model_label(study, storage, cell.family, cell.language) for cell in cells})
            name = f"{job_label(study, instrument.key('readings'))}-UUID"
            texts += [
                f"# {', '.join(families)}: {len(cells)} cells of {n_tasks} models",
                render_batch_script(name, "UUID", folder, n_tasks, options),
                "# The command of the first task:",
                render_command(python_module(NODE, f"{folder}/0/{JOB}", python=study.slurm.python), options),
            ]
    return texts
