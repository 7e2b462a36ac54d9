"""Every job but the fetching of weights travels to the cluster: training, answers, readings of controls, embedding."""

import dagster as dg
import numpy as np
import pytest

from valuesassets.models.embedding import embed_texts
from valuesassets.models.fetching import fetch_embedder
from valuesassets.orchestration.grid.node_jobs import run_node_job
from valuesassets.orchestration.grid.on_slurm import slurm_root
from valuesassets.orchestration.instruments import SURVEY
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import read_json, write_json
from valuesassets.records.jobs import (
    EmbedJob,
    PhantomPlan,
    SampleCell,
    SampleJob,
    ScoreCell,
    ScoreJob,
    TrainReferenceJob,
)
from valuesassets.records.parquet import read_readings, read_table, trial_rows, write_table
from valuesassets.records.settings.slurm import SlurmSettings
from valuesassets.records.study import load_study
from valuesassets.records.tables import PLANTED_TEXTS, SAMPLED_ANSWERS, TRIALS
from valuesassets_tests.models.tiny_embedder import save_embedder
from valuesassets_tests.needs import REPOSITORY
from valuesassets_tests.slurm_faults.clusters import Clusters
from valuesassets_tests.tiny_models import PROMPTS, trial

pytestmark = [pytest.mark.slurm, pytest.mark.slow, pytest.mark.slurm_faults]
SLURM = SlurmSettings(poll_seconds=0.3, exit_file_seconds=20, environment={"PYTHONPATH": str(REPOSITORY)})


def test_a_model_is_trained_and_answers_on_the_cluster_and_texts_become_vectors_there(tmp_path):
    study = load_study("demo_survey").model_copy(update={"slurm": SLURM})
    storage = Storage(root=str(tmp_path / "storage"), study="demo")
    asked = trial(PROMPTS[0], 2, "v1/0/forward")
    trials, answers = tmp_path / "trials.parquet", tmp_path / "answers.parquet"
    planted, summary, model = tmp_path / "planted.parquet", tmp_path / "summary.json", tmp_path / "models" / "eng"
    rows = [
        {"trial_id": asked.trial_id, "language": "eng", "prompt": asked.prompt, "answer_text": text, "prob": prob}
        for text, prob in (("1", 0.75), ("2", 0.25))
    ]
    write_table(planted, rows, PLANTED_TEXTS)
    write_table(trials, trial_rows([asked]), TRIALS)
    plan = PhantomPlan(planted_texts=planted, languages=("eng",), folder=model)
    cell = SampleCell(name="a/eng", model=str(model), trials=trials, answers=answers)
    controls = [
        ScoreCell(name=name, model=str(model), trials=trials, readings=tmp_path / "controls" / f"eng.by.{name}.parquet")
        for name in ("fra", "deu")
    ]
    texts, vectors = tmp_path / "texts.json", tmp_path / "vectors.npy"
    write_json(texts, PROMPTS)
    embedder = fetch_embedder(str(save_embedder(tmp_path / "embedder", PROMPTS)))
    jobs = {
        "reference_models": TrainReferenceJob(phantoms=(plan,), steps=3, seed=1, summary=summary),
        "sampled_answers": SampleJob(cells=(cell,), n=4, seed=1),
        "negative_controls": ScoreJob(cells=tuple(controls), known_readings=storage.known_readings, dtype="float32"),
        "aligned_questions": EmbedJob(model=embedder, texts=texts, vectors=vectors),
    }
    families = {"aligned_questions": None}  # an embedder is no family's

    def sent(name):
        @dg.asset(key_prefix=SURVEY.name, name=name)
        def asset(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
            log = run_node_job(context, jobs[name], study, storage, families.get(name, "reference-mono"))
            return dg.MaterializeResult(metadata={"log": str(log)})

        return asset

    with Clusters() as clusters, dg.instance_for_test() as instance:
        clusters.get("plain")
        for name in jobs:
            assert dg.materialize([sent(name)], instance=instance).success
    [phantom] = read_json(summary)["phantoms"]
    assert phantom["folder"] == str(model)
    assert (model / "model.safetensors").exists()
    assert sum(row["n"] for row in read_table(cell.answers, SAMPLED_ANSWERS).to_pylist()) == 4
    submissions = [path.parent for path in slurm_root(storage).glob("*/batch.sh")]
    for control in controls:
        assert [reading.trial_id for reading in read_readings(control.readings)] == [asked.trial_id]
    assert np.load(vectors) == pytest.approx(embed_texts(embedder, PROMPTS, device="cpu"), abs=1e-5)
    assert len(submissions) == 4
    assert all(list(folder.glob("0/attempt-*/exit.json")) for folder in submissions)
