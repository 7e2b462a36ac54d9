"""Answers stand on their questions' scales, after recoding; negative: why there is none."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.instruments.worldvaluesbench.material.participants import read_participants
from valuesassets.instruments.worldvaluesbench.material.value_answers import (
    derive_value_answers,
    question_ids,
    scales_of,
)
from valuesassets.instruments.worldvaluesbench.material.value_questions import chosen_questions, load_value_questions
from valuesassets.instruments.worldvaluesbench.plants.planted_people import plant_people
from valuesassets.people.answer_codes import Column as At
from valuesassets.people.answer_codes import as_codes
from valuesassets_tests.instruments.worldvaluesbench.made_files import RECODED, planted_file

BY_HAND = {
    "Q56": ([1, 2, 3, -1], [1, 3, 2, -1]),
    "Q94": ([0, 1, 2, -5], [0, 1, 2, -5]),
    "Q111": ([1, 2, 3, -2], [1, 2, -5, -2]),
    "Q119": ([0, 1, 2, 3, 4], [3, 1, 2, 4, 5]),
    "Q222": ([1, 2, 3, 4], [1, 2, 3, -5]),
    "Q241": ([0, 1, 2, 10], [1, 1, 2, 10]),
    "Q254": ([1, 4, 5, -99], [1, 4, -5, -5]),
}


@pytest.mark.parametrize("question", BY_HAND)
def test_codes_of_the_file_become_answers_by_hand(tmp_path, question):
    filed, expected = BY_HAND[question]
    frame = plant_people(64, 1, RECODED, n_shared_ids=0)
    frame.loc[: len(filed) - 1, question] = filed
    answers = read_participants(planted_file(tmp_path, frame), chosen_questions([question])).value_answers
    assert answers[question].dtype == "Int16"
    assert answers[question].head(len(filed)).tolist() == expected


def test_zero_is_an_answer_and_an_empty_cell_is_none(tmp_path):
    frame = plant_people(64, 1, RECODED, n_shared_ids=0).astype({"Q94": float})
    frame.loc[0:3, "Q94"] = [0, np.nan, 2, -1]
    answers = read_participants(planted_file(tmp_path, frame), chosen_questions(["Q94"])).value_answers
    assert answers["Q94"].isna().head(4).tolist() == [False, True, False, False]
    assert answers["Q94"].head(4).tolist() == [0, pd.NA, 2, -1]


@given(question=st.sampled_from(list(load_value_questions().values())), data=st.data())
def test_whatever_a_question_may_hold_is_on_its_scale_or_says_why_not(question, data):
    allowed = (set(question.values) - set(question.recodes.values())) | set(question.recodes) | set(question.missing)
    codes = data.draw(st.lists(st.sampled_from([*sorted(allowed), -1, -2, -3, -4, -5]), min_size=1, max_size=20))
    at = At(question.id, Path("wvs.csv"))
    scale = scales_of([question])[question.id]
    recode = dict.fromkeys(scale.missing, -5) | scale.recode
    answers = as_codes(np.array(codes, dtype=float), at, np.full(len(codes), "276", object), scale.values, recode)
    answers = derive_value_answers(["a"] * len(codes), {question.id: answers})[question.id]
    for code, answer in zip(codes, answers, strict=True):
        if code < 0 or code in question.missing:
            assert answer < 0
        else:
            assert answer == question.recodes.get(code, code)
            assert question.lo <= answer <= question.hi


def test_questions_of_a_table_are_its_columns_without_the_id():
    assert question_ids(derive_value_answers(["a"], {})) == []
