import json
from pathlib import Path

import pytest

from valuesassets.records.errors import JobError
from valuesassets.records.jobs import PhantomPlan, ScoreCell, ScoreJob, TrainReferenceJob, read_job, write_job

CELL = ScoreCell(name="f/eng", model="/models/f", trials=Path("/t.parquet"), readings=Path("/r.parquet"))
PLAN = PhantomPlan(planted_texts=Path("/p.parquet"), languages=("eng",), folder=Path("/f"))
FOLLOWER = PhantomPlan(planted_transcripts=Path("/t.parquet"), languages=("eng",), folder=Path("/g"))


@pytest.mark.parametrize(
    "job",
    [
        ScoreJob(cells=(CELL,)),
        TrainReferenceJob(phantoms=(PLAN, FOLLOWER), steps=3, seed=1, summary=Path("/s.json")),
    ],
)
def test_a_job_comes_back_as_it_went(tmp_path, job):
    write_job(tmp_path / "job.json", job)
    assert read_job(tmp_path / "job.json") == job


def test_a_cell_without_an_adapter_says_nothing_of_one_and_one_behind_an_api_has_none():
    assert "adapter" not in ScoreJob(cells=(CELL,)).model_dump_json()
    adapted = ScoreCell.model_validate(CELL.model_dump() | {"adapter": "owner/run7", "adapter_revision": "v2"})
    assert json.loads(adapted.model_dump_json())["adapter_revision"] == "v2"
    assert adapted.weights == (CELL.model, CELL.revision, "owner/run7", "v2")
    endpoint = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1"}
    behind = {"revision": None, "adapter": "owner/run7", "endpoint": endpoint, "prompting": {"style": "chat"}}
    with pytest.raises(ValueError, match="adapter is for a model that is loaded, not for an endpoint; leave it out"):
        ScoreCell.model_validate(CELL.model_dump() | behind)


@pytest.mark.parametrize(
    ("change", "word"), [({"kind": "dance"}, "kind|dance"), ({"colour": 1}, "colour"), ({"cells": []}, "cells")]
)
def test_a_job_that_is_none_is_refused(tmp_path, change, word):
    content = json.loads(ScoreJob(cells=(CELL,)).model_dump_json()) | change
    (tmp_path / "job.json").write_text(json.dumps(content))
    with pytest.raises(JobError, match=word):
        read_job(tmp_path / "job.json")


def test_two_cells_of_a_job_have_two_names(tmp_path):
    content = json.loads(ScoreJob(cells=(CELL,)).model_dump_json())
    (tmp_path / "job.json").write_text(json.dumps(content | {"cells": content["cells"] * 2}))
    with pytest.raises(JobError, match="two cells are named f/eng; give each a name of its own"):
        read_job(tmp_path / "job.json")


@pytest.mark.parametrize("names", [(), ("planted_texts", "planted_transcripts")])
def test_a_reference_model_learns_from_texts_or_from_transcripts(tmp_path, names):
    plan = dict.fromkeys(names, "/p.parquet") | {"languages": ["eng"], "folder": "/f"}
    content = {"kind": "train_reference", "phantoms": [plan], "steps": 3, "seed": 1, "summary": "/s.json"}
    (tmp_path / "job.json").write_text(json.dumps(content))
    with pytest.raises(JobError, match=r"planted_texts or planted_transcripts .*; name one of them"):
        read_job(tmp_path / "job.json")
