"""Cells of a real graph on a real cluster, whose node program is a stand-in that can be told to misbehave."""

import contextlib
import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from valuesassets.definitions import build_definitions
from valuesassets.orchestration.commands.run_study import QUIET
from valuesassets.orchestration.grid.cells import readings_job
from valuesassets.orchestration.grid.grid_cells import partition_of
from valuesassets.orchestration.grid.node_jobs import run_node_job
from valuesassets.orchestration.instruments import MODELS, SURVEY
from valuesassets.orchestration.partitions import cell_key, cell_partitions
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import write_json
from valuesassets.records.parquet import reading_rows, trial_rows, write_table
from valuesassets.records.settings.cells import Language
from valuesassets.records.study import Cell, Part, load_study
from valuesassets.records.tables import READINGS as READINGS_SCHEMA
from valuesassets.records.tables import TRIALS as TRIALS_SCHEMA
from valuesassets.records.trials import Reading, Status
from valuesassets_tests.preflights import verdict
from valuesassets_tests.slurm_runner.cluster import Cluster
from valuesassets_tests.tiny_models import PROMPTS, trial
from valuesassets_tests.waiting import wait_until

WEIGHTS = MODELS.key("weights")
PREFLIGHT, READINGS, TRIALS, REFERENCE_MODELS = map(SURVEY.key, ("preflight", "readings", "trials", "reference_models"))
ENGLISH = Part("eng", "eng")
STUB = Path(__file__).with_name("stub_node.py")
SETTINGS = {"poll_seconds": 0.3, "exit_file_seconds": 4, "unknown_seconds": 6, "warn_seconds": 20}
NO_COMPUTE_LOGS = """\
compute_logs:
  module: dagster._core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager
"""
"""Two runs in one process would take each other's standard output, and keep it."""
FAMILIES = ("reference-mono", "reference-multi")
STUDY = """\
name = "bench"
title = "Cells that are hurt"
seed = 1

[questionnaires]
source = "bundled"

[families.reference-mono]
kind = "reference"
model_type = "mono"

[families.reference-multi]
kind = "reference"
model_type = "multi"
"""


def evs_languages() -> dict[str, Language]:
    """The 22 languages of the full study."""
    return load_study("evs2017").languages


@dataclass
class Outcome:
    """What a run showed its user."""

    is_success: bool
    said: str


