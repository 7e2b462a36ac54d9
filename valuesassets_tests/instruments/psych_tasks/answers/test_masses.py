"""The alarm that an answer is expected a token later than it is read."""

import pandas as pd
import pytest

from valuesassets.instruments.psych_tasks.answers.masses import masses_by_history


def marks(**columns):
    return pd.DataFrame({"history": ["human"] * 3, **columns})


def test_candidates_that_are_likelier_behind_the_answer_raise_an_alarm():
    (row,) = masses_by_history(marks(p_valid=[0.2, 0.3, 0.1], p_valid_late=[0.6, 0.5, 0.9]))
    assert row["is_likelier_late"]
    assert (row["median_p_valid"], row["median_p_valid_late"]) == pytest.approx((0.2, 0.6))


def test_no_alarm_where_candidates_come_where_they_are_read():
    (row,) = masses_by_history(marks(p_valid=[0.9, 0.8, 0.9], p_valid_late=[0.1, 0.2, 0.0]))
    assert not row["is_likelier_late"]


def test_no_alarm_where_nothing_was_read_late_and_unread_marks_count_for_nothing():
    (row,) = masses_by_history(marks(p_valid=[0.9, None, 0.7], p_valid_late=[None] * 3))
    assert (row["marks"], row["median_p_valid_late"], row["is_likelier_late"]) == (2, None, False)
