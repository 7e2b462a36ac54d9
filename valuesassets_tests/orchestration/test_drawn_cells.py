"""A survey's cells whose model shows no probabilities: its answers are drawn, read as options and counted."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from valuesassets.answers.reference_models import shown_options
from valuesassets.records.parquet import read_answers, read_readings, read_trials, table_metadata
from valuesassets_tests.orchestration.drawing_server import DrawingServer, Truth
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
N, PREFLIGHT = 10, 5
UP_TO_PROBE = ("preflight", "readings", "drawn_answers", "probe_distributions")
pytestmark = pytest.mark.slow


def truths_of(survey):
    """What a family of the study answers in English, as shares of each prompt's options."""
    readings = read_readings(survey / "readings/reference-multi/eng.parquet")
    truths = {}
    for trial, reading in zip(read_trials(survey / "trials/eng.parquet"), readings, strict=True):
        if trial.estimator is None:
            texts = tuple(text for _, text in shown_options(trial.prompt, trial.trial_id))
            cue = trial.prompt.rpartition("\n")[2].removesuffix(":")
            # Most draws are options, so that few questions have too few.
            probs = tuple(0.9 * prob / reading.p_valid for prob in reading.label_probs)
            truths[trial.prompt] = Truth(trial.labels, texts, trial.values, probs, cue)
    return truths


class Drawn:
    """A copy of a study with a family behind a server, which draws."""

    def __init__(self, small_study, folder):
        self.folder = folder
        self.environment = copied(small_study, folder) | {"THE_KEY": KEY}
        self.study = folder / "small.toml"
        self.before = self.study.read_text(encoding="utf-8")
        self.survey = folder / "storage/small/survey"
        self.server = DrawingServer(truths_of(self.survey))

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
    made = Drawn(small_study, tmp_path_factory.mktemp("drawn"))
    with made.server.serving():
        made.write(f"n = {N}")
        failed, paid = made.run()
        assert failed == []
        yield made, paid


def test_every_prompt_is_drawn_as_often_as_the_study_says_and_nothing_twice(drawn):
    made, paid = drawn
    preflight = read_trials(made.folder / "storage/small/jobs/survey/preflight/chat/eng.trials.parquet")
    # The draws of the preflight are among those of the grid.
    assert len(preflight) >= 20
    assert paid == made.prompts * N
    failed, paid_again = made.run()
    assert (failed, paid_again) == ([], 0)


def test_no_text_is_read_as_another_option(drawn):
    made, _ = drawn
    rows = made.table("drawn_answers")
    prompts = {trial.trial_id: trial.prompt for trial in read_trials(made.survey / "trials/eng.parquet")}
    codes = [made.server.codes[prompts[row.trial_id], row.text] for row in rows.itertuples()]
    truth = pd.Series(codes, dtype="float")
    said = rows["response_value"].astype(float)
    assert len(rows) == made.prompts * N
    assert (said.isna() == truth.isna()).all()
    assert (said.dropna() == truth.dropna()).all()
    assert {"option", "no_option", "two_options", "off_scale", "empty"} <= set(rows["standing"])


def test_readings_are_the_shares_of_the_draws(drawn):
    made, _ = drawn
    rows = made.table("drawn_answers")
    trials = {trial.trial_id: trial for trial in read_trials(made.survey / "trials/eng.parquet")}
    readings = read_readings(made.survey / "readings/chat/eng.parquet")
    assert [reading.trial_id for reading in readings] == [id for id, each in trials.items() if each.estimator is None]
    for reading in readings:
        mine = rows.loc[rows["trial_id"] == reading.trial_id]
        counts = [int((mine["response_value"] == value).sum()) for value in trials[reading.trial_id].values]
        assert list(reading.label_counts) == counts
        assert reading.n_drawn == N
        assert reading.p_valid == pytest.approx(sum(counts) / N)
    about = table_metadata(made.survey / "readings/chat/eng.parquet")
    assert '"n": 10' in about["draws"]
    probe = made.table("probe_distributions").drop_duplicates("question_id")
    is_read = probe["status"] == "ok"
    assert is_read.mean() > 0.9
    assert (probe.loc[is_read, "n_drawn"] == 2 * N).all()
    exact = pd.read_parquet(made.survey / "probe_distributions/reference-multi/eng.parquet")
    assert len(exact) == len(made.table("probe_distributions"))


def test_more_draws_cost_what_they_are_more(small_study, tmp_path):
    made = Drawn(small_study, tmp_path / "more")
    with made.server.serving():
        made.write("n = 6")
        assert made.run() == ([], made.prompts * 6)
        before = made.table("drawn_answers")
        made.write("n = 8")
        assert made.run() == ([], made.prompts * 2)
        after = made.table("drawn_answers")
        pd.testing.assert_frame_equal(
            after.loc[after["sample"] < 6].reset_index(drop=True), before.reset_index(drop=True)
        )


def test_rounds_are_drawn_until_the_cell_is_precise_and_no_further(small_study, tmp_path):
    made = Drawn(small_study, tmp_path / "rounds")
    with made.server.serving():
        made.write("n = 5, se_unit = 0.09, most = 40")
        failed, paid = made.run()
        rounds = paid / made.prompts / 5
        assert failed == []
        assert rounds in (2, 3, 4)
        about = pd.read_json(table_metadata(made.survey / "readings/chat/eng.parquet")["draws"], typ="series")
        assert about["n"] == 5 * rounds
        assert about["standard_error"] <= 0.09
        assert about["stopped"] == "the standard error is not above 0.09"


def test_a_budget_ends_the_rounds_after_a_whole_one(small_study, tmp_path):
    made = Drawn(small_study, tmp_path / "budget")
    with made.server.serving():
        made.write("n = 5, se_unit = 0.01, most = 40", f"budget_requests = {made.prompts * 12}")
        assert made.run() == ([], made.prompts * 10)
        about = table_metadata(made.survey / "readings/chat/eng.parquet")["draws"]
        assert "budget_requests" in about
        assert len(read_answers(made.survey / "drawn_texts/chat/eng.parquet")) == made.prompts * 10


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.9, 0.995])
def test_a_kill_loses_no_answer_that_has_arrived(small_study, tmp_path, share):
    made = Drawn(small_study, tmp_path / "killed")
    with made.server.serving():
        made.write("n = 5")
        code = (
            "from valuesassets_tests.orchestration.run_again import run_again_here; import os; "
            f"run_again_here(os.environ, {UP_TO_PROBE!r})"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            env=made.environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
            cwd=Path(__file__).parents[2],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_until(lambda: made.server.paid >= share * made.prompts * 5, every=0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        wait_until(lambda: made.server.at_once == 0)
        failed, _ = made.run()
        assert failed == []
        # What was under way at the kill was paid for, and never arrived.
        assert made.prompts * 5 <= made.server.paid <= made.prompts * 5 + 4
        assert made.table("drawn_answers").groupby("trial_id").size().eq(5).all()
