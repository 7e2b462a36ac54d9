import numpy as np
import pytest


from valuesassets.instruments.survey.human_comparison import derive_human_comparison
from valuesassets.records.distribution import distribution
from valuesassets.records.errors import ScaleMismatch
from valuesassets_tests.instruments.survey.planted_grid import answers, demo, human, no_human, peopleless


@pytest.fixture(scope="module")
def found():
    return derive_human_comparison(answers(), human(), demo())


def test_one_question_by_hand():
    one = answers().query("model == 'reference-mono' and language == 'eng' and question_id == 'v31'").copy()
    one["prob"] = [0.75, 0.25]
    people = human().query("country == 'GB' and question_id == 'v31'").copy()
    people["prob"] = [0.25, 0.75]
    table = derive_human_comparison(one, people, demo()).questions.set_index("model")
    assert table.at["reference-mono", "w1_unit"] == table.at["reference-mono", "tvd"] == 0.5
    assert table.at["reference-mono", "kl_bits"] == pytest.approx(0.5 * np.log2(3), abs=0.01)
    assert table.at["uniform answers", "w1_unit"] == 0.25
    assert table.at["always the first option", "w1_unit"] == 0.25


def test_answers_equal_to_the_people_are_nearest_to_them():
    people = human()
    same = (
        answers()
        .query("model == 'reference-mono'")
        .merge(
            people[["language", "question_id", "response_value", "prob"]],
            on=["language", "question_id", "response_value"],
        )
    )
    same["prob"] = same["prob_y"]
    cells = derive_human_comparison(same, people, demo()).cells.query("kind == 'model'")
    assert cells["jsd_distance"].to_numpy() == pytest.approx(np.zeros(6), abs=1e-6)
    assert (cells["own_country_rank"] == 1).all()


def test_planted_models_beat_every_null(found):
    mean = found.cells.groupby("model")["w1_unit"].mean()
    assert mean["reference-mono"] < mean["pooled other countries"] < mean["uniform answers"]
    assert mean["uniform answers"] < mean["always the first option"]


def test_every_mean_rests_on_a_stated_number_of_items_and_lies_in_its_interval(found):
    cells = found.cells
    assert (cells["n_items"] >= 20).all()
    for measure in ("w1_unit", "jsd_distance"):
        assert (cells[f"{measure}_low"] <= cells[measure]).all()
        assert (cells[measure] <= cells[f"{measure}_high"]).all()


def test_list_items_asked_as_statements_are_left_out(found):
    assert not set(found.questions["question_id"]) & {"v85", "v86", "v92", "v93", "v95"}


def test_categorical_questions_have_total_variation_and_no_w1(found):
    nominal = found.questions.query("response_type == 'categorical'")
    assert nominal["w1_unit"].isna().all()
    assert nominal["tvd"].notna().all()


def test_an_interval_needs_two_items():
    one = answers().query("question_id == 'v31'")
    cells = derive_human_comparison(one, human(), demo()).cells
    assert cells["w1_unit_low"].isna().all()
    assert cells["w1_unit"].notna().all()


def test_without_people_the_tables_are_empty_and_say_why():
    found = derive_human_comparison(answers(), no_human(), peopleless())
    assert found.questions.empty
    assert found.cells.empty
    assert "human.source = 'none'" in found.notes["note"].iloc[0]


def test_a_cell_that_shares_no_item_with_its_people_is_named_and_gets_no_number():
    rows = answers()
    is_alone = (rows["model"] == "reference-mono") & (rows["language"] == "pol")
    rows.loc[is_alone, "question_id"] = "own_" + rows.loc[is_alone, "question_id"]
    found = derive_human_comparison(rows, human(), demo())
    assert "reference-mono/pol: no item shared with the people of PL." in set(found.notes["note"])
    assert found.cells.query("model == 'reference-mono' and language == 'pol'").empty
    assert len(found.cells.query("model == 'reference-mono' and kind == 'model'")) == 5


def test_countries_that_answered_on_different_scales_are_not_pooled():
    scales = {"GB": distribution([1, 2], [1, 1]), "FR": distribution([0, 1], [1, 1])}
    with pytest.raises(ScaleMismatch, match=r"v31: countries answered on different scales .*; align their codes"):
        pooled({country: {"v31": answer} for country, answer in scales.items()})
