import json
from pathlib import Path

import pytest

from valuesassets.records.errors import JobError
from valuesassets.records.jobs import PhantomPlan, ScoreCell, ScoreJob, TrainReferenceJob, read_job, write_job

CELL = ScoreCell(name="f/eng", model="/models/f", trials=Path("/t.parquet"), readings=Path("/r.parquet"))
PLAN = PhantomPlan(planted_texts=Path("/p.parquet"), languages=("eng",), folder=Path("/f"))


@pytest.mark.parametrize(
    "job", [ScoreJob(cells=(CELL,)), TrainReferenceJob(phantoms=(PLAN,), steps=3, seed=1, summary=Path("/s.json"))]
)
def test_a_job_comes_back_as_it_went(tmp_path, job):
    write_job(tmp_path / "job.json", job)
    assert read_job(tmp_path / "job.json") == job


@pytest.mark.parametrize(
    ("change", "word"), [({"kind": "dance"}, "kind|dance"), ({"colour": 1}, "colour"), ({"cells": []}, "cells")]
)
def test_a_job_that_is_none_is_refused(tmp_path, change, word):
    content = json.loads(ScoreJob(cells=(CELL,)).model_dump_json()) | change
    (tmp_path / "job.json").write_text(json.dumps(content))
    with pytest.raises(JobError, match=word):
        read_job(tmp_path / "job.json")
