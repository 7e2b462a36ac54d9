import pytest

from valuesassets.instruments.worldvaluesbench.measures.figure_tables import (
    PEOPLE,
    derive_group_means,
    derive_pooled_answers,
)
from valuesassets_tests.instruments.worldvaluesbench.small_probe import small_probe


def shares(question, model, attributes=None):
    table = derive_pooled_answers(small_probe())
    if attributes:
        table = table[table.attributes == attributes]
    return table[(table.question_id == question) & (table.model == model)].set_index("response_value")["prob"].to_dict()


def test_pooled_shares_are_weighted_over_those_who_answered():
    assert shares("Q1", PEOPLE) == pytest.approx({1: 2 / 10, 2: 3 / 10, 3: 2 / 10, 4: 3 / 10})


def test_a_missing_rating_leaves_its_person_out_of_the_models_shares_alone():
    assert shares("Q1", "taker", "with") == pytest.approx({1: 6 / 9, 2: 3 / 9, 3: 0, 4: 0})


def test_shares_of_every_question_and_model_sum_to_one():
    table = derive_pooled_answers(small_probe()).fillna({"attributes": ""})
    assert table.groupby(["question_id", "model", "attributes"])["prob"].sum().to_numpy() == pytest.approx(1)


def test_means_of_groups_are_weighted_over_people_who_have_an_answer_and_a_rating():
    means = derive_group_means(small_probe())
    taken = means[(means.model == "taker") & (means.question_id == "Q1")].set_index(["continent", "settlement"])
    # answers 1 and 2 with weights 1 and 3, on the scale 1 to 4
    assert taken.loc[("Africa", "urban"), "human_mean_unit"] == pytest.approx((0 * 1 + 1 / 3 * 3) / 4)
    assert taken.loc[("Africa", "urban"), "model_mean_unit"] == 0
    # the second of this group was not rated, the first of the next did not answer
    assert taken.loc[("Africa", "rural"), "n"] == 1
    assert taken.loc[("Asia", "urban"), ["n", "human_mean_unit"]].tolist() == pytest.approx([1, 2 / 3])
