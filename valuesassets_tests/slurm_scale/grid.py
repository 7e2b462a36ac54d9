"""44 cells of reference models on a cluster: through `probe_grid`, and one by one through a backfill in the UI."""

import re
import shutil
import time
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg

from slurm_runner.files import tail
from slurm_runner.watch import Watch
from valuesassets.definitions import build_definitions
from valuesassets.orchestration.commands.run_study import QUIET, waves
from valuesassets.orchestration.grid import grid_run
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.partitions import cell_key, cell_partitions
from valuesassets.records.study import Study, load_study, study_path
from valuesassets_tests.desk.web_ui import ask_graphql, launch_backfill, serving
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.small_study import study_environment
from valuesassets_tests.slurm_runner.cluster import Cluster
from valuesassets_tests.waiting import wait_until

SLURM = """
[preflight]
questions = 2
override = "models of few training steps: what is measured is how the grid is read"

[slurm]
poll_seconds = 2
throttle = 12
"""
READINGS = SURVEY.key("readings")
FEW = 4
LOADED = re.compile(r"^loaded (\S+)", re.MULTILINE)


def write_grid_study(folder: Path) -> Path:
    """`demo_survey_22` on Slurm, a fake GPU for each job, its models trained for a few steps only."""
    text = study_path("demo_survey_22").read_text(encoding="utf-8").replace("steps = 300", "steps = 2")
    text = text.replace('dtype = "float32"', 'dtype = "float32"\nresources = { gpus = 1, memory_gib = 2 }')
    path = folder / "grid.toml"
    path.write_text(text.replace('name = "demo_survey_22"', 'name = "grid"') + SLURM, encoding="utf-8")
    return path


def measure_grid(folder: Path, cluster: Cluster) -> dict[str, Any]:
    """Read 44 cells in both ways; wall times in seconds, Slurm commands per minute, loads of models."""
    study_file = write_grid_study(folder)
    environment = study_environment(folder, study_file) | cluster.environment
    study, storage = load_study(str(study_file)), folder / "storage"
    definitions = build_definitions(study, storage)
    with dg.DagsterInstance.from_config(str(REPOSITORY)) as instance:
        _materialise_inputs(definitions, instance)
        commands, seconds = _counted_grid(definitions, instance, ["all"])
        at_once = _facts(study, instance, storage)
        shutil.rmtree(storage / "known_readings")
        few = [f"{family}/{language}" for family, language in study.cells()][:: len(study.cells()) // FEW][:FEW]
        commands_of_few, seconds_of_few = _counted_grid(definitions, instance, few)
    shutil.rmtree(storage / "known_readings")
    with serving(environment, folder / "ui.log") as address:
        started = time.monotonic()
        _backfill(address, study, folder / "ui.log")
        one_by_one = time.monotonic() - started
    return at_once | {
        "probe_grid_seconds": round(seconds, 1),
        "commands": commands,
        "commands_per_minute": round(60 * commands / seconds, 1),
        f"commands_per_minute_of_{FEW}_cells": round(60 * commands_of_few / seconds_of_few, 1),
        "backfill_seconds": round(one_by_one, 1),
        "times_as_long": round(one_by_one / seconds, 2),
    }


def _materialise_inputs(definitions: dg.Definitions, instance: dg.DagsterInstance) -> None:
    """Everything above the readings."""
    job = definitions.resolve_implicit_global_asset_job_def()
    wanted = {"questionnaire_pdf", "extracted_questions", "master_questions", "aligned_questions", "trials"}
    wanted |= {"weights", "reference_models", "preflight"}
    for wave in waves(definitions.get_repository_def().asset_graph):
        keys = [key for key in wave.keys if key.path[-1] in wanted]
        for partition in wave.partitions if keys else []:
            job.execute_in_process(run_config=QUIET, instance=instance, partition_key=partition, asset_selection=keys)


def _counted_grid(definitions: dg.Definitions, instance: dg.DagsterInstance, cells: list[str]) -> tuple[int, float]:
    """Run `probe_grid`: Slurm commands and seconds that it took."""
    asked: list[Watch] = []
    make = grid_run.slurm_watch

    def kept(settings: Any) -> Watch:
        asked.append(make(settings))
        return asked[-1]

    grid_run.slurm_watch = kept
    try:
        started = time.monotonic()
        job = definitions.resolve_job_def("probe_grid")
        config = QUIET | {"ops": {"submit_gpu_partitions": {"config": {"cells": cells}}}}
        job.execute_in_process(run_config=config, instance=instance)
        return asked[0].commands.count, time.monotonic() - started
    finally:
        grid_run.slurm_watch = make


def _facts(study: Study, instance: dg.DagsterInstance, storage: Path) -> dict[str, Any]:
    keys = [str(cell_key(*cell)) for cell in study.cells()]
    status = instance.get_status_by_partition(READINGS, keys, cell_partitions(study, SURVEY)) or {}
    loads: dict[str, int] = {}
    for script in (storage / "grid" / "slurm").glob("*/batch.sh"):
        if "-readings-" not in script.read_text():
            continue
        for log in script.parent.glob("*/log.txt"):
            for model in LOADED.findall(log.read_text()):
                loads[model] = loads.get(model, 0) + 1
    return {
        "cells": len(keys),
        "cells_whole": sum(found is not None and found.value == "MATERIALIZED" for found in status.values()),
        "models": len(loads),
        "most_loads_of_a_model": max(loads.values(), default=0),
    }


def _backfill(address: str, study: Study, log: Path) -> None:
    """Backfill every cell, a run for each, and wait for the last."""
    backfill = launch_backfill(address, READINGS, [str(cell_key(*cell)) for cell in study.cells()])
    asked = "query ($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }"

    def status() -> str:
        return ask_graphql(address, asked, id=backfill)["partitionBackfillOrError"]["status"]

    ended = ("COMPLETED_SUCCESS", "COMPLETED_FAILED", "FAILED")
    wait_until(lambda: status() in ended, 3600, every=1, said=partial(tail, log))
    assert status() == "COMPLETED_SUCCESS", log.read_text(errors="replace")[-3000:]
