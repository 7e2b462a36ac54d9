import json
import os
import shutil
import weakref
from pathlib import Path

import pytest
import torch

from valuesassets.models.asking import Asking
from valuesassets.node.job_process import main
from valuesassets.records.files import read_json
from valuesassets.records.parquet import read_readings, table_metadata
from valuesassets_tests.node.node_jobs import ASKED, planted, run, score_job, train_job
from valuesassets_tests.tiny_models import PROMPTS, sentencepiece_like, trial, write_model


def test_readings_come_in_the_order_of_their_trials_with_what_made_them(model, tmp_path, capsys):
    assert main([score_job(tmp_path, model)]) == 0
    assert [reading.trial_id for reading in read_readings(tmp_path / "0.parquet")] == [t.trial_id for t in ASKED]
    described = table_metadata(tmp_path / "0.parquet")
    assert described["model"] == f"{model.parent.name}/{model.name}"
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
        patch.setattr("valuesassets.node.held_models.load_weights", None)  # needing weights would fail
        assert main([job]) == 0
    assert "all 3 readings are written, nothing to score" in capsys.readouterr().out
    (tmp_path / "0.parquet").write_bytes(b"half a file")
    assert main([job]) == 0
    assert (tmp_path / "0.parquet").read_bytes() == written
    write_model(tmp_path / "other", sentencepiece_like(), seed=9)
    assert main([score_job(tmp_path, tmp_path / "other")]) == 0
    assert (tmp_path / "0.parquet").read_bytes() != written


@pytest.mark.slow
def test_cells_that_share_a_model_load_it_once_and_the_log_says_so(model, tmp_path, capsys):
    other = write_model(tmp_path / "other", sentencepiece_like(), seed=9)
    assert main([score_job(tmp_path, model, other, model)]) == 0
    loads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("loaded ")]
    assert loads == [f"loaded {model} (float32, cpu)", f"loaded {other} (float32, cpu)"]
    assert (tmp_path / "0.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()


def test_weights_that_cannot_be_loaded_are_read_for_one_cell_and_refused_for_the_others(
    model, tmp_path, capsys, monkeypatch
):
    from valuesassets.node import held_models

    broken, load, read, held = shutil.copytree(model, tmp_path / "broken"), held_models.load_weights, [], []
    config = json.loads((broken / "config.json").read_text())
    (broken / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))

    class Weights:
        """Stands for what had been read when the loading broke off."""

    def load_in_part(opened):
        read.append(opened.model_id)
        weights = Weights()
        held.append(weakref.ref(weights))
        return load(opened), weights

    monkeypatch.setattr(held_models, "load_weights", load_in_part)
    job = score_job(tmp_path, broken, broken, broken, failures=tmp_path / "failures.json")
    seen = []
    held_models_load = held_models.HeldModels.load

    def load_and_look(models, opened):
        try:
            return held_models_load(models, opened)
        finally:
            seen.append([weights() for weights in held])

    monkeypatch.setattr(held_models.HeldModels, "load", load_and_look)
    assert main([job]) == 1
    assert read == [str(broken)]
    assert seen == [[None]] * 3
    (said,) = set(read_json(tmp_path / "failures.json").values())
    assert said.startswith(f"{broken}: ")
    assert "weights are missing or of another shape" in said
    assert capsys.readouterr().err == f"3 of 3 cells failed, first: {said}\n"


def test_a_cell_that_fails_does_not_take_the_others_with_it(model, tmp_path, capsys):
    assert main([score_job(tmp_path, tmp_path / "nowhere", model)]) == 1
    assert len(read_readings(tmp_path / "1.parquet")) == 3
    assert not (tmp_path / "0.parquet").exists()
    printed, errors = capsys.readouterr()
    assert "no such folder" in errors
    (line,) = (line for line in printed.splitlines() if "no such folder" in line)
    assert line.startswith("m/0: "), "said when it happens, since the other cells may take hours"


