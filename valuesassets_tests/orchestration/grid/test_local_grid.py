"""A grid that is read on this machine: its models are loaded once for all their cells, and nothing whole is lost."""

import contextlib
import multiprocessing
import os
import shutil
import signal
from pathlib import Path

import dagster as dg
import pytest

from slurm_runner.local import LocalRunner
from slurm_runner.options import SlurmOptions
from slurm_runner.submission import Task, prepare_submission
from slurm_runner.verdicts import Ending
from valuesassets.definitions import build_definitions
from valuesassets.desk.run_names import COMMAND_TAG
from valuesassets.orchestration.commands.run_study import QUIET
from valuesassets.orchestration.grid.cells import model_folder
from valuesassets.orchestration.grid.grid_cells import partition_of
from valuesassets.orchestration.grid.probe_grid import failed_cells
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import write_json
from valuesassets.records.parquet import read_readings, trial_rows, write_table
from valuesassets.records.study import load_study
from valuesassets.records.tables import TRIALS
from valuesassets_tests.preflights import verdict
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, trial, write_model
from valuesassets_tests.waiting import wait_until

READINGS = SURVEY.key("readings")


def run_grid(study, root, instance, config=QUIET):
    job = build_definitions(study, root).resolve_job_def("probe_grid")
    return job.execute_in_process(config, instance, tags={COMMAND_TAG: "test"}, raise_on_error=False)


def work(study, root, dagster):
    """What a run worker does, as a process of its own."""
    run_grid(study, root, dg.DagsterInstance.local_temp(dagster))


class LocalGrid:
    """A study of reference models that are not asked for their answers' sense, prepared up to its readings.

    Its instance is kept in memory, or in files where another process is to open it too.
    """

    def __init__(self, folder, study, n_trials=2, is_stored=False):
        self.study, self.root = study, folder / "storage"
        self.storage = Storage(root=str(self.root.absolute()), study=study.name)
        self.dagster = str(folder / "dagster")
        if is_stored:
            (folder / "dagster").mkdir()
            (folder / "dagster" / "dagster.yaml").touch()
        self.instance = dg.DagsterInstance.local_temp(self.dagster) if is_stored else dg.DagsterInstance.ephemeral()
        for language in study.languages:  # of other prompts: no cell knows another's readings
            asked = [trial(f"{PROMPTS[0]} {language} {n}", 4, f"v{n}/0/forward") for n in range(n_trials)]
            write_table(self.storage.path(SURVEY.key("trials"), language, "parquet"), trial_rows(asked), TRIALS)
        for seed, family in enumerate(study.families):
            model = write_model(folder / family, sentencepiece_like(), seed)
            write_json(self.storage.path(SURVEY.key("preflight"), family, "json"), verdict(study.languages))
            for language in study.languages:
                shutil.copytree(model, model_folder(study, self.storage, family, language), dirs_exist_ok=True)

    def read(self, *cells):
        """Run `probe_grid` as a command does that makes the rest itself; the failed cells, or {} where none is."""
        config = QUIET | {"ops": {"submit_gpu_partitions": {"config": {"cells": list(cells) or ["missing"]}}}}
        done = run_grid(self.study, self.root, self.instance, config)
        assert done.success != bool(failed_cells(done)), done.all_events
        return failed_cells(done)

    def logs(self):
        """What each process of the grid has printed."""
        return [path.read_text() for path in (self.root / self.study.name / "jobs").rglob("log.txt")]

    def read_cells(self):
        """The cells that are materialised, each as often as it was."""
        asked = self.instance.fetch_materializations(READINGS, limit=1000).records
        return sorted(record.partition_key for record in asked)

    def is_whole(self, cell):
        path = self.storage.path(READINGS, partition_of(SURVEY, cell), "parquet")
        return path.exists() and len(read_readings(path)) > 0


def of_families(name, *kept, languages=None):
    study = load_study(name)
    families = {family: study.families[family] for family in kept}
    spoken = {code: study.languages[code] for code in languages or study.languages}
    return study.model_copy(update={"families": families, "languages": spoken})


def loads(logs):
    return sum(line.startswith("loaded ") for log in logs for line in log.splitlines())


@pytest.mark.slow
def test_22_cells_of_one_model_are_one_process_and_one_load(tmp_path):
    grid = LocalGrid(tmp_path, of_families("demo_survey_22", "reference-multi"))
    assert grid.read() == {}
    assert len(grid.logs()) == loads(grid.logs()) == 1
    cells = SURVEY.cells(grid.study)
    assert len(cells) == 22
    assert all(map(grid.is_whole, cells))
    assert grid.read_cells() == sorted(str(partition_of(SURVEY, cell)) for cell in cells)
    assert grid.read() == {}
    assert len(grid.logs()) == 1