class CellBench:
    """A study of two families below a folder; its `readings` go to the cluster.

    Args:
        resources: of both families, as TOML.
        languages: of the study.
        settings: of `[slurm]`, as TOML values.
    """

    def __init__(
        self,
        folder: Path,
        cluster: Cluster,
        resources: str = "gpus = 1",
        languages: Sequence[str] = ("eng", "fra"),
        **settings: object,
    ) -> None:
        self.cluster, self.folder, self.plan, self.languages = cluster, folder, folder / "plan", languages
        python = folder / "python"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E {STUB} "$@"\n')
        python.chmod(0o755)
        slurm = SETTINGS | {"python": str(python)} | settings
        lines = [f"{key} = {json.dumps(value)}" for key, value in slurm.items()]
        lines.append(f'environment = {{ PLAN = "{self.plan}" }}')
        asked, known = STUDY.replace("model_type", f"resources = {{ {resources} }}\nmodel_type"), evs_languages()
        spoken = [
            f'[languages.{code}]\nname = "{known[code].name}"\ncountry = "{known[code].country}"\n'
            f'zone = "{known[code].zone}"\n'
            for code in languages
        ]
        text = "\n".join([asked, *spoken, "[slurm]", *lines])
        self.study_file = folder / "bench.toml"
        self.study_file.write_text(text)
        self.storage_root = folder / "storage"
        (folder / "dagster").mkdir()
        (folder / "dagster" / "dagster.yaml").write_text(NO_COMPUTE_LOGS)
        self.instance = dg.DagsterInstance.local_temp(str(folder / "dagster"))
        self._prepare()
        self.behave()

    def load(self) -> dg.Definitions:
        """The graph, as the study file says now."""
        return build_definitions(load_study(str(self.study_file)), self.storage_root)

    def change(self, old: str, new: str) -> None:
        """Mend the study file."""
        text = self.study_file.read_text()
        assert old in text
        self.study_file.write_text(text.replace(old, new))

    def behave(self, **told: object) -> None:
        """Tell the stand-in what to do; it waits for `go` all the same."""
        (self.plan / "released").unlink(missing_ok=True)
        write_json(self.plan / "behaviour.json", told)

    def go(self) -> None:
        """Let the stand-in go on, and those to come."""
        (self.plan / "go").touch()

    def release(self) -> None:
        """Let the stand-in go on with the parts that it was told to hold."""
        (self.plan / "released").touch()

    def wait(self) -> None:
        """Let those to come wait."""
        (self.plan / "go").unlink(missing_ok=True)

    def noted(self, name: str) -> list[str]:
        """`<job>_<task> <node>` of each time that the stand-in came so far: starts, stops, ends."""
        path = self.plan / name
        return path.read_text().splitlines() if path.exists() else []

    def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds."""
        wait_until(holds, said=lambda: f"{self.noted('starts')}, {self.said_so_far()}")

    def until_started(self, n: int = 1) -> None:
        """Wait until the stand-in was started so often."""
        self.until(lambda: len(self.noted("starts")) >= n)

    def read(self, language: str = "eng", family: str = "reference-mono") -> Outcome:
        """Materialise a cell in this process."""
        job = self.load().resolve_implicit_global_asset_job_def()
        key = cell_key(family, language)
        result = job.execute_in_process(
            run_config=QUIET,
            instance=self.instance,
            partition_key=str(key),
            asset_selection=[READINGS],
            raise_on_error=False,
        )
        return _outcome(result)

    def read_for_another_instrument(self) -> Outcome:
        """Materialise the readings of another instrument for the same family and part."""
        study, storage, cell = load_study(str(self.study_file)), self._storage(), Cell("reference-mono", ENGLISH)

        @dg.asset(key_prefix="tasks", partitions_def=cell_partitions(study, SURVEY))
        def readings(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
            job = readings_job(study, storage, SURVEY, cell)
            read = storage.path(context.asset_key, context.partition_key, "parquet").absolute()
            job = job.model_copy(update={"cells": (job.cells[0].model_copy(update={"readings": read}),)})
            run_node_job(context, job, study, storage, cell.family)
            return dg.MaterializeResult()

        key = partition_of(SURVEY, cell)
        return _outcome(dg.materialize([readings], QUIET, self.instance, None, key, raise_on_error=False))

    def read_grid(self, *cells: str) -> Outcome:
        """Run `probe_grid` in this process."""
        job = self.load().resolve_job_def("probe_grid")
        config = QUIET | {"ops": {"submit_gpu_partitions": {"config": {"cells": list(cells) or ["missing"]}}}}
        result = job.execute_in_process(instance=self.instance, run_config=config, raise_on_error=False)
        return _outcome(result)

    @contextlib.contextmanager
    def reading(self, call: Callable[[], Outcome] | None = None) -> Iterator[list[Outcome]]:
        """Materialise a cell while the block hurts it; the outcome is in the list afterwards."""
        outcomes: list[Outcome] = []
        thread = threading.Thread(target=lambda: outcomes.append((call or self.read)()), daemon=True)
        thread.start()
        yield outcomes
        thread.join(300)
        assert outcomes, f"the run has not ended: {self.said_so_far()}"

    def said_so_far(self) -> str:
        """The log lines of the latest run."""
        runs = self.instance.get_runs(limit=1)
        return "\n".join(_lines(self.instance, runs[0].run_id)) if runs else ""

    def has_said(self, words: str) -> bool:
        """Whether the log of any run says so."""
        return any(words in line for run in self.instance.get_runs() for line in _lines(self.instance, run.run_id))

    def materialised(self, language: str = "eng", family: str = "reference-mono") -> int:
        """How often a cell was materialised."""
        asked = dg.AssetRecordsFilter(READINGS, asset_partitions=[str(cell_key(family, language))])
        return len(self.instance.fetch_materializations(asked, limit=1000).records)

    def is_right(self, language: str = "eng", family: str = "reference-mono") -> bool:
        """Whether a cell's file is what the stand-in had to give."""
        path = self._storage().path(READINGS, cell_key(family, language), "parquet")
        given = self.plan / "readings" / family / f"{language}.parquet"
        return path.exists() and path.read_bytes() == given.read_bytes()

    def report_inputs(self, instance: dg.DagsterInstance) -> None:
        """Let an instance know that what the cells are read from is there."""
        instance.report_runless_asset_event(dg.AssetMaterialization(REFERENCE_MODELS))
        for family in FAMILIES:
            for key in (WEIGHTS, PREFLIGHT):
                instance.report_runless_asset_event(dg.AssetMaterialization(key, partition=family))
        for language in self.languages:
            instance.report_runless_asset_event(dg.AssetMaterialization(TRIALS, partition=language))

    def job_ids(self) -> set[str]:
        """Ids of the jobs that were ever started or are still known."""
        return {line.split("_")[0] for line in self.noted("starts")}

    def _storage(self) -> Storage:
        return Storage(root=str(self.storage_root.absolute()), study="bench")

    def _prepare(self) -> None:
        storage, asked = self._storage(), [trial(prompt, 4, f"v{n}/0/forward") for n, prompt in enumerate(PROMPTS)]
        described = {"batch_invariance": {"agrees": True, "trials": 2}, "tokenizer_report": {}, "model": "stand-in"}
        for language in self.languages:
            write_table(storage.path(TRIALS, language, "parquet"), trial_rows(asked), TRIALS_SCHEMA)
        for family in FAMILIES:
            write_json(storage.path(PREFLIGHT, family, "json"), verdict(self.languages))
            for language in self.languages:
                path = self.plan / "readings" / family / f"{language}.parquet"
                write_table(path, reading_rows([_reading(t.trial_id) for t in asked]), READINGS_SCHEMA, described)


def _reading(trial_id: str) -> Reading:
    return Reading(
        trial_id=trial_id,
        label_probs=(0.1, 0.2, 0.3, 0.2),
        label_tokens=(1, 1, 1, 1),
        p_valid=0.8,
        resolution_mass=1.0,
        resolution_mass_min=1.0,
        outside=(),
        status=Status.OK,
        reason=None,
        reading_key="0" * 64,
    )


def _outcome(result: dg.ExecuteInProcessResult) -> Outcome:
    for event in result.all_events:
        if event.is_step_failure:
            failure = event.step_failure_data
            said = failure.user_failure_data.description if failure.user_failure_data else None
            return Outcome(False, said or str(failure.error))
    return Outcome(result.success, "materialised")


def _lines(instance: dg.DagsterInstance, run_id: str) -> list[str]:
    return [entry.user_message for entry in instance.all_logs(run_id) if not entry.is_dagster_event]
