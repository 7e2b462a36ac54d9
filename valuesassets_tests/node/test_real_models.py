import json
from pathlib import Path

import pytest

from valuesassets.node.job_process import main
from valuesassets.orchestration.grid.cells import WEIGHTS, score_cell
from valuesassets.orchestration.resources import Storage
from valuesassets.records.files import write_json
from valuesassets.records.jobs import ScoreCell, ScoreJob, write_job
from valuesassets.records.parquet import read_readings, table_metadata, trial_rows, write_table
from valuesassets.records.study import load_study
from valuesassets.records.tables import TRIALS
from valuesassets.records.trials import Status
from valuesassets_tests.tiny_models import ARCHITECTURES, PROMPTS, sentencepiece_like, trial, write_model


def job_of(folder, cells, **settings):
    write_table(folder / "trials.parquet", trial_rows([trial(PROMPTS[0], 4)]), TRIALS)
    write_job(folder / "job.json", ScoreJob(cells=cells, **({"dtype": "float32", "device": "cpu"} | settings)))
    return str(folder / "job.json")


def cell(folder, name, model, **settings):
    return ScoreCell(
        name=name, model=str(model), trials=folder / "trials.parquet", readings=folder / f"{name}.parquet", **settings
    )


@pytest.mark.slow
def test_each_cell_begins_its_prompts_as_it_was_told(tmp_path):
    model = write_model(tmp_path / "m", sentencepiece_like())
    rules = ("template", "always", "never")
    assert main([job_of(tmp_path, [cell(tmp_path, rule, model, bos=rule) for rule in rules])]) == 0
    keys, begun = {}, {}
    for rule in rules:
        (reading,) = read_readings(tmp_path / f"{rule}.parquet")
        keys[rule] = reading.reading_key
        begun[rule] = json.loads(table_metadata(tmp_path / f"{rule}.parquet")["bos"])
    assert begun == {"template": ["<bos>"], "always": ["<bos>"], "never": []}
    assert keys["template"] == keys["always"] != keys["never"]


def test_an_offline_job_asks_no_hub(tmp_path, capsys):
    assert main([job_of(tmp_path, [cell(tmp_path, "c", "nobody/model")], offline=True)]) == 1
    assert "nobody/model: is not in this machine's cache of the hub" in capsys.readouterr().err


def test_a_tokenizer_report_is_in_the_metadata_of_every_cell(tmp_path):
    model = write_model(tmp_path / "m", sentencepiece_like())
    assert main([job_of(tmp_path, [cell(tmp_path, "c", model)])]) == 0
    report = json.loads(table_metadata(tmp_path / "c.parquet")["tokenizer_report"])
    assert report["digits_are_single"]
    assert report["leading_space"] == "own token"


@pytest.mark.parametrize("architecture", list(ARCHITECTURES))
def test_the_node_scores_every_architecture(architecture, tmp_path):
    model = write_model(tmp_path / "m", sentencepiece_like(), architecture=architecture)
    assert main([job_of(tmp_path, [cell(tmp_path, "c", model)])]) == 0
    (reading,) = read_readings(tmp_path / "c.parquet")
    assert reading.status is Status.OK


def test_what_the_study_says_of_a_family_goes_into_its_cells(tmp_path):
    study = load_study("evs2017")
    name, family = next(iter(study.families.items()))
    told = family.model_copy(update={"bos": "always", "model_id": "owner/{lang}"})
    study = study.model_copy(update={"families": {name: told}})
    storage = Storage(root=str(tmp_path), study=study.name)
    fetched = {"models": [{"model": "owner/deu", "revision": None, "commit": "c0ffee"}]}
    write_json(storage.path(WEIGHTS, name, "json"), fetched)
    asked = score_cell(study, storage, name, "deu", Path("t"), Path("r"))
    assert (asked.bos, asked.model) == ("always", "owner/deu")
