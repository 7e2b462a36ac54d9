"""A survey's cells whose model shows no probabilities: its answers are drawn, read as options and counted."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from unittest import mock

import pandas as pd
import pytest

from valuesassets.orchestration.partitions import cell_key
from valuesassets.records.jobs import read_job, write_job
from valuesassets.records.parquet import read_answers, read_readings, read_trials, table_metadata
from valuesassets.records.study import load_study
from valuesassets_tests.orchestration.drawing_server import DrawingServer
from valuesassets_tests.orchestration.drawn_at_a_server import draw_cell, truths_of
from valuesassets_tests.orchestration.one_asset import failures, materialise
from valuesassets_tests.orchestration.run_again import run_again_here
from valuesassets_tests.orchestration.small_study import copied
from valuesassets_tests.remote.loopback_openai import KEY, MODEL
from valuesassets_tests.waiting import wait_until

FAMILY = """
[families.chat]
kind = "openai"
model_type = "multi"
model_id = "{model}"
languages = ["eng"]
prompting = {{ style = "chat", answer_prefix = "none" }}
draws = {{ {draws} }}

[families.chat.endpoint]
provider = "openai"
base_url = "{base_url}"
key_env = "THE_KEY"
route = "sampled"
concurrency = 4
{more}
"""
N = 10
UP_TO_PROBE = ("preflight", "readings", "drawn_answers", "probe_distributions")
pytestmark = pytest.mark.slow


class Drawn:
    """A copy of a study with a family behind a server, which draws."""

    def __init__(self, small_study, folder):
        self.folder = folder
        self.environment = copied(small_study, folder) | {"THE_KEY": KEY}
        self.study = folder / "small.toml"
        self.before = self.study.read_text(encoding="utf-8")
        self.survey = folder / "storage/small/survey"
        self.server = DrawingServer(truths_of(self.survey, "eng"))

    def write(self, draws, more=""):
        family = FAMILY.format(model=MODEL, base_url=self.server.base_url, draws=draws, more=more)
        self.study.write_text(self.before + family, encoding="utf-8")

    def run(self):
        """Make the family's assets; gives what has failed, and the number of answers that were paid for."""
        paid = self.server.paid
        failed = run_again_here(self.environment, UP_TO_PROBE)
        return failed, self.server.paid - paid

    def table(self, noun):
        return pd.read_parquet(self.survey / noun / "chat/eng.parquet")

    @property
    def prompts(self):
        return len(self.server.truths)


@pytest.fixture(scope="module")
def drawn(small_study, tmp_path_factory):
    cell = Drawn(small_study, tmp_path_factory.mktemp("drawn"))
    with cell.server.serving():
        cell.write(f"n = {N // 2}, se_unit = 0.04, most = {N}")  # two rounds, which are never precise enough
        failed, paid = cell.run()
        assert failed == []
        yield cell, paid


def test_every_prompt_is_drawn_as_often_as_the_study_says_and_nothing_twice(drawn):
    cell, paid = drawn
    preflight = read_trials(cell.folder / "storage/small/jobs/survey/preflight/chat/eng.trials.parquet")
    # The draws of the preflight are among those of the grid.
    assert len(preflight) >= 20
    requests = Counter((body["messages"][-1]["content"], body["seed"]) for body in cell.server.bodies[:paid])
    assert {request: n for request, n in requests.items() if n > 1} == {}
    assert paid == cell.prompts * N
    failed, paid_again = cell.run()
    assert (failed, paid_again) == ([], 0)


def test_no_text_is_read_as_another_option(drawn):
    cell, _ = drawn
    rows = cell.table("drawn_answers")
    prompts = {trial.trial_id: trial.prompt for trial in read_trials(cell.survey / "trials/eng.parquet")}
    codes = [cell.server.codes[prompts[row.trial_id], row.text] for row in rows.itertuples()]
    truth = pd.Series(codes, dtype="float")
    codes_read = rows["response_value"].astype(float)
    assert len(rows) == cell.prompts * N
    assert (codes_read.isna() == truth.isna()).all()
    assert (codes_read.dropna() == truth.dropna()).all()
    assert {"option", "no_option", "two_options", "off_scale", "empty"} <= set(rows["standing"])


def test_readings_are_the_shares_of_the_draws(drawn):
    cell, _ = drawn
    rows = cell.table("drawn_answers")
    trials = {trial.trial_id: trial for trial in read_trials(cell.survey / "trials/eng.parquet")}
    readings = read_readings(cell.survey / "readings/chat/eng.parquet")
    assert [reading.trial_id for reading in readings] == [id for id, each in trials.items() if each.estimator is None]
    for reading in readings:
        mine = rows.loc[rows["trial_id"] == reading.trial_id]
        counts = [int((mine["response_value"] == value).sum()) for value in trials[reading.trial_id].values]
        assert list(reading.label_counts) == counts
        assert reading.n_drawn == N
        assert reading.p_valid == pytest.approx(sum(counts) / N)
    about = table_metadata(cell.survey / "readings/chat/eng.parquet")
    assert '"n": 10' in about["draws"]
    assert "another round would exceed most = 10" in about["draws"]
    probe = cell.table("probe_distributions").drop_duplicates("question_id")
    is_read = probe["status"] == "ok"
    assert is_read.mean() > 0.9
    assert (probe.loc[is_read, "n_drawn"] == 2 * N).all()
    exact = pd.read_parquet(cell.survey / "probe_distributions/reference-multi/eng.parquet")
    assert len(exact) == len(cell.table("probe_distributions"))


