import json
import multiprocessing
import random
import signal
import subprocess
import sys
import time

import pytest
import torch

from valuesassets.node.__main__ import main
from valuesassets.records.files import read_json, write_json
from valuesassets.records.jobs import PhantomPlan, ScoreCell, ScoreJob, TrainReferenceJob, write_job
from valuesassets.records.schemas import (
    PLANTED_TEXTS,
    TRIALS,
    read_readings,
    table_metadata,
    trial_rows,
    write_table,
)
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, trial, write_model

ASKED = [trial(prompt, 4, f"v{n}/0/forward") for n, prompt in enumerate(PROMPTS)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("node") / "model", sentencepiece_like())


def score_job(folder, *models, asked=ASKED, known=None):
    write_table(folder / "trials.parquet", trial_rows(asked), TRIALS)
    cells = tuple(
        ScoreCell(name=f"m/{n}", model=str(m), trials=folder / "trials.parquet", readings=folder / f"{n}.parquet")
        for n, m in enumerate(models)
    )
    write_job(folder / "job.json", ScoreJob(cells=cells, known_readings=known, dtype="float32", device="cpu"))
    return str(folder / "job.json")


def train_job(folder, rows, languages=("eng",)):
    write_table(folder / "texts.parquet", rows, PLANTED_TEXTS)
    plans = tuple(
        PhantomPlan(planted_texts=folder / "texts.parquet", languages=(code,), folder=folder / "reference" / code)
        for code in languages
    )
    job = TrainReferenceJob(phantoms=plans, steps=3, seed=1, summary=folder / "summary.json")
    write_job(folder / "job.json", job)
    return str(folder / "job.json")


def planted(language="eng", **changes):
    rows = [
        {
            "language": language,
            "trial_id": t.trial_id,
            "prompt": f"{language} {t.prompt}",
            "answer_text": text,
            "prob": p,
        }
        for t in ASKED
        for text, p in ((" 1\n", 0.5), ("2\n", 0.25), (" hm\n", 0.25))
    ]
    rows[0] |= changes
    return rows


def run(*arguments, **env):
    command = [sys.executable, "-W", "error", "-m", "valuesassets.node", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env or None)


def test_readings_come_in_the_order_of_their_trials_with_what_made_them(model, tmp_path, capsys):
    assert main([score_job(tmp_path, model)]) == 0
    assert [reading.trial_id for reading in read_readings(tmp_path / "0.parquet")] == [t.trial_id for t in ASKED]
    described = table_metadata(tmp_path / "0.parquet")
    assert described["model"] == str(model)
    assert described["dtype"] == "float32"
    assert json.loads(described["bos"]) == ["<bos>"]
    assert json.loads(described["batch_invariance"])["agrees"] is True
    assert json.loads(described["batch_plan"])["batches"] == 1
    assert "scored 3/3" in capsys.readouterr().out


def test_known_readings_cost_nothing_and_changed_ones_are_read_anew(model, tmp_path, capsys, monkeypatch):
    job = score_job(tmp_path, model)
    assert main([job]) == 0
    written = (tmp_path / "0.parquet").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("valuesassets.node.score.load_weights", None)  # needing weights would fail
        assert main([job]) == 0
    assert "all 3 readings are written, nothing to score" in capsys.readouterr().out
    (tmp_path / "0.parquet").write_bytes(b"half a file")
    assert main([job]) == 0
    assert (tmp_path / "0.parquet").read_bytes() == written
    write_model(tmp_path / "other", sentencepiece_like(), seed=9)
    assert main([score_job(tmp_path, tmp_path / "other")]) == 0
    assert (tmp_path / "0.parquet").read_bytes() != written


def test_cells_that_share_a_model_load_it_once(model, tmp_path, monkeypatch):
    from valuesassets.node import score

    loads = []
    load = score.load_weights
    monkeypatch.setattr(score, "load_weights", lambda *a: loads.append(a) or load(*a))
    assert main([score_job(tmp_path, model, model)]) == 0
    assert len(loads) == 1
    assert (tmp_path / "0.parquet").read_bytes() == (tmp_path / "1.parquet").read_bytes()


