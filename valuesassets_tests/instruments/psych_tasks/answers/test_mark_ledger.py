"""Every mark is in the ledger, whatever became of it."""

import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.psych_tasks.answers.answer_distributions import derive_answer_distributions
from valuesassets.instruments.psych_tasks.answers.mark_ledger import (
    derive_mark_ledger,
    masses_by_history,
    moved_by_item,
    unread_differ,
    unread_share,
)
from valuesassets.instruments.psych_tasks.material.marks import mark_rows
from valuesassets.instruments.psych_tasks.measures.cells import lost_marks, table_of_cells, tables_of_tasks
from valuesassets.instruments.psych_tasks.tables import TASK_MARKS
from valuesassets.instruments.psych_tasks.trials.asked_marks import ask_task
from valuesassets_tests.instruments.psych_tasks.made_people import person, survey_person, survey_task
from valuesassets_tests.instruments.psych_tasks.made_readings import evenly_read, read_by

TASK = survey_task()
PEOPLE = [
    survey_person("a", [3, 1, 4]),
    person("b", "Go.\n1. One. <<3>>\n2. Two. <<>>\n3. Three. <<9>>\n4. Four. <<2\n", TASK),
    person("c", "Nothing was asked.\n", TASK),
]


def ledger(people, failing=None):
    asking = ask_task(people, TASK)
    frames = derive_answer_distributions(
        asking.rows, people, TASK, asking.trials, evenly_read(asking.trials, failing), False
    )
    marks = {"survey": TASK_MARKS.frame(mark_rows(people, TASK))}
    cells = table_of_cells({("m", "survey"): frames}, "marks")
    return derive_mark_ledger(cells, tables_of_tasks(marks)), marks, frames["marks"]


def test_the_sums_of_every_history_are_the_opening_delimiters():
    frames, marks, _ = ledger(PEOPLE)
    n_opened = sum(who.transcript.text.count("<<") for who in PEOPLE)
    assert set(frames.groupby("history")["marks"].sum()) == {n_opened}
    assert lost_marks(frames, marks) == []


def test_a_transcript_without_marks_is_counted_and_has_none():
    frames, _, _ = ledger(PEOPLE)
    (row,) = frames[(frames["status"] == "no_marks") & (frames["history"] == "human")].itertuples()
    assert (row.marks, row.transcripts) == (0, 1)


def test_a_lost_mark_is_named_by_its_history():
    frames, marks, _ = ledger(PEOPLE)
    less = frames[~((frames["history"] == "alone") & (frames["status"] == "empty"))]
    (row,) = lost_marks(less, marks)
    assert (row["history"], row["marks"], row["wanted"]) == ("alone", 6, 7)


def test_a_mark_that_the_model_could_not_be_read_at_has_its_fault_for_a_status():
    frames, _, marks = ledger(PEOPLE[:1], failing="boundary: the tokens change")
    assert set(frames["status"]) == {"boundary", "not_asked"}
    assert marks["p_valid"].isna().all()
    assert marks.loc[marks["status"] == "boundary", "reason"].str.contains("the tokens change").all()


def test_what_a_history_cannot_have_is_no_loss():
    _, _, marks = ledger(PEOPLE[:1])
    assert (marks["status"] == "not_asked").sum() == 3  # nobody else was shown the same
    assert unread_share(marks) == 0


def test_the_share_that_was_lost_counts_empty_and_broken_marks():
    _, _, marks = ledger(PEOPLE[:2])
    human = marks[(marks["history"] == "human") | marks["history"].isna()]
    assert unread_share(human) == 2 / 7


def test_answers_that_were_lost_are_compared_with_those_that_were_read():
    marks = pd.DataFrame(
        {
            "kind": ["k"] * 6,
            "status": ["read"] * 3 + ["boundary"] * 3,
            "human_answer": ["1", "1", "2", "5", "5", "1"],
        }
    )
    (row,) = unread_differ(marks)
    assert (row["answer"], row["share_unread"], row["share_read"], row["n_unread"]) == ("5", 2 / 3, 0.0, 3)
    assert row["total_variation"] == 2 / 3


def test_a_model_that_says_the_same_whatever_is_asked_is_not_moved_by_any_item():
    people = [survey_person(name, answers) for name, answers in (("a", [3, 1, 4]), ("b", [2, 2, 5]), ("c", [1, 5, 3]))]
    asking = ask_task(people, TASK, ["human"])
    liked = np.array([0.5, 0.2, 0.1, 0.1, 0.1])

    def moved(probs_of):
        readings = read_by(asking.trials, probs_of)
        frames = derive_answer_distributions(asking.rows, people, TASK, asking.trials, readings, False)
        return moved_by_item(frames["marks"])

    assert moved(lambda trial, span: 0.8 * liked).max() < 1e-9
    assert moved(lambda trial, span: 0.8 * np.roll(liked, span)).median() > 0.1


def read_marks(**columns):
    return pd.DataFrame({"history": ["human"] * 3, **columns})


def test_candidates_that_are_likelier_behind_the_answer_raise_an_alarm():
    (row,) = masses_by_history(read_marks(p_valid=[0.2, 0.3, 0.1], p_valid_late=[0.6, 0.5, 0.9]))
    assert row["is_likelier_late"]
    assert (row["median_p_valid"], row["median_p_valid_late"]) == pytest.approx((0.2, 0.6))


def test_no_alarm_where_candidates_come_where_they_are_read():
    (row,) = masses_by_history(read_marks(p_valid=[0.9, 0.8, 0.9], p_valid_late=[0.1, 0.2, 0.0]))
    assert not row["is_likelier_late"]


def test_no_alarm_where_nothing_was_read_late_and_unread_marks_count_for_nothing():
    (row,) = masses_by_history(read_marks(p_valid=[0.9, None, 0.7], p_valid_late=[None] * 3))
    assert (row["marks"], row["median_p_valid_late"], row["is_likelier_late"]) == (2, None, False)
