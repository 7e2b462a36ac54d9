"""What models answer, by real commands: `probe`, `calibrate`, `map`."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from valuesassets.records.csv_tables import read_csv
from valuesassets.records.parquet import read_table, table_metadata, write_table
from valuesassets.records.places import named_model
from valuesassets.records.tables import PROBE_DISTRIBUTIONS
from valuesassets_tests.cli.commands import QUESTIONS, refuse, run, succeed, write_json
from valuesassets_tests.models.brute_force import BruteForce
from valuesassets_tests.peft_adapters import write_adapter

SURVEY_COLUMNS = (
    *("model_id", "model_type", "language", "question_id", "response_value", "prob_forward", "prob_reversed"),
    *("prob_averaged", "p_valid_forward", "p_valid_reversed", "position_bias_magnitude"),
)


@pytest.fixture(scope="module")
def probed(model, tmp_path_factory):
    """What `probe` has written of a model."""
    folder = tmp_path_factory.mktemp("probed")
    questions, output = write_json(folder / "questions.json", QUESTIONS), folder / "probe.parquet"
    asked = ("--questions", questions, "--language", "eng", "--output", output, "--dtype", "float32", "--device", "cpu")
    succeed("probe", "--model", model, *asked)
    return output


def test_probe_equals_brute_force_in_every_order(model, probed):
    probed, oracle = pd.read_parquet(probed), BruteForce(model)
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


def test_probe_prints_the_answers_and_writes_them_as_csv_where_the_name_says_so(model, probed, tmp_path):
    questions, output = write_json(tmp_path / "questions.json", QUESTIONS), tmp_path / "probe.csv"
    asked = ("--questions", questions, "--language", "eng", "--output", output, "--dtype", "float32", "--device", "cpu")
    printed = succeed("probe", "--model", model, *asked)
    whole = pd.read_parquet(probed)
    assert read_csv(output, PROBE_DISTRIBUTIONS)["prob_averaged"].to_numpy() == pytest.approx(whole["prob_averaged"])
    lines = {line.split()[0]: line for line in printed.splitlines() if line.startswith("  ")}
    for question in QUESTIONS:
        rows = whole[whole["question_id"] == question["id"]].set_index("response_value")
        shares = [f"{o['label'] or o['value']} {rows['prob_averaged'][o['value']]:.0%}" for o in question["options"]]
        assert lines[question["id"]].endswith(f" {rows['p_valid'].iloc[0]:.2f}  {', '.join(shares)}")


def test_a_probe_file_says_how_it_was_made(model, probed):
    found = table_metadata(probed)
    wanted = {"model", "revision", "weights_id", "tokenizer_sha256", "dtype", "orders", "scorer_version", "batch_plan"}
    assert wanted <= set(found)
    assert (found["model"], found["dtype"], found["orders"]) == (named_model(str(model)), "float32", "both")
    assert set(json.loads(found["batch_plan"])) == {"batches", "tokens", "budget"}


@pytest.mark.parametrize("model", ["byte_level"], indirect=True)  # the map knows no tokenizer
@pytest.mark.slow
def test_map_places_what_can_be_trusted_and_names_what_cannot(model, aligned, tmp_path):
    probes = tmp_path / "probes"
    asked = ("--questions", aligned / "eng.json", "--language", "eng", "--output", probes / "random.parquet")
    succeed("probe", "--model", model, *asked)
    assert "no answers to analyse" in refuse("map", "--distributions", probes, "--output", tmp_path / "map")
    assert not (tmp_path / "map").exists()
    sure = read_table(probes / "random.parquet", PROBE_DISTRIBUTIONS).to_pylist()
    certain = {"model": "sure", "p_valid": 0.9, "p_valid_forward": 0.9, "p_valid_reversed": 0.9}
    write_table(probes / "sure" / "eng.parquet", [row | certain for row in sure], PROBE_DISTRIBUTIONS)
    elsewhere = {"language": "ukr"}  # no study has it
    write_table(probes / "sure" / "ukr.parquet", [row | certain | elsewhere for row in sure], PROBE_DISTRIBUTIONS)
    printed = succeed("map", "--distributions", probes, "--output", tmp_path / "map")
    drawn = {f"{name}.{e}" for name in ("cultural_map", "cultural_map_column") for e in ("png", "svg", "pdf")}
    written = drawn | {"cultural_map.csv", "cultural_map_column.txt"}
    assert {path.name for path in (tmp_path / "map").iterdir()} == written
    assert f"{model.name} eng: not drawn: none of its answers can be trusted" in printed
    points = pd.read_csv(tmp_path / "map" / "cultural_map.csv")
    point, other = points[points["kind"] == "model"].to_dict("records")
    assert point["drawn"]
    assert (other["language"], other["x"], other["y"]) == ("ukr", point["x"], point["y"])
    assert f"sure eng: {point['x']:+.2f} {point['y']:+.2f}" in printed


@pytest.mark.slow
def test_calibrate_recovers_what_it_planted(aligned):
    printed = succeed("calibrate", "--questions", aligned / "eng.json", "--language", "eng")
    assert "OFF" not in printed
    recovery, hardness = printed.split("  hardness of the plants")
    time_said, _, *rows = recovery.splitlines()
    assert re.fullmatch(r"\d+ questions, 200 passes of training: about \d+ seconds", time_said)  # half of them do
    assert all(line.endswith("recovered") for line in rows)
    assert {line.split()[0] for line in hardness.splitlines()[1:]} >= {"all", "likert10", "binary"}


@pytest.mark.slow
def test_calibrate_recovers_the_readouts():
    printed = succeed("calibrate", "--readouts").splitlines()[1:]
    assert sum(line.endswith("recovered") for line in printed) == 15
    assert not any(line.endswith("OFF") for line in printed)
    late = [line for line in printed if "other mode, as published" in line]
    assert len(late) == 2
    assert all(float(line.split()[-2]) > 0.5 for line in late)


@pytest.mark.slow
def test_readouts_of_models_that_were_not_trained_are_off():
    done = run("calibrate", "--readouts", "--steps", "1")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "follows-history: TVD, given answers before:" in line
    assert "train longer (--steps)" in line
    assert done.stdout.count("OFF") == 3


@pytest.mark.slow
def test_calibrate_with_one_pass_of_training_is_off(questions):
    done = run("calibrate", "--questions", questions, "--language", "eng", "--steps", "1")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "not recovered" in line
    assert "OFF" in done.stdout


def test_probe_names_a_model_with_its_adapter(model, probed, tmp_path):
    adapter = write_adapter(tmp_path / "run7", model, target_modules=["q_proj"])
    questions, output = write_json(tmp_path / "questions.json", QUESTIONS), tmp_path / "probe.parquet"
    options = (
        "--questions",
        questions,
        "--language",
        "eng",
        "--output",
        output,
        "--dtype",
        "float32",
        "--device",
        "cpu",
    )
    succeed("probe", "--model", model, "--adapter", adapter, *options)
    rows, of_base = pd.read_parquet(output), pd.read_parquet(probed)
    assert set(rows["model_id"]) == {f"{model.name}+run7"}
    assert abs(rows["prob_averaged"].to_numpy() - of_base["prob_averaged"].to_numpy()).max() > 1e-3
    assert table_metadata(output)["adapter"] == named_model(str(adapter))
