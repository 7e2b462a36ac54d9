import numpy as np
import pandas as pd
import pytest

from valuesassets.comparing.answer_grid import answer_grid
from valuesassets.comparing.position_bias import derive_position_bias
from valuesassets_tests.comparing.made_grids import made_grid
from valuesassets_tests.comparing.made_up_grid import LANGUAGES, answers_of, drawn, with_families
from valuesassets_tests.comparing.planted_grid import answers, demo

ONE = with_families(one="mono")


def asked_both_ways(cells, study, forward, backward):
    """Answers with the two orders set: both are given the answer and say what it becomes."""
    rows = answers_of(cells, study)
    last = rows.groupby(["model", "language", "question_id"])["response_value"].transform("max")
    rows["prob_forward"] = forward(rows["prob"], rows["response_value"] == 1)
    rows["prob_reversed"] = backward(rows["prob"], rows["response_value"] == last)
    rows["prob"] = (rows["prob_forward"] + rows["prob_reversed"]) / 2
    return rows


def pulled(share):
    return lambda prob, is_first: (1 - share) * prob + share * is_first


def overall(found, model="one"):
    return found["by_response_type"].query("model == @model and response_type == 'all'").iloc[0]


def test_two_languages_and_one_question_by_hand():
    rows = answers_of({("one", "eng"): [[0.5, 0.5]], ("one", "fra"): [[0.7, 0.3]]}, ONE, "binary")
    rows["prob_forward"] = [0.6, 0.4, 0.9, 0.1]
    rows["prob_reversed"] = [0.4, 0.6, 0.5, 0.5]
    row = overall(derive_position_bias(answer_grid(rows), ONE))
    assert row["position_bias_magnitude"] == pytest.approx((0.2 + 0.4) / 2)
    # Expected values on [0, 1]: orders .4 and .6, .1 and .5; languages .5 and .3.
    assert row["order_sd_unit"] == pytest.approx(np.sqrt((0.2**2 / 2 + 0.4**2 / 2) / 2))
    assert row["language_sd_unit"] == pytest.approx(np.std([0.5, 0.3], ddof=1))
    assert row["order_to_language"] == pytest.approx(row["order_sd_unit"] / row["language_sd_unit"])
    assert row["share_near_uniform"] == 0.5
    assert np.isnan(row["order_to_language_low"])


def test_the_mean_magnitude_is_that_of_the_readings_and_lies_in_its_interval():
    found = derive_position_bias(answer_grid(answers()), demo())
    for model, rows in answers().groupby("model"):
        apart = (rows["prob_forward"] - rows["prob_reversed"]).abs()
        of_reading = apart.groupby([rows["language"], rows["question_id"]]).max()
        row = overall(found, model)
        assert row["position_bias_magnitude"] == pytest.approx(of_reading.groupby("question_id").mean().mean())
        assert row["position_bias_magnitude_low"] < row["position_bias_magnitude"] < row["position_bias_magnitude_high"]


def test_wordings_are_averaged_after_their_bias_is_taken():
    rows = answers_of({("one", "eng"): [[0.5, 0.5]]}, ONE, "binary").assign(wording=0)
    one = rows.assign(prob_forward=[0.7, 0.3], prob_reversed=[0.3, 0.7])
    turned = rows.assign(prob_forward=[0.3, 0.7], prob_reversed=[0.7, 0.3], wording=1)
    row = overall(derive_position_bias(answer_grid(one._append(turned)), ONE))
    assert row["position_bias_magnitude"] == pytest.approx(0.4)


def test_a_pull_to_the_first_option_is_its_share_and_outweighs_languages_that_agree():
    same, differ = drawn(1)["eng"], drawn(1)
    cells = {("one", code): 0.98 * same + 0.02 * differ[code] for code in LANGUAGES}
    row = overall(derive_position_bias(answer_grid(asked_both_ways(cells, ONE, pulled(0.3), pulled(0.3))), ONE))
    assert row["position_bias_magnitude"] == pytest.approx(0.3)
    assert row["order_to_language_low"] > 1
    free = overall(derive_position_bias(answer_grid(asked_both_ways(cells, ONE, pulled(0.0), pulled(0.0))), ONE))
    assert free["order_to_language"] == pytest.approx(0, abs=1e-9)


