"""A cell of drawn answers of a model on this machine, killed here or requeued by Slurm, ends with the same bytes."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from valuesassets.orchestration.partitions import cell_key
from valuesassets.records.jobs import read_job, write_job
from valuesassets.records.parquet import read_answers, read_readings
from valuesassets.records.settings.slurm import SlurmSettings
from valuesassets.records.study import load_study
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.orchestration.one_asset import failures, materialise
from valuesassets_tests.orchestration.run_again import run_again_here
from valuesassets_tests.orchestration.small_study import copied
from valuesassets_tests.slurm_runner.cluster import Cluster
from valuesassets_tests.tiny_models import sentencepiece_like, write_model
from valuesassets_tests.waiting import wait_until

FAMILY = """
[families.tiny]
kind = "huggingface"
model_type = "multi"
model_id = "{model}"
languages = ["eng"]
dtype = "float32"
draws = {{ n = 20, max_tokens = 16 }}

[preflight]
override = "an untrained model names no option"
"""
SLURM = SlurmSettings(poll_seconds=0.3, exit_file_seconds=20, requeue=True, environment={"PYTHONPATH": str(REPOSITORY)})
MOMENTS = (0, 1, 2, 3, 3)
"""Blocks of answers that are there when the job is killed, of four."""
CELL, FILE = cell_key("tiny", "eng"), "tiny/eng.parquet"
pytestmark = pytest.mark.slow


def copy_of(study: Path, folder: Path) -> Path:
    """A copy of the small study in which nothing of the family has been drawn."""
    shutil.copytree(study, folder, ignore=shutil.ignore_patterns("dagster", "known_readings"))
    for noun in ("readings", "drawn_texts"):
        shutil.rmtree(folder / "storage/small/survey" / noun / "tiny", ignore_errors=True)
    shutil.rmtree(folder / "storage/small/jobs/survey/readings/tiny", ignore_errors=True)
    return folder


def draw(folder: Path, slurm: SlurmSettings | None = None) -> None:
    study = load_study(str(folder / "small.toml")).model_copy(update={"slurm": slurm})
    assert failures(materialise(folder / "storage", study, ["readings"], CELL)) == []


def bytes_of(folder: Path) -> tuple[bytes, bytes]:
    """The texts and the readings of the cell."""
    survey = folder / "storage/small/survey"
    return (survey / "drawn_texts" / FILE).read_bytes(), (survey / "readings" / FILE).read_bytes()


def blocks_in(folder: Path) -> int:
    """The number of files of answers that are already kept."""
    return len(list(folder.rglob("*.answers.jsonl")))


@pytest.fixture(scope="module")
def undisturbed(small_study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    environment = copied(small_study, folder)
    model = write_model(folder / "model", sentencepiece_like(), num_hidden_layers=4)
    study = folder / "small.toml"
    study.write_text(study.read_text(encoding="utf-8") + FAMILY.format(model=model), encoding="utf-8")
    assert run_again_here(environment, ("weights", "preflight")) == []
    draw(folder)
    texts = read_answers(folder / "storage/small/survey/drawn_texts" / FILE)
    readings = read_readings(folder / "storage/small/survey/readings" / FILE)
    assert len(texts) == 20 * len(readings)
    return folder


def test_a_killed_job_draws_only_what_it_lacks_and_ends_with_the_same_bytes(undisturbed, tmp_path):
    job = read_job(undisturbed / "storage/small/jobs/survey/readings/tiny/eng/job.json")
    cell = job.cells[0].model_copy(update={"answers": tmp_path / "answers.parquet"})
    store = tmp_path / "known"
    write_job(tmp_path / "job.json", job.model_copy(update={"cells": (cell,), "known_readings": store}))
    command = [sys.executable, "-m", "valuesassets.node", str(tmp_path / "job.json")]
    for least in MOMENTS:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda least=least: blocks_in(store) >= least, every=0.005)
        process.kill()
        process.wait()
    assert not (tmp_path / "answers.parquet").exists()
    kept = {path.name: path.stat().st_mtime_ns for path in store.rglob("*.answers.jsonl")}
    subprocess.run(command, check=True, capture_output=True)
    after = {path.name: path.stat().st_mtime_ns for path in store.rglob("*.answers.jsonl")}
    assert kept.items() <= after.items()
    assert (tmp_path / "answers.parquet").read_bytes() == bytes_of(undisturbed)[0]


@pytest.mark.slurm
@pytest.mark.slurm_faults
@pytest.mark.group("slurm")
def test_a_cell_that_slurm_requeues_goes_on_and_ends_with_the_same_bytes(undisturbed, tmp_path, monkeypatch):
    folder = copy_of(undisturbed, tmp_path / "copy")
    with Cluster() as cluster:
        for name, value in cluster.environment.items():
            monkeypatch.setenv(name, value)
        run = threading.Thread(target=draw, args=(folder, SLURM))
        run.start()
        wait_until(lambda: blocks_in(folder) >= 1, every=0.01)
        [[_, number, task, *_]] = [job for job in cluster.jobs() if job[3] == "RUNNING"]
        cluster.ask("scontrol", "requeue", f"{number}_{task}")
        run.join()
        rounds = [job for job in cluster.jobs() if job[3] == "COMPLETED"]
    assert len(rounds) == 1
    assert os.path.exists(folder / "storage/small/survey/readings" / FILE)
    assert bytes_of(folder) == bytes_of(undisturbed)