def test_a_single_cell_that_fails_says_so_once(tmp_path, capsys):
    assert main([score_job(tmp_path, tmp_path / "nowhere")]) == 1
    printed, errors = capsys.readouterr()
    assert ("no such folder" in printed, errors.count("no such folder")) == (False, 1)


def test_why_each_cell_failed_is_in_the_file_of_failures_while_the_others_go_on(model, tmp_path, monkeypatch):
    from valuesassets.node import held_models

    failures, seen = tmp_path / "told/failures.json", []
    job = score_job(tmp_path, tmp_path / "nowhere", model, tmp_path / "nothing", failures=failures)
    monkeypatch.setattr(held_models, "Asking", lambda *a: seen.append(read_json(failures)) or Asking(*a))
    assert main([job]) == 1
    told = read_json(failures)
    assert list(told) == ["m/0", "m/2"]
    assert f"{tmp_path / 'nowhere'}: no such folder" in told["m/0"]
    assert "\n" not in "".join(told.values())
    assert seen == [told]  # before the sound cell was asked


def test_the_file_of_failures_tells_of_this_attempt_only(model, tmp_path, monkeypatch):
    from valuesassets.node import held_models

    failures, seen = tmp_path / "failures.json", []
    job = score_job(tmp_path, tmp_path / "late", failures=failures)
    assert main([job]) == 1
    assert list(read_json(failures)) == ["m/0"]
    (tmp_path / "late").symlink_to(model)
    monkeypatch.setattr(held_models, "Asking", lambda *a: seen.append(failures.exists()) or Asking(*a))
    assert main([job]) == 0
    assert seen == [False]
    assert read_json(failures) == {}


def test_relative_paths_in_a_job_count_from_the_folder_that_the_process_works_in(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    job = os.path.abspath(score_job(Path("job"), "model", known=Path("known"), failures=Path("failures.json")))
    attempt = tmp_path / "attempt-0"
    (attempt / "job").mkdir(parents=True)
    (attempt / "model").symlink_to(model)
    shutil.copy("job/trials.parquet", attempt / "job")
    monkeypatch.chdir(attempt)
    assert main([job]) == 0
    assert {path.name for path in attempt.iterdir()} == {"failures.json", "job", "known", "model"}
    assert len(read_readings(attempt / "job/0.parquet")) == 3
    assert not (tmp_path / "job/0.parquet").exists()


def test_a_failure_is_one_line_on_stderr_and_exit_1(tmp_path):
    status, _, said = run(score_job(tmp_path, tmp_path / "nowhere"))
    assert status == 1
    assert said.count("\n") == 1
    assert f"{tmp_path / 'nowhere'}: no such folder" in said
    assert "Traceback" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["job.json", "trials.parquet"]


def test_a_good_job_leaves_stderr_empty(model, tmp_path):
    status, _, said = run(score_job(tmp_path, model))
    assert (status, said) == (0, "")


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


@pytest.mark.slow
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


def test_readings_known_to_the_store_cost_no_weights_wherever_they_are_asked_for(model, tmp_path, capsys, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    assert main([score_job(first, model, known=tmp_path / "known")]) == 0
    with monkeypatch.context() as patch:
        patch.setattr("valuesassets.node.held_models.load_weights", None)  # needing weights would fail
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
    from valuesassets.node import held_models

    job = score_job(tmp_path, model, asked=[*ASKED, trial(PROMPTS[0] * 3, 4, "v9/0/forward")])
    load = held_models.load_weights

    def load_on_a_small_machine(opened):
        loaded = load(opened)
        loaded.model.get_input_embeddings().register_forward_pre_hook(
            lambda _module, inputs: torch.empty(1 << 60) if inputs[0].shape[-1] > 70 else None
        )
        return loaded

    with monkeypatch.context() as patch:
        patch.setattr(held_models, "load_weights", load_on_a_small_machine)
        assert main([job]) == 0
    assert [reading.status for reading in read_readings(tmp_path / "0.parquet")] == ["ok", "ok", "ok", "failed"]
    assert main([job]) == 0
    assert {reading.status for reading in read_readings(tmp_path / "0.parquet")} == {"ok"}
