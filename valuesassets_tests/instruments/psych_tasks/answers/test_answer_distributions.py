"""What a mark's row says of its reading."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.psych_tasks.answers.answer_distributions import derive_answer_distributions
from valuesassets.instruments.psych_tasks.tables import CANDIDATES, DONORS, MARKS
from valuesassets.instruments.psych_tasks.trials.asked_marks import ask_task
from valuesassets_tests.instruments.psych_tasks.made_people import person, survey_person, survey_task, survey_text
from valuesassets_tests.instruments.psych_tasks.made_readings import n_candidates, read_by

TASK = survey_task()
PROBS = np.array([0.4, 0.2, 0.1, 0.1, 0.1])


def derived(people, task=TASK, histories=("human",), is_chat=False, layouts=("auto",), late=None):
    asking = ask_task(people, task, histories, layouts)
    readings = read_by(asking.trials, lambda trial, span: PROBS[: n_candidates(trial, span)])
    if late is not None:
        readings = [replace(each, label_probs_published=late) for each in readings]
    return derive_answer_distributions(asking.rows, people, task, asking.trials, readings, is_chat)


def test_a_row_worked_by_hand():
    late = (0.01, 0.02, 0.03, 0.04, 0.0)
    frames = derived([survey_person("a", [2])], late=late)
    (row,) = frames["marks"].to_dict("records")
    assert row["log_prob_human"] == pytest.approx(math.log(0.2))
    assert row["log_prob_human_late"] == pytest.approx(math.log(0.02))
    assert (row["p_valid"], row["p_valid_late"]) == pytest.approx((0.9, 0.1))
    assert (row["likeliest"], row["is_likeliest"], row["share_likeliest"]) == ("1", False, pytest.approx(4 / 9))
    assert row["expected_value"] == pytest.approx((0.4 + 0.4 + 0.3 + 0.4 + 0.5) / 0.9)
    assert (row["human_value"], row["value_low"], row["value_high"]) == (2, 1, 5)
    logs = frames["candidates"]["log_prob"].tolist()
    assert logs == pytest.approx(np.log(PROBS).tolist())
    assert frames["candidates"]["log_prob_late"].tolist() == pytest.approx([*np.log(late[:4]), -math.inf])


def test_a_reversed_presentation_is_turned_and_its_labels_are_not():
    who = person("a", survey_text([2]), TASK, "reversed")
    (row,) = derived([who])["marks"].to_dict("records")
    assert row["expected_value"] == pytest.approx(6 - row["expected_label"])
    assert row["human_value"] == 4


def test_a_kind_that_does_not_flip_is_not_turned():
    task = survey_task(kinds=[{"name": "k", "before": r"\. $", "candidates": {"range": [1, 5]}, "flips": False}])
    (row,) = derived([person("a", survey_text([2]), task, "reversed")], task)["marks"].to_dict("records")
    assert (row["expected_value"], row["human_value"]) == (row["expected_label"], 2)


def test_an_answer_that_is_no_candidate_is_read_and_scored_nowhere():
    (row,) = derived([survey_person("a", [9])])["marks"].to_dict("records")
    assert row["status"] == "unlisted"
    assert row["p_valid"] == pytest.approx(0.9)
    assert row["log_prob_human"] is None or math.isnan(row["log_prob_human"])
    assert "none of the 5 candidates" in row["reason"]


def test_anything_may_be_answered_at_an_open_mark_and_only_what_was_is_read():
    task = survey_task(kinds=[{"name": "k", "before": r"\. $", "candidates": "open"}])
    frames = derived([person("a", survey_text(["some words"]), task)], task)
    (row,) = frames["marks"].to_dict("records")
    assert (row["status"], row["n_candidates"]) == ("open", 1)
    assert row["log_prob_human"] == pytest.approx(math.log(0.4))
    assert pd.isna(row["likeliest"])
    assert frames["candidates"]["candidate"].tolist() == ["some words"]


def test_a_layout_that_comes_to_the_same_is_there_once():
    people = [survey_person("a", [2, 3])]
    layouts = ("auto", "marked", "plain")
    as_text = derived(people, layouts=layouts)["marks"]
    assert as_text["layout"].tolist() == ["marked"] * 2 + ["plain"] * 2
    as_chat = derived(people, layouts=layouts, is_chat=True)["marks"]
    assert as_chat["layout"].tolist() == ["chat"] * 2 + ["marked"] * 2 + ["plain"] * 2


def test_everybody_who_was_shown_the_same_is_tried_as_a_donor():
    people = [survey_person(name, answers) for name, answers in (("a", [1, 2]), ("b", [1, 1]), ("c", [2, 2]))]
    donors = derived(people)["donors"]
    assert len(donors) == 9
    scores = donors.groupby("participant")["log_score"].unique()
    assert scores["b"] == pytest.approx([math.log(4 / 9)])
    assert scores["a"] == pytest.approx([(math.log(4 / 9) + math.log(2 / 9)) / 2])


def test_a_participant_who_was_shown_something_else_lends_nobody_a_history():
    people = [survey_person("a", [1, 2]), survey_person("b", [1, 1], instructions="Other words.\n")]
    donors = derived(people)["donors"]
    assert donors["donor"].tolist() == donors["participant"].tolist() == ["a", "b"]


def test_the_tables_can_be_written(tmp_path):
    from valuesassets.records.parquet import read_frame, write_frame

    frames = derived(
        [survey_person("a", [2, 9]), person("b", "Go.\n1. One. <<>>\n", TASK)], histories=("human", "alone")
    )
    for table, name in ((MARKS, "marks"), (CANDIDATES, "candidates"), (DONORS, "donors")):
        write_frame(tmp_path / f"{name}.parquet", frames[name], table)
        assert len(read_frame(tmp_path / f"{name}.parquet", table)) == len(frames[name])
