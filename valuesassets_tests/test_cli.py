"""The command line as a person meets it: real commands, their exit codes, their one line, the files they leave."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from safetensors.torch import load_file, save_file

from valuesassets.records.schemas import PROBE_DISTRIBUTIONS, read_table, table_metadata, write_table
from valuesassets_tests.models.brute_force import BruteForce
from valuesassets_tests.needs import REPOSITORY, shared_file
from valuesassets_tests.tiny_models import byte_level, sentencepiece_like, write_model

FORMS = REPOSITORY / "valuesassets" / "studies" / "questionnaires"
TOKENIZERS = {"sentencepiece": sentencepiece_like, "byte_level": byte_level}
SURVEY_COLUMNS = (
    *("model_id", "model_type", "language", "question_id", "response_value", "prob_forward", "prob_reversed"),
    *("prob_averaged", "p_valid_forward", "p_valid_reversed", "position_bias_magnitude"),
)


def run(*arguments, **environment):
    """One command in a process of its own."""
    command = [sys.executable, "-m", "valuesassets.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


def succeed(*arguments):
    """What a command prints that must succeed and say nothing on stderr."""
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refuse(*arguments, code=1, **environment):
    """The one line that a command must end with."""
    done = run(*arguments, **environment)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    return line


def question(number, n_options, kind):
    labels = [f"{kind} label {n}" if n_options < 10 or n in (1, 10) else "" for n in range(1, n_options + 1)]
    options = [{"value": n, "label": label} for n, label in enumerate(labels, 1)]
    return {"id": f"v{number}", "text": f"Question {number}, {kind}?", "response_type": kind, "options": options}


QUESTIONS = [question(1, 4, "likert4"), question(46, 5, "likert5"), question(39, 10, "likert10")]


@pytest.fixture
def questions(tmp_path):
    return write_json(tmp_path / "questions.json", QUESTIONS)


@pytest.fixture(scope="module", params=TOKENIZERS)
def model(request, tmp_path_factory):
    prompts = [q["text"] + "\n".join(f"{o['value']}. {o['label']}" for o in q["options"]) for q in QUESTIONS]
    return write_model(
        tmp_path_factory.mktemp("model") / request.param, TOKENIZERS[request.param](prompts * 3), spread=0.1
    )


@pytest.fixture(scope="module")
def aligned(tmp_path_factory):
    """The bundled forms of two languages, extracted and aligned by the commands themselves."""
    folder = tmp_path_factory.mktemp("forms")
    for language in ("eng", "deu"):
        file = folder / f"{language}.json"
        succeed("extract", FORMS / f"{language}.pdf", "--language", language, "--output", file)
    succeed("align", folder / "eng.json", folder / "deu.json", "--master", "eng", "--output", folder / "aligned")
    return folder / "aligned"


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


# What each command gives


def test_align_gives_the_same_questions_in_every_language(aligned):
    names = {path.name for path in aligned.iterdir()}
    assert names == {"master_questions.json", "eng.json", "deu.json", "alignment.csv"}
    ids = [[q["id"] for q in read_json(aligned / f"{name}.json")] for name in ("master_questions", "eng", "deu")]
    assert ids[0] == ids[1] == ids[2]
    assert len(ids[0]) > 25
    assert set(pd.read_csv(aligned / "alignment.csv")["status"]) == {"aligned"}


def test_unknown_keys_come_out_of_align_and_duplicates_say_what_was_merged(tmp_path):
    first, other = QUESTIONS[0] | {"reviewer": {"name": "N"}}, QUESTIONS[1]
    file = write_json(tmp_path / "in" / "eng.json", [first, other, first])
    succeed("align", file, "--output", tmp_path / "out")
    merged, alone = read_json(tmp_path / "out" / "eng.json")
    assert merged["reviewer"] == {"name": "N"}
    assert merged["merged_from"] == [0, 2]
    assert "merged_from" not in alone


def test_trials_are_the_prompts_in_every_order(questions, tmp_path):
    output = tmp_path / "trials.parquet"
    assert "6 trials of 3 questions" in succeed(
        "trials", "--questions", questions, "--language", "eng", "--output", output
    )
    trials = pd.read_parquet(output)
    assert {"trial_id", "question_id", "order", "prompt"} <= set(trials.columns)
    assert list(trials["order"]) == ["forward", "reversed"] * 3
    assert trials["trial_id"].is_unique
    assert trials["prompt"][1].splitlines()[1:] == [*(f"{n}. likert4 label {5 - n}" for n in range(1, 5)), "Answer:"]


@pytest.mark.parametrize(("orders", "expected"), [("all", 24 + 6 + 2), ("cyclic", 5 + 6 + 2)])
def test_more_orders_for_all_but_ten_point_scales(questions, tmp_path, orders, expected):
    output = tmp_path / "trials.parquet"
    succeed("trials", "--questions", questions, "--language", "eng", "--output", output, "--orders", orders)
    assert pq.read_metadata(output).num_rows == expected


def test_probe_equals_brute_force_in_every_order(model, questions, tmp_path):
    output = tmp_path / "probe.parquet"
    asked = ("--questions", questions, "--language", "eng", "--output", output, "--dtype", "float32", "--device", "cpu")
    succeed("probe", "--model", model, *asked)
    probed, oracle = pd.read_parquet(output), BruteForce(model)
    assert set(SURVEY_COLUMNS) <= set(probed.columns)
    for asked_question in QUESTIONS:
        rows = probed[probed["question_id"] == asked_question["id"]].sort_values("response_value")
        labels = [option["label"] for option in asked_question["options"]]
        numbers = [str(n) for n in range(1, len(labels) + 1)]
        read = {}
        for order, shown in {"forward": labels, "reversed": labels[::-1]}.items():
            lines = [f"{n}. {label}".rstrip() for n, label in zip(numbers, shown, strict=True)]
            prompt = "\n".join([asked_question["text"], *lines, "Answer:"])
            mass = np.array(oracle.label_probs(prompt, numbers))[:: 1 if order == "forward" else -1]
            assert rows[f"p_valid_{order}"].to_numpy() == pytest.approx(mass.sum(), abs=1e-5)
            read[order] = mass / mass.sum()
            assert rows[f"prob_{order}"].to_numpy() == pytest.approx(read[order], abs=1e-5)
        mean = (read["forward"] + read["reversed"]) / 2
        assert rows["prob_averaged"].to_numpy() == pytest.approx(mean, abs=1e-5)
        bias = np.abs(read["forward"] - read["reversed"]).max()
        assert rows["position_bias_magnitude"].to_numpy() == pytest.approx(bias, abs=2e-5)


def test_a_probe_file_says_how_it_was_made(model, questions, tmp_path):
    output = tmp_path / "probe.parquet"
    succeed("probe", "--model", model, "--questions", questions, "--language", "eng", "--output", output)
    found = table_metadata(output)
    wanted = {"model", "revision", "weights_id", "tokenizer_sha256", "dtype", "orders", "scorer_version", "batch_plan"}
    assert wanted <= set(found)
    assert (found["model"], found["dtype"], found["orders"]) == (str(model), "float32", "both")
    assert set(json.loads(found["batch_plan"])) == {"batches", "tokens", "budget"}


def test_map_places_what_can_be_trusted_and_names_what_cannot(model, aligned, tmp_path):
    probes = tmp_path / "probes"
    asked = ("--questions", aligned / "eng.json", "--language", "eng", "--output", probes / "random.parquet")
    succeed("probe", "--model", model, *asked)
    assert "to analyse" in refuse("map", "--distributions", probes, "--output", tmp_path / "map")
    assert not (tmp_path / "map").exists()
    sure = read_table(probes / "random.parquet", PROBE_DISTRIBUTIONS).to_pylist()
    certain = {"model": "sure", "p_valid": 0.9, "p_valid_forward": 0.9, "p_valid_reversed": 0.9}
    write_table(probes / "sure" / "eng.parquet", [row | certain for row in sure], PROBE_DISTRIBUTIONS)
    printed = succeed("map", "--distributions", probes, "--output", tmp_path / "map")
    assert {path.name for path in (tmp_path / "map").iterdir()} == {f"cultural_map.{e}" for e in ("csv", "png", "svg")}
    assert f"{model.name} eng: not drawn: none of its answers can be trusted" in printed
    points = pd.read_csv(tmp_path / "map" / "cultural_map.csv")
    (point,) = points[points["kind"] == "model"].to_dict("records")
    assert point["drawn"]
    assert f"sure eng: {point['x']:+.2f} {point['y']:+.2f}" in printed


@pytest.mark.slow
def test_calibrate_recovers_what_it_planted(aligned):
    printed = succeed("calibrate", "--questions", aligned / "eng.json", "--language", "eng")
    assert "OFF" not in printed
    assert all(line.endswith("recovered") for line in printed.splitlines())


def test_calibrate_with_one_pass_of_training_is_off(questions):
    done = run("calibrate", "--questions", questions, "--language", "eng", "--steps", "1")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "not recovered" in line
    assert "OFF" in done.stdout


@pytest.mark.slow
def test_a_real_form_gives_its_questions(tmp_path):
    form = shared_file("data", "questionnaires", "ZA7500_q_gb.pdf")
    done = run("extract", form, "--language", "eng", "--output", tmp_path / "eng.json")
    assert done.returncode == 0
    complete = [q for q in read_json(tmp_path / "eng.json") if q["text"] and len(q["options"]) >= 2]
    assert len({q["id"] for q in complete}) >= 150


@pytest.mark.parametrize(("study", "cells"), [("demo", 12), ("evs2017", 44)])
def test_study_says_what_it_would_build(study, cells):
    assert f"cells: {cells};" in succeed("study", study)


def test_without_a_command_there_is_help():
    done = run()
    assert done.returncode == 2
    assert "calibrate" in done.stdout + done.stderr


# What each command refuses


def test_wrong_usage_is_one_line_and_exit_2(questions, model, tmp_path):
    asked = ("--questions", questions, "--language", "eng", "--output", tmp_path / "out")
    for orders in ("seven", "0", "-1", "9" * 5000):
        assert "1 to 9999" in refuse("trials", *asked, "--orders", orders, code=2)
    assert "int8" in refuse("probe", "--model", model, *asked, "--dtype", "int8", code=2)
    assert "has none" in refuse("probe", "--model", model, *asked, "--revision", "main", code=2)
    assert "FILE" in refuse("align", "--output", tmp_path, code=2)
    assert "--nope" in refuse("demo", "--nope", code=2)
    assert not (tmp_path / "out").exists()


LIKERT4 = QUESTIONS[0]
FAULTY_FILES = {
    "an empty file": (b"", "not JSON"),
    "not JSON": (b"[{,", "line 1, column 3"),
    "another encoding": ('[{"id": "é"}]'.encode("latin-1"), "not UTF-8"),
    "an object": (b"{}", "array"),
    "no questions": (b"[]", "no questions"),
    "nested too deep": (b"[" * 100_000, "recursion"),
    "half a character": (b'["\\ud800"]', "half a character"),
    "no options": ([LIKERT4 | {"options": []}], "0 options"),
    "one option": ([LIKERT4 | {"options": LIKERT4["options"][:1]}], "1 options"),
    "an id twice": ([LIKERT4, LIKERT4], "stands twice"),
    "an empty id": ([LIKERT4 | {"id": " "}], "id is empty"),
    "a value twice": ([LIKERT4 | {"options": LIKERT4["options"][:3] + LIKERT4["options"][:1]}], "values repeat"),
    "eleven points": ([question(39, 11, "likert10")], "11 options, 10 were expected"),
    "an empty label": ([LIKERT4 | {"options": [*LIKERT4["options"][:3], {"value": 4, "label": ""}]}], "no label"),
    "an unknown type": ([LIKERT4 | {"response_type": "likert7"}], "likert7"),
    "a code for don't know": ([LIKERT4 | {"options": [*LIKERT4["options"][:3], {"value": 88, "label": "-"}]}], "[88]"),
}


@pytest.mark.parametrize("fault", FAULTY_FILES)
def test_a_faulty_question_file_is_named_with_its_fault(tmp_path, fault):
    content, expected = FAULTY_FILES[fault]
    file = tmp_path / "faulty.json"
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    line = refuse("trials", "--questions", file, "--language", "eng", "--output", tmp_path / "out.parquet")
    assert line.startswith(f"{file}: ")
    assert expected in line
    assert [path.name for path in tmp_path.iterdir()] == ["faulty.json"]


def test_what_is_not_a_form_is_refused(tmp_path):
    whole = (FORMS / "eng.pdf").read_bytes()
    for name, content in {
        "empty": b"",
        "html": b"<!doctype html>",
        "cut": whole[:20_000],
        "zip": b"PK\x03\x04",
    }.items():
        (tmp_path / f"{name}.pdf").write_bytes(content)
    output = tmp_path / "out" / "eng.json"
    expected = {"empty": "is empty", "html": "HTML", "cut": "truncated", "zip": "not a PDF", "absent": "no such file"}
    for name, reason in expected.items():
        file = tmp_path / f"{name}.pdf"
        line = refuse("extract", file, "--language", "eng", "--output", output)
        assert line.startswith(f"{file}: ")
        assert reason in line
    assert "is a folder" in refuse("extract", tmp_path, "--language", "eng", "--output", output)
    assert "xyz" in refuse("extract", FORMS / "eng.pdf", "--language", "xyz", "--output", output)
    assert not output.parent.exists()


def test_a_form_in_another_script_is_written_for_review_and_its_faults_are_named(tmp_path):
    done = run("extract", FORMS / "bul.pdf", "--language", "eng", "--output", tmp_path / "eng.json")
    assert done.returncode == 0
    assert (tmp_path / "eng.json").exists()
    assert "is it the right file" in done.stderr
    assert "None" not in done.stderr


def test_outputs_are_looked_at_before_the_work(questions, tmp_path):
    asked = ("--questions", questions, "--language", "eng", "--output")
    assert "is a folder" in refuse("trials", *asked, tmp_path)
    assert "not a folder" in refuse("trials", *asked, questions / "out.parquet")
    assert "cannot be written" in refuse("trials", *asked, "/proc/out.parquet")
    assert "not a folder" in refuse("extract", FORMS / "eng.pdf", "--language", "eng", "--output", questions / "x.json")
    assert "is a folder" in refuse("probe", "--model", "absent/model", *asked, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["questions.json"]


def test_align_refuses_files_that_it_cannot_tell_apart_or_would_overwrite(tmp_path):
    eng = write_json(tmp_path / "in" / "eng.json", QUESTIONS)
    again = write_json(tmp_path / "in" / "more" / "eng.json", QUESTIONS)
    nameless = write_json(tmp_path / "in" / "english.json", QUESTIONS)
    deu = write_json(tmp_path / "in" / "deu.json", QUESTIONS)
    output = tmp_path / "out"
    assert "one file per language" in refuse("align", eng, again, "--output", output)
    assert "rename" in refuse("align", eng, nameless, "--output", output)
    assert "no file eng.json" in refuse("align", deu, "--output", output)
    assert "no such file" in refuse("align", eng, tmp_path / "fra.json", "--output", output)
    assert "overwritten" in refuse("align", eng, deu, "--output", eng.parent)
    assert "not a folder" in refuse("align", eng, "--output", deu)
    assert not output.exists()
    assert read_json(eng) == QUESTIONS


def _without(*patterns):
    def spoil(folder):
        for path in [path for pattern in patterns for path in folder.glob(pattern)]:
            path.unlink()

    return spoil


def _with_pickle(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"\x80")


def _cut(folder):
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])


def _resized(folder):
    config = read_json(folder / "config.json")
    write_json(folder / "config.json", config | {"hidden_size": 64})


def _not_a_number(folder):
    weights = {name: tensor.clone() for name, tensor in load_file(folder / "model.safetensors").items()}
    weights["model.norm.weight"][:] = float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


SPOILT = {
    "no tokenizer": (_without("tokenizer*", "special*"), "no tokenizer"),
    "no weights": (_without("*.safetensors"), "found none"),
    "a pickle": (_with_pickle, "pickle"),
    "no configuration": (_without("config.json"), "no config.json"),
    "half the weights": (_cut, "weights cannot be read"),
    "another size": (_resized, "of another shape"),
    "NaN": (_not_a_number, "NaN"),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_a_model_that_cannot_be_read_faithfully_is_refused(questions, tmp_path, fault):
    spoil, expected = SPOILT[fault]
    folder = write_model(tmp_path / "model", sentencepiece_like())
    spoil(folder)
    output = tmp_path / "out" / "probe.parquet"
    line = refuse("probe", "--model", folder, "--questions", questions, "--language", "eng", "--output", output)
    assert str(folder) in line
    assert expected in line
    assert not output.parent.exists()


def test_absent_models_and_languages_without_a_lexicon_are_refused(questions, tmp_path):
    output = tmp_path / "out" / "probe.parquet"
    asked = ("--questions", questions, "--output", output)
    assert "no such folder" in refuse("probe", "--model", tmp_path / "none", *asked, "--language", "eng")
    assert "no such folder" in refuse("probe", "--model", questions, *asked, "--language", "eng")
    assert "no lexicon" in refuse("probe", "--model", "owner/name", *asked, "--language", "xyz")
    assert "xyz" in refuse("calibrate", "--questions", questions, "--language", "xyz")
    assert not output.parent.exists()


def test_map_refuses_what_is_no_probe_or_stands_twice(model, questions, tmp_path):
    probes, output = tmp_path / "probes", tmp_path / "map"
    asked = ("--distributions", probes, "--output", output)
    assert "no such folder" in refuse("map", *asked)
    probes.mkdir()
    assert "no probe parquet" in refuse("map", *asked)
    (probes / "junk.parquet").write_bytes(b"junk")
    assert "not a readable parquet" in refuse("map", *asked)
    (probes / "junk.parquet").unlink()
    succeed("trials", "--questions", questions, "--language", "eng", "--output", probes / "trials.parquet")
    assert "column model_id is missing" in refuse("map", *asked)
    (probes / "trials.parquet").unlink()
    named = ("--questions", questions, "--language", "eng", "--output", probes / "one.parquet")
    succeed("probe", "--model", model, *named)
    shutil.copyfile(probes / "one.parquet", probes / "two.parquet")
    assert "another file too" in refuse("map", *asked)
    assert not output.exists()


def test_faulty_study_files_are_named_with_their_key(tmp_path):
    demo = Path(REPOSITORY / "valuesassets" / "studies" / "demo.toml").read_text(encoding="utf-8")
    faults = {
        "": "key 'name' is missing",
        "a = [": "not TOML",
        demo.replace("title =", "titel =", 1): "unknown key 'titel'",
        demo + "\n[phantom]\nsteps = 0\n": "phantom.steps",
    }
    file = tmp_path / "study.toml"
    for content, expected in faults.items():
        file.write_text(content, encoding="utf-8")
        for command in ("study", "run"):
            line = refuse(command, file, VALUESASSETS_STORAGE=str(tmp_path / "storage"))
            assert line.startswith(f"{file}: ")
            assert expected in line
    for absent in ("nonsense", tmp_path):
        assert "neither a file nor a bundled study" in refuse("study", absent)
    assert not (tmp_path / "storage").exists()


def test_demo_refuses_a_storage_that_it_cannot_write(tmp_path):
    file = tmp_path / "file"
    file.touch()
    nowhere = {"VALUESASSETS_DAGSTER": "", "DAGSTER_HOME": str(REPOSITORY)}
    assert "is a file" in refuse("demo", **nowhere | {"VALUESASSETS_STORAGE": str(file)})
    assert "cannot be written" in refuse("demo", **nowhere | {"VALUESASSETS_STORAGE": "/proc/storage"})
    elsewhere = {"VALUESASSETS_STORAGE": str(tmp_path / "storage"), "DAGSTER_HOME": str(tmp_path / "none")}
    assert "DAGSTER_HOME" in refuse("demo", **nowhere | elsewhere)
    assert not (tmp_path / "storage").exists()


def test_debug_shows_where_an_error_comes_from(tmp_path):
    done = run("--debug", "study", tmp_path / "none.toml")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.rstrip().splitlines()[-1].startswith("valuesassets.records.errors.StudyError: ")