@pytest.mark.slow
def test_small_models_share_processes_and_a_cell_that_cannot_be_read_takes_no_other_with_it(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    study = of_families("demo_survey", "reference-mono", "reference-multi", languages=["eng", "fra", "deu"])
    grid = LocalGrid(tmp_path, study)
    broken = model_folder(study, grid.storage, "reference-mono", "fra") / "model.safetensors"
    broken.write_bytes(broken.read_bytes()[:100])
    failed = grid.read()
    assert list(failed) == ["reference-mono/fra"]
    assert "model.safetensors" in failed["reference-mono/fra"]
    assert len(grid.logs()) == 2
    assert loads(grid.logs()) == 3
    assert len(grid.read_cells()) == 5
    commands = [path.read_text() for path in grid.root.rglob("command.sh")]
    assert all("export OMP_NUM_THREADS=1" in command for command in commands)
    shutil.copy(model_folder(study, grid.storage, "reference-mono", "eng") / "model.safetensors", broken)
    assert grid.read() == {}
    assert len(grid.read_cells()) == 6


@pytest.mark.slow
def test_a_cancelled_grid_ends_its_processes_and_the_next_reads_the_rest(tmp_path):
    grid = LocalGrid(tmp_path, of_families("demo_survey_22", "reference-multi"), n_trials=1200, is_stored=True)
    worker = multiprocessing.get_context("spawn").Process(target=work, args=(grid.study, grid.root, grid.dagster))
    worker.start()
    wait_until(lambda: len(grid.read_cells()) >= 2, 300, said=lambda: grid.logs())
    [run] = grid.instance.get_runs()
    grid.instance.report_run_canceling(run)
    os.kill(worker.pid, signal.SIGINT)
    worker.join()
    assert grid.instance.get_run_by_id(run.run_id).status is dg.DagsterRunStatus.CANCELED
    assert not running_below(tmp_path)
    before = grid.read_cells()
    assert len(before) == len({*before}) < 22
    assert grid.read() == {}
    assert len(grid.read_cells()) == len({*grid.read_cells()}) == 22


def running_below(folder):
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            found += [entry.name] if str(folder) in os.readlink(entry / "cwd") else []
    return found


@pytest.fixture
def runner():
    runner = LocalRunner(places=2)
    yield runner
    runner.close()


def prepared(folder, *commands):
    tasks = [Task(["sh", "-c", command]) for command in commands]
    return prepare_submission(folder, "test", tasks, SlurmOptions())


def test_no_more_processes_than_places_and_each_says_how_it_ended(tmp_path, runner):
    count = "touch ../../$$.on; ls ../../*.on | wc -l > most; sleep .3; rm ../../$$.on"
    submission = runner.submit(prepared(tmp_path, count, count, count, "echo no; exit 3", "kill -9 $$"), print)
    runner.add(submission, range(5))
    ended = {}

    def all_ended():
        ended.update(runner.tick())
        return len(ended) == 5

    wait_until(all_ended, every=0.02)
    assert max(int(path.read_text()) for path in submission.folder.rglob("most")) == 2
    verdicts = [ended[submission.uuid, index].verdict for index in range(5)]
    assert [verdict.ending for verdict in verdicts] == [Ending.DONE] * 3 + [Ending.FAILED] * 2
    assert "exit status 3" in verdicts[3].reason
    assert "SIGKILL" in verdicts[4].reason
    assert submission.log(3).read_text() == "no\n"
    assert not list(runner.open_reports())


def test_who_waits_is_left_out_and_who_runs_is_ended(tmp_path, runner):
    submission = runner.submit(prepared(tmp_path, *["exec sleep 60"] * 4), print)
    runner.add(submission, range(4))
    runner.tick()
    wait_until(lambda: len(running_below(tmp_path)) == 2)
    assert [report.state for _, report in runner.open_reports()] == ["RUNNING", "RUNNING", "WAITING", "WAITING"]
    runner.cancel(submission, [0, 2])
    assert [key[1] for key, _ in runner.open_reports()] == [1, 3]
    runner.close()
    assert not running_below(tmp_path)


@pytest.mark.slow
def test_cells_that_their_preflight_leaves_out_stay_missing_and_the_others_are_read(tmp_path):
    grid = LocalGrid(tmp_path, of_families("demo_survey", "reference-multi", languages=["eng", "fra", "deu"]))
    path = grid.storage.path(SURVEY.key("preflight"), "reference-multi", "json")
    write_json(path, verdict(["eng", "deu"], {"fra": "median P_valid 0.07 (>= 0.2 wanted)"}))
    assert grid.read() == {}
    assert {cell.part.name for cell in SURVEY.cells(grid.study) if grid.is_whole(cell)} == {"deu", "eng"}
    planned = grid.instance.event_log_storage.get_latest_planned_materialization_info
    tried = {cell.part.name for cell in SURVEY.cells(grid.study) if planned(READINGS, partition_of(SURVEY, cell))}
    assert tried == {"deu", "eng"}  # what is left out does not turn red
    write_json(path, verdict(["eng", "deu", "fra"]))  # mended, and looked at again
    assert grid.read() == {}
    assert len(grid.read_cells()) == 3