def readings_of(cell):
    """Materialise the family's readings in this process; the number of answers that were paid for."""
    paid, study = cell.server.paid, load_study(str(cell.study))
    with mock.patch.dict(os.environ, {"THE_KEY": KEY}):
        result = materialise(cell.folder / "storage", study, ["readings"], cell_key("chat", "eng"))
    assert failures(result) == []
    return cell.server.paid - paid


def about_draws(cell):
    return json.loads(table_metadata(cell.survey / "readings/chat/eng.parquet")["draws"])


@pytest.fixture
def fresh(drawn, tmp_path):
    """The drawn study without its draws, to be drawn in another way."""
    cell, _ = drawn
    shutil.copytree(cell.folder, tmp_path / "fresh", ignore=shutil.ignore_patterns("known_readings", "dagster"))
    again = Drawn.__new__(Drawn)
    again.folder, again.study, again.before, again.server = tmp_path / "fresh", None, cell.before, cell.server
    again.survey, again.study = again.folder / "storage/small/survey", again.folder / "small.toml"
    for noun in ("readings", "drawn_texts"):
        shutil.rmtree(again.survey / noun / "chat")
    return again


def test_more_draws_cost_what_they_are_more(fresh):
    fresh.write("n = 6")
    assert readings_of(fresh) == fresh.prompts * 6
    before = read_answers(fresh.survey / "drawn_texts/chat/eng.parquet")
    fresh.write("n = 8")
    assert readings_of(fresh) == fresh.prompts * 2
    after = read_answers(fresh.survey / "drawn_texts/chat/eng.parquet")
    assert [answer for answer in after if answer.sample < 6] == before


def test_rounds_are_drawn_until_the_cell_is_precise_and_no_further(fresh):
    fresh.write("n = 5, se_unit = 0.09, most = 40")
    rounds = readings_of(fresh) / fresh.prompts / 5
    assert rounds in (2, 3, 4)
    about = about_draws(fresh)
    assert about["n"] == 5 * rounds
    assert about["standard_error"] <= 0.09
    assert about["stopped"] == "the standard error is not above 0.09"
    assert readings_of(fresh) == 0


def test_a_budget_ends_the_rounds_after_a_whole_one(fresh):
    fresh.write("n = 5, se_unit = 0.01, most = 40", f"budget_requests = {fresh.prompts * 12}")
    assert readings_of(fresh) == fresh.prompts * 10
    assert "budget_requests" in about_draws(fresh)["stopped"]
    assert len(read_answers(fresh.survey / "drawn_texts/chat/eng.parquet")) == fresh.prompts * 10


def test_kills_lose_no_answer_that_has_arrived(drawn, tmp_path):
    cell, _ = drawn
    job = read_job(cell.folder / "storage/small/jobs/survey/readings/chat/eng/job.json")
    request = job.cells[0].model_copy(update={"answers": tmp_path / "answers.parquet"})
    store = tmp_path / "known"
    write_job(tmp_path / "job.json", job.model_copy(update={"cells": (request,), "known_readings": store}))
    command = [sys.executable, "-m", "valuesassets.node", str(tmp_path / "job.json")]
    environment, total, paid = os.environ | {"THE_KEY": KEY}, cell.prompts * N, cell.server.paid
    for share in (0.02, 0.3, 0.6, 0.9, 0.995):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda share=share: cell.server.paid - paid >= share * total, every=0.005)
        process.kill()
        process.wait()
        wait_until(lambda: cell.server.at_once == 0)
    subprocess.run(command, env=environment, check=True, capture_output=True)
    # What was under way at a kill was paid for, and never arrived.
    assert total <= cell.server.paid - paid <= total + 5 * job.cells[0].endpoint.concurrency
    whole = read_answers(cell.survey / "drawn_texts/chat/eng.parquet")
    assert read_answers(tmp_path / "answers.parquet") == whole


def test_draws_recover_what_a_server_answers(small_study, monkeypatch):
    monkeypatch.setenv("THE_KEY", KEY)
    texts, means = draw_cell(small_study / "storage/small/survey", "fra")
    is_option = texts["code"].notna()
    assert (texts.loc[is_option, "read"] == texts.loc[is_option, "code"]).all()
    assert texts.loc[~is_option, "read"].isna().all()
    assert len(means) >= 30
    assert means["w1_unit"].mean() <= 0.045
    assert means["p_valid"].mean() == pytest.approx(0.9, abs=0.015)
    assert means["true"].between(means["low"], means["high"]).mean() >= 0.85