def test_an_always_first_model_has_a_bias_of_one_and_no_language_to_set_it_against():
    study = with_families(first="always-first")
    cells = {("first", code): p for code, p in drawn(2).items()}
    row = overall(
        derive_position_bias(answer_grid(asked_both_ways(cells, study, pulled(1.0), pulled(1.0))), study), "first"
    )
    assert (row["kind"], row["position_bias_magnitude"]) == ("null", pytest.approx(1))
    assert np.isnan(row["order_to_language"])
    assert "do not differ at all" in row["note"]


def test_one_language_alone_has_a_bias_and_no_ratio():
    row = overall(derive_position_bias(answer_grid(answers_of({("one", "eng"): drawn(3)["eng"]}, ONE)), ONE))
    assert row["position_bias_magnitude"] == 0
    assert np.isnan(row["order_to_language"])
    assert "two languages" in row["note"]


def test_uniform_answers_are_all_near_uniform():
    cells = {("one", code): np.full((5, 4), 0.25) for code in LANGUAGES}
    found = derive_position_bias(answer_grid(answers_of(cells, ONE)), ONE)
    assert overall(found)["share_near_uniform"] == 1
    assert (found["cells"]["share_near_uniform"] == 1).all()


def test_the_size_of_models_is_shown_where_the_readings_say_it():
    known = derive_position_bias(
        answer_grid(answers()), demo(), {("reference-mono", code): 1_000 for code in LANGUAGES}
    )
    assert overall(known, "reference-mono")["n_parameters"] == 1_000
    assert np.isnan(overall(known, "reference-multi")["n_parameters"])
    assert known["cells"]["n_parameters"].count() == 6
    assert any(
        "do not say how many parameters" in note
        for note in derive_position_bias(answer_grid(answers()), demo())["notes"]["note"]
    )


def test_every_response_type_that_was_asked_has_a_row():
    found = derive_position_bias(answer_grid(answers()), demo())["by_response_type"]
    assert set(found["response_type"]) == {"all", *answers()["response_type"]}
    assert found.query("response_type == 'categorical'")["order_to_language"].isna().all()


def followed(content, pull, spread=0.0, noise=0.0, seed=3, n_items=40):
    """What each of four languages' answers follow, planted in logits: items' content, a pull to places, and noise."""
    random = np.random.default_rng(seed)
    items = content * random.standard_normal((1, 1, 1, 1, n_items))
    pulls = pull + spread * random.standard_normal((1, 1, 1, 4, n_items))
    turned = np.array([1.0, -1.0]).reshape(2, 1, 1, 1, 1)
    tilts = items + turned * pulls + noise * random.standard_normal((2, 1, 1, 4, n_items))
    grid = made_grid(tilts, np.zeros((4, n_items)), families=("one",))
    return derive_position_bias(grid, ONE)["cells"]


@pytest.mark.parametrize(
    ("planted", "follows"),
    [
        ({"content": 2.0, "pull": 0.0, "noise": 0.3}, "options"),
        ({"content": 1.0, "pull": -3.0, "noise": 0.1}, "options under a pull"),
        ({"content": 0.0, "pull": 2.0, "spread": 1.0}, "position"),
    ],
)
def test_answers_follow_what_was_planted_into_them(planted, follows):
    cells = followed(**planted)
    assert cells["follows"].tolist() == [follows] * 4
    assert cells["note"].isna().all() == (follows == "options")


@pytest.mark.slow
def test_noise_follows_nothing_and_is_seldom_called_an_answer_to_the_question():
    verdicts = np.concatenate([followed(0.0, 0.0, noise=1.0, seed=seed)["follows"] for seed in range(25)])
    assert np.isin(verdicts, ["position", "neither"]).mean() >= 0.95


def test_a_cell_with_few_items_is_not_judged():
    cells = followed(1.0, 0.0, n_items=5)
    assert cells["follows"].isna().all()
    assert cells["note"].str.contains("not known").all()


def test_items_that_have_none_of_as_many_options_beside_them_show_no_agreement():
    rows = pd.concat(
        answers_of({("one", "eng"): [np.arange(1, n + 1) / sum(range(1, n + 1))]}, ONE).assign(question_id=f"q{n}")
        for n in (2, 3, 4, 5, 7, 10)
    )
    cells = derive_position_bias(answer_grid(rows), ONE)["cells"]
    assert np.isnan(cells["order_agreement"].item())
    assert cells["follows"].isna().item()