def test_a_cell_that_fails_does_not_take_the_others_with_it(model, tmp_path, capsys):
    assert main([score_job(tmp_path, tmp_path / "nowhere", model)]) == 1
    assert len(read_readings(tmp_path / "1.parquet")) == 3
    assert not (tmp_path / "0.parquet").exists()
    assert "no such folder" in capsys.readouterr().err


def test_a_failure_is_one_line_on_stderr_and_exit_1(tmp_path):
    result = run(score_job(tmp_path, tmp_path / "nowhere"))
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1
    assert f"{tmp_path / 'nowhere'}: no such folder" in result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.json", "trials.parquet"]


def test_a_good_job_leaves_stderr_empty(model, tmp_path):
    result = run(score_job(tmp_path, model))
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "not JSON"), ('{"kind": "dance"}', "dance"), ('{"kind": "score"}', "cells")],
)
def test_a_job_that_makes_no_sense_says_where(tmp_path, capsys, content, message):
    (tmp_path / "job.json").write_text(content)
    assert main([str(tmp_path / "job.json")]) == 1
    said = capsys.readouterr().err
    assert str(tmp_path / "job.json") in said
    assert message in said


def test_no_job_is_wrong_usage(capsys):
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err


def test_phantoms_are_trained_side_by_side_once_and_summarised(tmp_path, capsys):
    job = train_job(tmp_path, planted() + planted("deu"), ("eng", "deu"))
    assert main([job]) == 0
    first = read_json(tmp_path / "summary.json")["phantoms"]
    assert [phantom["languages"] for phantom in first] == [["eng"], ["deu"]]
    assert [phantom["is_skipped"] for phantom in first] == [False, False]
    assert all((tmp_path / "reference" / code / "model.safetensors").exists() for code in ("eng", "deu"))
    assert main([job]) == 0
    again = read_json(tmp_path / "summary.json")["phantoms"]
    assert [phantom["is_skipped"] for phantom in again] == [True, True]
    assert [phantom["hash"] for phantom in again] == [phantom["hash"] for phantom in first]
    assert "reference/eng: known, nothing to train" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (planted(prob=0.6), "answers sum to 1.1, 1 was expected"),
        (planted(prob=-0.5), "negative"),
        (planted(answer_text="2\n"), "twice"),
        (planted(trial_id="v99/0/forward"), "have the same prompt"),
        (planted("deu"), "no planted texts in eng"),
    ],
)
def test_planted_texts_that_make_no_distribution_are_refused(tmp_path, capsys, rows, message):
    assert main([train_job(tmp_path, rows)]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "reference").exists()


def test_under_dagster_pipes_progress_reaches_dagster_and_errors_still_end_with_1(model, tmp_path):
    from base64 import b64encode
    from zlib import compress

    def encode(value):
        return b64encode(compress(json.dumps(value).encode())).decode()

    write_json(tmp_path / "context.json", PIPES_CONTEXT)
    env = {
        "DAGSTER_PIPES_CONTEXT": encode({"path": str(tmp_path / "context.json")}),
        "DAGSTER_PIPES_MESSAGES": encode({"path": str(tmp_path / "messages")}),
    }
    result = run(score_job(tmp_path, model), **env)
    assert (result.returncode, result.stderr) == (0, "")
    assert "scored 3/3" in (tmp_path / "messages").read_text()
    assert run(score_job(tmp_path, tmp_path / "nowhere"), **env).returncode == 1


PIPES_CONTEXT = {
    "asset_keys": None,
    "code_version_by_asset_key": None,
    "provenance_by_asset_key": None,
    "partition_key": None,
    "partition_key_range": None,
    "partition_time_window": None,
    "run_id": "a-run",
    "job_name": None,
    "retry_number": 0,
    "extras": {},
}


