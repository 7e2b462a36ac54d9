import ast
import inspect
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from valuesassets.answers import sampled_answers
from valuesassets.answers.reference_models import planted_text_rows, shown_options
from valuesassets.answers.sampled_answers import derive_sampled_distributions
from valuesassets.instruments.survey.plants.plants import plant_questions
from valuesassets.records.errors import MissingData
from valuesassets_tests.comparing.planted_grid import demo, planted, questions, trials

N = 10_000
CELL = ("reference-mono", "fra")


def plants():
    return plant_questions(demo(), *CELL, questions())


def sampled():
    """Answers counted as often as the planted texts say."""
    rows = pd.DataFrame(planted_text_rows(trials("fra"), plants()))
    return rows.assign(n=(rows["prob"] * N).round().astype(int))[["trial_id", "prompt", "answer_text", "n"]]


def derive(rows):
    return derive_sampled_distributions(rows, trials("fra"), plants(), *CELL)


def test_counted_texts_give_the_planted_answers_though_no_label_or_order_is_used():
    found = derive(sampled()).set_index(["question_id", "response_value"])
    due = planted().query("model == @CELL[0] and language == @CELL[1]").set_index(["question_id", "response_value"])
    columns = ["prob_forward", "prob_reversed", "prob_averaged", "p_valid_forward", "p_valid_reversed"]
    assert set(found.index) == set(due.index)
    difference = (found[columns] - due.loc[found.index, columns]).abs().to_numpy()
    assert difference.max() < 0.02  # counts are rounded, and a twentieth of them is valid in the worst case
    assert difference.mean() < 1e-3


@pytest.mark.parametrize(
    ("text", "counts"),
    [(text, True) for text in ("1", " 1\n", "1,", "01\n", "  1", "1)", "1. {first}\n", "{first}\n")]
    + [(text, False) for text in ("", "\n", "1st", "1 or 2", "one", "hm 1", "10", "1. {last}\n", "b\n")],
)
def test_an_answer_is_counted_where_it_says_one_option(text, counts):
    rows = sampled().query("trial_id == 'v1/0/forward' or trial_id == 'v1/0/reversed'").drop_duplicates("trial_id")
    option_lists = [shown_options(prompt, "doc") for prompt in rows["prompt"]]
    texts = [text.format(first=options[0][1], last=options[-1][1]) for options in option_lists]
    answers = derive(rows.assign(answer_text=texts, n=1)).set_index("response_value")
    assert answers["p_valid"].eq(float(counts)).all()
    if counts:
        assert (answers["prob_forward"].idxmax(), answers["prob_reversed"].idxmax()) == (1, 4)


def test_a_number_that_is_not_offered_is_no_answer():
    rows = sampled().query("trial_id == 'v31/0/forward' or trial_id == 'v31/0/reversed'")
    more = rows.drop_duplicates("trial_id").assign(answer_text=" 3\n", n=N)
    found, before = derive(pd.concat([rows, more])), derive(rows)
    assert found["p_valid_forward"].to_numpy() == pytest.approx(before["p_valid_forward"] / 2, abs=1e-3)
    assert found["prob_forward"].to_numpy() == pytest.approx(before["prob_forward"])


def test_silence_is_null_and_not_a_number():
    rows = sampled().query("trial_id == 'v31/0/forward' or trial_id == 'v31/0/reversed'").assign(answer_text="hm\n")
    found = derive(rows)
    assert found[["prob_forward", "prob_averaged", "position_bias_magnitude"]].isna().all(axis=None)
    assert (found["p_valid"] == 0).all()
    assert np.isfinite(found["n"]).all()


def test_answers_to_one_order_only_or_to_no_trial_are_refused():
    rows = sampled()
    with pytest.raises(MissingData, match="v31: not sampled reversed; materialise sampled_answers again"):
        derive(rows.query("trial_id == 'v31/0/forward'"))
    with pytest.raises(MissingData, match="reference-mono/fra: sampled answers to v0/0/forward, which is no trial"):
        derive(rows.assign(trial_id="v0/0/forward"))
    with pytest.raises(MissingData, match="there are no sampled answers"):
        derive(rows.head(0))


def test_the_second_channel_takes_nothing_from_how_trials_are_read():
    tree = ast.parse(inspect.getsource(sampled_answers))
    touched = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not touched & {"readout", "order", "labels"}
    assert "valuesassets.instruments.survey.trials.trials" not in imported
    assert not any(str(name).startswith("valuesassets.models") for name in imported)


def test_orders_other_than_forward_and_reversed_are_left_out():
    rows = sampled().query("trial_id == 'v1/0/forward' or trial_id == 'v1/0/reversed'")
    *head, one, two, three, four, cue = rows["prompt"].iloc[0].split("\n")
    texts = [line.partition(". ")[2] for line in (two, one, four, three)]
    shown = "\n".join([*head, *(f"{number}. {text}" for number, text in enumerate(texts, 1)), cue])
    turned = pd.DataFrame([{"trial_id": "v1/0/turned", "prompt": shown, "answer_text": " 1\n", "n": N}])
    asked = trials("fra")
    first = next(trial for trial in asked if trial.trial_id == "v1/0/forward")
    known = [*asked, replace(first, trial_id="v1/0/turned")]
    found = derive_sampled_distributions(pd.concat([rows, turned]), known, plants(), *CELL)
    pd.testing.assert_frame_equal(found, derive(rows))
