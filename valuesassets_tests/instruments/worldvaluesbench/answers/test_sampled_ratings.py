"""Answers drawn to a set's own prompts: each counts as one rating, in the codes that its prompt's numbers stand for."""

import pandas as pd
import pytest

from valuesassets.instruments.worldvaluesbench.answers.decoded_ratings import derive_sampled_ratings, sampling_trials
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions, load_value_questions
from valuesassets.instruments.worldvaluesbench.tables import DECODED_RATINGS
from valuesassets.instruments.worldvaluesbench.trials.trials import write_trials
from valuesassets.records.errors import MissingData
from valuesassets.records.parquet import read_frame, write_frame
from valuesassets.records.readouts import ScoreLabels
from valuesassets.records.settings.measuring import Elicitation

QUESTIONS = load_value_questions()
PROFILE = "B_COUNTRY=156"
PAIRS = pd.DataFrame({"profile": [PROFILE], "question_id": ["Q94"]})


def trials_of(orders="both"):
    """Q94, of codes 0 to 2, with a background and without."""
    personas = pd.DataFrame({"profile": [PROFILE]})
    questions = chosen_questions(["Q94"])
    return write_trials(personas, PAIRS, questions, ["B_COUNTRY"], "eng", Elicitation(orders=orders))


def counted(rows):
    """Rows of `sampled_answers`: trial, text, how often."""
    columns = pd.Index(["trial_id", "answer_text", "n"])
    return pd.DataFrame(rows, columns=columns).assign(prompt="?")


def test_the_same_prompts_are_put_for_writing_each_with_so_many_draws():
    trials = trials_of()
    put = sampling_trials(trials, samples=7, seed=3)
    assert list(put) == trials
    for read, written in put.items():
        assert (written.trial_id, written.prompt, written.condition) == (read.trial_id, read.prompt, read.condition)
        assert (written.readout.samples, written.readout.seed, written.readout.temperature) == (7, 3, 1)
        assert written.readout.stop == ("\n",)
        assert isinstance(read.readout, ScoreLabels)


def test_orders_other_than_forward_and_reversed_are_not_put():
    trials = trials_of("all")
    assert len({trial.order for trial in trials}) == 6
    assert {trial.order for trial in sampling_trials(trials, 1, 0)} == {"forward", "reversed"}


def test_each_answer_that_was_drawn_is_a_row_worked_by_hand(tmp_path):
    """` 1` is the code 0 forward and 2 reversed; what is no number shown stays as text."""
    forward, backward = (f"Q94@{PROFILE}/0/{order}" for order in ("forward", "reversed"))
    drawn = counted([(forward, " 1", 2), (forward, " hm", 1), (backward, " 1", 1), (backward, " 4", 2)])
    ratings = derive_sampled_ratings(trials_of(), drawn, QUESTIONS)
    assert ratings["trial_id"].tolist() == [forward] * 3 + [backward] * 3
    assert ratings["sample"].tolist() == [0, 1, 2] * 2
    assert ratings["rating"].tolist() == [0, 0, pd.NA, 2, pd.NA, pd.NA]
    assert ratings["is_on_scale"].tolist() == [True, True, False, True, False, False]
    assert ratings["text"].tolist() == [" 1", " 1", " hm", " 1", " 4", " 4"]
    assert set(ratings["profile"]) == {PROFILE}
    write_frame(tmp_path / "decoded.parquet", ratings, DECODED_RATINGS)
    assert len(read_frame(tmp_path / "decoded.parquet", DECODED_RATINGS)) == 6


def test_answers_to_what_is_no_trial_are_told():
    with pytest.raises(MissingData, match=r"^answers: Q1/0/forward is no trial; let the model answer again$"):
        derive_sampled_ratings(trials_of(), counted([("Q1/0/forward", " 1", 1)]), QUESTIONS)
