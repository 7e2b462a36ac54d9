"""A survey's cells whose model stands behind an API that shows the likeliest tokens alone: readings to map."""

import numpy as np
import pandas as pd
import pytest

from valuesassets.records.intervals import bound_mean
from valuesassets.records.parquet import read_readings, read_trials
from valuesassets_tests.cli.commands import run
from valuesassets_tests.orchestration.run_again import run_again_here
from valuesassets_tests.orchestration.small_study import copied
from valuesassets_tests.remote.loopback_openai import KEY, MODEL, LoopbackOpenAi, showing

FAMILY = """
[families.api]
kind = "openai"
model_type = "multi"
model_id = "{model}"
prompting = {{ style = "chat", answer_prefix = "none" }}

[families.api.endpoint]
provider = "openai"
base_url = "{base_url}"
key_env = "THE_KEY"
route = "top_logprobs"
concurrency = 4
max_width = {max_width}
"""
TOKENS, TOP = 400, 20


def distributions(folder):
    """What the reference model answers to each prompt as 400 tokens: labels bare and behind a space, the rest."""
    found = {}
    for path in (folder / "storage/small/survey/trials").glob("*.parquet"):
        readings = read_readings(folder / f"storage/small/survey/readings/reference-multi/{path.stem}.parquet")
        for trial, reading in zip(read_trials(path), readings, strict=True):
            if trial.prompt in found and trial.estimator is not None:
                continue  # an estimator asks the same prompt for other labels
            rest = np.random.default_rng(len(found)).dirichlet(np.full(TOKENS - 2 * len(trial.labels), 0.05))
            probs = {f"word{number}": share * (1 - reading.p_valid) for number, share in enumerate(rest)}
            for label, prob in zip(trial.labels, reading.label_probs, strict=True):
                probs |= {label: 0.8 * prob, f" {label}": 0.2 * prob}
            found[trial.prompt] = probs
    return found


UP_TO_THE_MAP = ("preflight", "readings", "probe_distributions", "quality_report", "reliability", "cultural_map")


@pytest.fixture(scope="module")
def made(small_study, tmp_path_factory):
    """A study with such a family beside the two that it had, run; with what was asked and said."""
    folder = tmp_path_factory.mktemp("api")
    environment = copied(small_study, folder) | {"THE_KEY": KEY}
    truth = distributions(folder)

    def answer(body):
        probs = truth[body["messages"][-1]["content"]]
        likeliest = sorted(probs, key=lambda token: -probs[token])[: body["top_logprobs"]]
        return showing({token: probs[token] for token in likeliest if probs[token] > 0})

    server = LoopbackOpenAi(answer)
    with server.serving():
        study = folder / "small.toml"
        study.write_text(study.read_text() + FAMILY.format(model=MODEL, base_url=server.base_url, max_width=0.2))
        done = run("run", study, *(f"--only={asset}" for asset in UP_TO_THE_MAP), **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        paid = server.paid
        assert run_again_here(environment, UP_TO_THE_MAP) == []
    return folder / "storage/small/survey", done, paid, server


def probes(survey, family):
    return pd.concat(
        [
            pd.read_parquet(survey / f"probe_distributions/{family}/{language}.parquet")
            for language in ("deu", "eng", "fra")
        ]
    )


@pytest.mark.slow
def test_cells_go_the_way_of_any_other_and_nothing_is_asked_twice(made):
    survey, _, paid, server = made
    assert server.paid == paid
    trials = [trial for path in (survey / "trials").glob("*.parquet") for trial in read_trials(path)]
    prompts = {trial.prompt for trial in trials}
    assert len(trials) > 1.5 * len(prompts)  # estimators ask the same prompts for other labels
    # Four of each cell twice, and the ten questions of each cell's preflight in both orders.
    assert len(prompts) + 3 * 4 <= paid <= len(prompts) + 3 * 40
    quality = pd.read_parquet(survey / "quality_report/cells.parquet")
    cells = quality.loc[quality["model"] == "api"]
    assert len(cells) == 3
    assert not cells["is_missing"].any()
    assert (cells["n_usable"] > 20).all()


@pytest.mark.slow
def test_no_expected_value_moves_by_more_than_its_interval(made):
    survey, *_ = made
    ours, exact = probes(survey, "api"), probes(survey, "reference-multi")
    keys = ["language", "question_id", "wording", "response_value"]
    both = ours.merge(exact, on=keys, suffixes=("", "_exact"))
    both = both.loc[(both["status"] == "ok") & (both["status_exact"] == "ok")]
    assert both["prob_low"].notna().all()
    assert (both["prob_low"] <= both["prob_averaged_exact"] + 1e-9).all()
    assert (both["prob_averaged_exact"] <= both["prob_high"] + 1e-9).all()
    widths = []
    for _, rows in both.groupby(keys[:3]):
        values = rows["response_value"].to_list()
        low, high = bound_mean(list(zip(rows["prob_low"], rows["prob_high"], strict=True)), values)
        mean = float(rows["prob_averaged_exact"] @ rows["response_value"])
        assert low - 1e-9 <= mean <= high + 1e-9
        widths.append(high - low)
    assert len(widths) > 60
    assert max(widths) > 0
    assert exact["prob_low"].isna().all()


@pytest.mark.slow
def test_the_points_of_the_map_are_as_much_wider_as_their_answers_are(made):
    survey, *_ = made
    points = pd.read_parquet(survey / "cultural_map/points.parquet")
    models = points.loc[points["kind"] == "model"].set_index(["model", "language"])
    for language in ("deu", "eng", "fra"):
        ours, exact = models.loc[("api", language)], models.loc[("reference-multi", language)]
        for axis in "xy":
            assert ours[f"{axis}_low"] <= exact[axis] <= ours[f"{axis}_high"]
    notes = pd.read_parquet(survey / "cultural_map/notes.parquet")["note"]
    assert any("shows its likeliest tokens alone" in note for note in notes)


@pytest.mark.slow
def test_the_key_is_in_nothing_that_was_written_or_said(made):
    survey, done, *_ = made
    assert KEY not in done.stdout + done.stderr
    held = [path for path in survey.parents[2].rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert held == []
