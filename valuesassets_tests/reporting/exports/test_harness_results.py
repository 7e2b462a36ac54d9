"""Readings as results of lm-evaluation-harness: its own table of them, its keys, and the numbers behind."""

import json
import math

import pytest

from valuesassets.cli.stored_studies import read_cells
from valuesassets.reporting.exports.harness_results import write_harness_results
from valuesassets.reporting.exports.read_cells import metrics_of
from valuesassets_tests.cli.commands import refuse, run
from valuesassets_tests.reporting.made_storage import write_storage


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    return write_storage(tmp_path_factory.mktemp("stored"), "demo_survey")


@pytest.fixture(scope="module")
def written(stored, tmp_path_factory):
    """The file of one model's results, and its samples by task."""
    folder = tmp_path_factory.mktemp("harness")
    cells = [cell for cell in read_cells("demo_survey", stored) if cell.family == "reference-mono"]
    results, _ = write_harness_results(folder, cells)
    files = {path.name: path.read_text(encoding="utf-8") for path in results.parent.glob("samples_*.jsonl")}
    samples = {
        name.removeprefix("samples_").rpartition("_")[0]: list(map(json.loads, text.splitlines()))
        for name, text in files.items()
    }
    return json.loads(results.read_text(encoding="utf-8")), samples, cells[0]


def test_the_harness_itself_makes_its_table_of_the_results_and_knows_every_key(written):
    utils, schema = pytest.importorskip("lm_eval.utils"), pytest.importorskip("lm_eval.result_schema")
    results, samples, _ = written
    said = utils.make_table(results)
    assert "demo_survey_survey_deu" in said
    assert "p_valid" in said
    assert "mean_unit" in said
    assert {*results} <= {*schema.EvalResults.__annotations__}
    dynamic = {"p_valid", "mean_unit"}
    assert {*samples["demo_survey_survey_deu"][0]} - dynamic == {*schema.SampleResult.__annotations__}


def test_results_are_means_of_the_samples_and_these_the_readings(written):
    results, samples, cell = written
    rows = samples["demo_survey_survey_deu"]
    assert len(rows) == len(cell.readings) == results["n-samples"]["demo_survey_survey_deu"]["effective"]
    found = results["results"]["demo_survey_survey_deu"]
    means = [row["mean_unit"] for row in rows]
    assert found["mean_unit,none"] == pytest.approx(sum(means) / len(means))
    assert found["mean_unit_stderr,none"] > 0
    for row, (trial, reading) in zip(rows, cell.readings, strict=True):
        assert row["doc"]["trial_id"] == trial.trial_id
        assert row["mean_unit"] == metrics_of(trial, reading)["mean_unit"]
        probs = [math.exp(float(log)) for log, _ in row["filtered_resps"]]
        assert probs == pytest.approx(list(reading.label_probs))
        assert [greedy for _, greedy in row["filtered_resps"]].count("True") == 1
        assert row["arguments"]["gen_args_0"] == {"arg_0": trial.prompt, "arg_1": row["doc"]["labels"][0]}
    assert results["config"]["model_revision"] == "a" * 40


def test_the_command_writes_a_whole_folder_and_never_into_one_that_is_taken(stored, tmp_path):
    environment = {"VALUESASSETS_STORAGE": str(stored.parent)}
    done = run("export", "demo_survey", "--format", "lm-eval", "--output", tmp_path / "out", **environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "readings of 4 cells" in done.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"reference-mono", "reference-multi"}
    again = ("export", "demo_survey", "--format", "inspect", "--output", tmp_path / "out")
    assert refuse(*again, **environment) == f"{tmp_path}/out: is there already; name a folder that is new or empty"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_study_without_readings_of_labels_is_one_line(tmp_path):
    asked = ("export", "demo_survey", "--format", "inspect", "--output", tmp_path / "out")
    said = refuse(*asked, VALUESASSETS_STORAGE=str(tmp_path))
    assert said.startswith(
        f"study demo_survey: no readings of labels are stored in {tmp_path}/demo_survey; run it first"
    )
    assert not (tmp_path / "out").exists()