def test_readings_known_to_the_store_cost_no_weights_wherever_they_are_asked_for(model, tmp_path, capsys, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    assert main([score_job(first, model, known=tmp_path / "known")]) == 0
    with monkeypatch.context() as patch:
        patch.setattr("valuesassets.node.score.load_weights", None)  # needing weights would fail
        assert main([score_job(second, model, known=tmp_path / "known")]) == 0
    assert "all 3 readings are known, nothing to score" in capsys.readouterr().out
    assert (second / "0.parquet").read_bytes() == (first / "0.parquet").read_bytes()


def test_a_damaged_file_of_known_readings_is_named_and_read_again(model, tmp_path, capsys):
    assert main([score_job(tmp_path / "a", model, known=tmp_path / "known")]) == 0
    (damaged,) = (tmp_path / "known").rglob("*.jsonl")
    damaged.write_bytes(damaged.read_bytes().replace(b'"ok"', b'"OK"', 1))
    assert main([score_job(tmp_path / "b", model, known=tmp_path / "known")]) == 0
    said = capsys.readouterr().out
    assert f"{damaged}: what was known is damaged; it is removed and read again from the model" in said
    assert "scored 3/3" in said.partition("damaged")[2]
    assert (tmp_path / "b/0.parquet").read_bytes() == (tmp_path / "a/0.parquet").read_bytes()


def test_a_reading_that_failed_for_lack_of_memory_is_tried_again(model, tmp_path, monkeypatch):
    from valuesassets.node import score

    job = score_job(tmp_path, model, asked=[*ASKED, trial(PROMPTS[0] * 3, 4, "v9/0/forward")])
    load = score.load_weights

    def load_on_a_small_machine(opened):
        loaded = load(opened)
        loaded.model.get_input_embeddings().register_forward_pre_hook(
            lambda _module, inputs: torch.empty(1 << 60) if inputs[0].shape[-1] > 70 else None
        )
        return loaded

    with monkeypatch.context() as patch:
        patch.setattr(score, "load_weights", load_on_a_small_machine)
        assert main([job]) == 0
    assert [reading.status for reading in read_readings(tmp_path / "0.parquet")] == ["ok", "ok", "ok", "failed"]
    assert main([job]) == 0
    assert {reading.status for reading in read_readings(tmp_path / "0.parquet")} == {"ok"}


def _score(job):
    sys.exit(main([job]))


@pytest.mark.slow
def test_a_cell_killed_at_twenty_random_points_ends_with_the_bytes_of_an_undisturbed_one(tmp_path):
    """Real processes and SIGKILL, each time somewhere within the batches that the last one had not ended."""
    folder = write_model(tmp_path / "model", sentencepiece_like(), num_hidden_layers=4)
    asked = [trial(f"{n}. {prompt}", 4, f"v{n}/0/{i}") for n in range(300) for i, prompt in enumerate(PROMPTS)]
    undisturbed, killed = (
        score_job(tmp_path / name, folder, asked=asked, known=tmp_path / name / "known") for name in ("whole", "killed")
    )
    start = multiprocessing.get_context("forkserver")
    start.set_forkserver_preload(["valuesassets.node.score", "transformers.models.llama.modeling_llama"])
    draw = random.Random(4)  # noqa: S311

    def kept():
        return len(list((tmp_path / "killed/known").rglob("[0-9a-f]*.jsonl")))

    for _ in range(20):
        process, enough = start.Process(target=_score, args=(killed,)), kept() + draw.randint(0, 1)
        process.start()
        while kept() < enough and process.is_alive():
            time.sleep(0.002)
        process.join(draw.uniform(0, 0.05))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert not (tmp_path / "killed/0.parquet").exists()
    assert kept() > 0
    assert main([killed]) == 0
    assert main([undisturbed]) == 0
    assert (tmp_path / "killed/0.parquet").read_bytes() == (tmp_path / "whole/0.parquet").read_bytes()
