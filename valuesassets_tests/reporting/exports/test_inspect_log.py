"""Readings as logs of inspect_ai: what its own reader finds in them, and what stands in the zip."""

import json
import zipfile
from dataclasses import replace

import pytest

from valuesassets.cli.stored_studies import read_cells
from valuesassets.records.trials import Reading, Status, Turn
from valuesassets.reporting.exports.inspect_log import write_inspect_log
from valuesassets.reporting.exports.read_cells import labels_of, metrics_of
from valuesassets_tests.reporting.made_storage import write_storage


@pytest.fixture(scope="module")
def cell(tmp_path_factory):
    """A cell whose second trial could not be read and whose third is put in a chat."""
    folder = write_storage(tmp_path_factory.mktemp("stored"))
    whole = next(each for each in read_cells("small", folder) if (each.family, each.part) == ("reference-multi", "eng"))
    pairs = list(whole.readings)
    failed = Reading(pairs[1][0].trial_id, None, None, None, None, (), Status.FAILED, "NaN", "0" * 64)
    pairs[1] = (pairs[1][0], failed)
    pairs[2] = (replace(pairs[2][0], chat=(Turn("system", "Be brief."), Turn("user", "Work?"))), pairs[2][1])
    return replace(whole, readings=pairs)


@pytest.fixture
def log(cell, tmp_path):
    write_inspect_log(tmp_path / "cell.eval", cell)
    return tmp_path / "cell.eval"


@pytest.mark.slow
def test_inspects_own_reader_opens_the_log_and_finds_every_reading(log, cell):
    read = pytest.importorskip("inspect_ai.log").read_eval_log
    found = read(str(log))
    assert (found.status, found.eval.task, found.eval.model) == ("success", "small_survey_eng", "reference-multi/eng")
    assert found.eval.metadata["revision"] == "a" * 40
    samples = {sample.id: sample for sample in found.samples}  # its reader sorts them by their ids
    assert len(samples) == len(cell.readings)
    for trial, reading in cell.readings:
        sample = samples[trial.trial_id]
        assert sample.choices == list(labels_of(trial).labels)
        if reading.label_probs is None:
            assert (sample.error.message, sample.scores) == ("NaN", {})
            continue
        top = sample.output.choices[0].logprobs.content[0].top_logprobs
        best = max(range(len(reading.label_probs)), key=lambda place: reading.label_probs[place])
        assert sample.output.completion == top[0].token == labels_of(trial).labels[best]
        assert {name: score.value for name, score in sample.scores.items()} == metrics_of(trial, reading)
    assert [message.role for message in samples[cell.readings[2][0].trial_id].messages] == [
        "system",
        "user",
        "assistant",
    ]
    assert found.results.total_samples == found.results.completed_samples + 1
    assert found.results.scores[0].metrics["mean"].value == pytest.approx(0.8)


def test_the_log_is_a_zip_of_json_with_the_same_bytes_again(log, cell, tmp_path):
    write_inspect_log(tmp_path / "again.eval", cell)
    assert (tmp_path / "again.eval").read_bytes() == log.read_bytes()
    with zipfile.ZipFile(log) as archive:
        held = {name: json.loads(archive.read(name)) for name in archive.namelist()}
    assert held["header.json"]["version"] == held["_journal/start.json"]["version"] == 2
    assert len(held["summaries.json"]) == len(cell.readings) == sum(name.startswith("samples/") for name in held)
    trial, reading = cell.readings[0]
    sample = held[f"samples/{trial.trial_id}_epoch_1.json"]
    assert sample["input"] == trial.prompt
    assert sample["metadata"]["label_probs"] == list(reading.label_probs)


def test_a_mean_is_on_the_scale_whatever_the_order_of_options(cell):
    (trial, reading), low = cell.readings[0], min(labels_of(cell.readings[0][0]).values)
    probs = tuple(0.5 * (value == low) for value in labels_of(trial).values)
    assert metrics_of(trial, replace(reading, label_probs=probs, p_valid=0.5)) == {"p_valid": 0.5, "mean_unit": 0.0}
    none = replace(reading, label_probs=(0.0,) * len(probs), p_valid=0.0)
    assert metrics_of(trial, none) == {"p_valid": 0.0}
