import numpy as np
import pytest

from valuesassets.instruments.survey.item_statistics import derive_item_statistics
from valuesassets_tests.instruments.survey.planted_grid import answers


def test_one_answer_by_hand():
    found = answers().query("model == 'reference-mono' and language == 'eng' and question_id == 'v114'").copy()
    found["prob"] = [0.5, 0.25, 0.25]  # good, bad, don't mind
    row = derive_item_statistics(found).iloc[0]
    assert row["expected_value"] == 0.5 + 3 * 0.25 + 2 * 0.25
    assert row["expected_value_unit"] == pytest.approx(0.375)
    assert (row["entropy_bits"], row["mode"], row["concentration"], row["n_options"]) == (1.5, 1, 0.375, 3)


def test_categorical_answers_have_no_mean_and_all_others_one_within_the_scale():
    found = derive_item_statistics(answers())
    is_nominal = found["response_type"] == "categorical"
    assert found.loc[is_nominal, "expected_value"].isna().all()
    assert found.loc[~is_nominal, "expected_value_unit"].between(0, 1).all()


def test_there_is_one_row_per_usable_question_of_each_cell():
    keys = ["model", "language", "question_id"]
    assert len(derive_item_statistics(answers())) == len(answers().drop_duplicates(keys))


def test_a_uniform_answer_is_called_near_uniform():
    even = answers().query("language == 'eng'").copy()
    even["prob"] = 1 / even.groupby(["model", "question_id"])["prob"].transform("size")
    found = derive_item_statistics(even)
    assert found["is_near_uniform"].all()
    assert found["w1_unit_to_uniform"].to_numpy() == pytest.approx(np.zeros(len(found)))
