"""What a task asks in all, and whose marks its spans stand for."""

import pandas as pd
import pytest

from valuesassets.instruments.psych_tasks.material.histories import HISTORIES
from valuesassets.instruments.psych_tasks.trials.asked_marks import ask_task
from valuesassets.records.parquet import read_trials, trial_rows, write_table
from valuesassets.records.tables import TRIALS
from valuesassets_tests.instruments.psych_tasks.made_people import (
    BALLOONS,
    balloon_text,
    person,
    survey_person,
    survey_task,
)

TASK = survey_task()
PEOPLE = [survey_person("a", [3, 1, 4]), survey_person("b", [5, 2, 2])]


@pytest.mark.parametrize("layouts", [("auto",), ("plain",), ("auto", "plain")])
def test_every_mark_has_a_row_in_every_history_layout_and_draw(layouts):
    table = ask_task(PEOPLE, TASK, layouts=layouts, own_draws=2).rows
    n = table.groupby(["layout", "history", "draw"]).size()
    assert set(n) == {6}
    assert len(n) == len(layouts) * (len(HISTORIES) + 1)
    assert table["trial_id"].notna().all()
    keys = ["experiment", "participant", "mark", "history", "draw", "layout"]
    assert not table.duplicated(keys).any()


def test_a_history_that_cannot_be_had_has_rows_with_a_reason():
    table = ask_task([person("a", balloon_text(), BALLOONS)], BALLOONS).rows
    missing = table[table["trial_id"].isna()]
    assert set(missing["history"]) == {"own", "permuted", "other"}
    assert missing["reason"].notna().all()
    assert len(table) == 4 * len(HISTORIES)


def test_spans_of_the_rows_are_those_of_their_trials():
    asking = ask_task(PEOPLE, TASK)
    trials = {trial.trial_id: trial for trial in asking.trials}
    assert len(trials) == len(asking.trials)
    for row in asking.rows.itertuples():
        assert 0 <= row.span < len(trials[row.trial_id].readout.spans)
    used = asking.rows.groupby("trial_id")["span"].nunique()
    assert {name: len(trial.readout.spans) for name, trial in trials.items()} == used.to_dict()


def test_another_persons_reading_serves_where_both_were_shown_the_same():
    rows = ask_task(PEOPLE, TASK, ("human", "other")).rows
    other = rows[(rows["history"] == "other") & (rows["participant"] == "a")]
    assert set(other["trial_id"]) == {"made up/b/human"}


def test_every_mark_has_one_row_in_a_history_where_texts_differ():
    other = person("b", PEOPLE[1].transcript.text.replace("Statement", "Sentence"), TASK)
    rows = ask_task([PEOPLE[0], other], TASK, ("human", "other")).rows
    assert rows.groupby(["participant", "history"]).size().tolist() == [3] * 4


def test_only_what_people_answered_is_also_read_as_published():
    asking = ask_task(PEOPLE, TASK)
    assert {trial.condition for trial in asking.trials if trial.readout.as_published} == {"human"}
    own = [trial.readout for trial in asking.trials if trial.condition == "own"]
    assert [(readout.history, readout.seed) for readout in own] == [("own", None)]


def test_trials_come_back_from_their_file_as_they_were(tmp_path):
    trials = ask_task(PEOPLE, TASK).trials
    write_table(tmp_path / "t.parquet", trial_rows(trials), TRIALS)
    assert read_trials(tmp_path / "t.parquet") == trials


def test_rows_fit_their_table():
    from valuesassets.instruments.psych_tasks.tables import ASKED_MARKS

    rows = ask_task(PEOPLE, TASK).rows
    assert list(rows.columns) == ASKED_MARKS.names
    assert isinstance(rows, pd.DataFrame)
