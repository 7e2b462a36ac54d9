"""`psych-tasks analyse`: from folders that `psych-tasks read` has written to tables, figures and a page."""

import numpy as np
import pandas as pd
import pytest

from valuesassets.cli.app import app
from valuesassets.cli.psych_tasks_read import _write
from valuesassets.instruments.psych_tasks.answers.answer_distributions import derive_answer_distributions
from valuesassets.instruments.psych_tasks.material.task_files import load_task
from valuesassets.instruments.psych_tasks.trials.asked_marks import ask_task
from valuesassets.records.errors import InputError
from valuesassets_tests.instruments.psych_tasks.made_people import survey_person
from valuesassets_tests.instruments.psych_tasks.made_readings import n_candidates, read_by

TASK = """\
name = "survey"
feedback = false
kinds = [{ name = "agreement", before = '\\. $', candidates = { range = [1, 5] } }]
scales.order = { items = [1, 2, 3, 4], reversed = [2, 4] }
"""


def written(folder, model, task_file, seed):
    """What `psych-tasks read` would have written of a model that likes some labels more than others."""
    path = folder.parent / "survey.toml"
    path.write_text(task_file, encoding="utf-8")
    task, random = load_task(path), np.random.default_rng(seed)
    people = [survey_person(name, random.integers(1, 6, 4).tolist(), task) for name in "abcdef"]
    asking = ask_task(people, task, own_draws=2)
    liked = random.dirichlet(np.ones(5)) * 0.9 + 0.02
    noise = {}

    def probs_of(trial, span):
        asked = noise.setdefault((trial.trial_id, span), random.dirichlet(np.full(n_candidates(trial, span), 50.0)))
        return 0.9 * liked + 0.1 * asked

    readings = read_by(asking.trials, probs_of)
    frames = derive_answer_distributions(asking.rows, people, task, asking.trials, readings, False)
    _write(folder, frames, {"model": model, "task": "survey", "task_file": task_file, "layout": "marked"})
    return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    where = tmp_path_factory.mktemp("read")
    return [
        written(where / name, name, TASK, seed) for seed, name in enumerate(["one", "two", "three", "four", "five"])
    ]


def analyse(folders, output, *more):
    app(["psych-tasks", "analyse", *map(str, folders), "--output", str(output), *more], standalone_mode=False)
    return {path.stem: pd.read_csv(path) for path in output.glob("*.csv")}


@pytest.mark.slow
def test_models_that_like_labels_are_told_for_what_they_are(folders, tmp_path, capsys):
    tables = analyse(folders, tmp_path / "out")
    (scale,) = tables["keying_scales"].to_dict("records")
    assert (scale["verdict"], scale["models"], scale["items"]) == ("label preference", 5, 4)
    assert scale["pi_bias_low"] > 0.5
    assert set(tables["prediction_scores"]["history"]) >= {"human", "alone", "uniform", "crowd", "counting"}
    assert set(tables["mark_ledger"]["status"]) == {"read"}
    assert len(tables["published_scores_scales"]) == 2  # exact, late
    assert tables["reliability_scales"]["draws"].max() == 2
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "label preference" in page
    assert list((tmp_path / "out").glob("*.png"))
    told = capsys.readouterr().out
    assert "layout_effect: every model was asked in one layout" in told
    assert "report.html" in told


@pytest.mark.slow
def test_one_model_alone_has_reasons_in_place_of_numbers(folders, tmp_path):
    tables = analyse(folders[:1], tmp_path / "out")
    assert tables["keying_scales"]["rho"].isna().all()
    assert tables["keying_scales"]["reason"].str.contains("5 lines or more are needed").all()
    assert tables["prediction_scores"]["log_score"].notna().all()


def test_another_task_of_the_same_name_and_a_folder_that_is_none_are_one_line(folders, tmp_path):
    other = written(tmp_path / "other", "six", TASK.replace("[2, 4]", "[2]"), 6)
    with pytest.raises(InputError, match="another task survey than in the folders before"):
        analyse([*folders, other], tmp_path / "out")
    with pytest.raises(InputError, match=r"run.json: no such file"):
        analyse([tmp_path], tmp_path / "out")
    (tmp_path / "run.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="not one that `psych-tasks read` has written"):
        analyse([tmp_path], tmp_path / "out")
    assert not (tmp_path / "out").exists()
