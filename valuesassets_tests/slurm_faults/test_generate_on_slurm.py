"""A job that lets a model write, requeued by Slurm in the middle, ends with the bytes of one that was left alone."""

import threading

import dagster as dg
import pytest

from valuesassets.node.job_process import main
from valuesassets.orchestration.grid.node_jobs import run_node_job
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.resources import Storage
from valuesassets.records.jobs import GenerateCell, GenerateJob
from valuesassets.records.settings.slurm import SlurmSettings
from valuesassets.records.study import load_study
from valuesassets_tests.models.writers import asked
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.node.node_jobs import generate_job
from valuesassets_tests.slurm_faults.clusters import Clusters
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, write_model
from valuesassets_tests.waiting import wait_until

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.slurm_faults, pytest.mark.group("slurm faults")]
SLURM = SlurmSettings(poll_seconds=0.3, exit_file_seconds=20, requeue=True, environment={"PYTHONPATH": str(REPOSITORY)})
MANY = [
    asked(f"{n}. {prompt}", f"q{n}/{k}", max_tokens=24, samples=4)
    for n in range(130)
    for k, prompt in enumerate(PROMPTS)
]
"""Three blocks and more."""


def test_a_generate_job_that_slurm_requeues_goes_on_from_its_blocks_and_ends_with_the_same_bytes(tmp_path):
    model = write_model(tmp_path / "model", sentencepiece_like(), num_hidden_layers=4)
    (tmp_path / "whole").mkdir()
    assert main([generate_job(tmp_path / "whole", model, asked=MANY)]) == 0
    study = load_study("demo_survey").model_copy(update={"slurm": SLURM})
    storage = Storage(root=str(tmp_path / "storage"), study="demo")
    answers, known = tmp_path / "answers.parquet", tmp_path / "known"
    cell = GenerateCell(name="a/eng", model=str(model), trials=tmp_path / "whole/trials.parquet", answers=answers)
    job = GenerateJob(cells=(cell,), known_readings=known, dtype="float32", device="cpu")
    results = []

    @dg.asset(key_prefix=SURVEY.name, name="sampled_answers")
    def asset(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
        log = run_node_job(context, job, study, storage, "reference-mono")
        return dg.MaterializeResult(metadata={"log": str(log)})

    def blocks():
        return len(list(known.rglob("*.answers.jsonl")))

    with Clusters() as clusters, dg.instance_for_test() as instance:
        cluster = clusters.get("plain")
        run = threading.Thread(target=lambda: results.append(dg.materialize([asset], instance=instance)))
        run.start()
        wait_until(lambda: blocks() >= 1, every=0.01)
        [[_, number, task, *_]] = cluster.jobs()
        cluster.ask("scontrol", "requeue", f"{number}_{task}")
        before = blocks()
        run.join()
    assert results[0].success
    assert before < 4
    assert answers.read_bytes() == (tmp_path / "whole/0.parquet").read_bytes()
