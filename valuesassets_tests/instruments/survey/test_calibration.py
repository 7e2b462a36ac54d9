import numpy as np
import pytest

from valuesassets.instruments.survey.calibration import compare_with_plants, find_identical_prompts, summarise_recovery
from valuesassets.records.errors import MissingData
from valuesassets.records.study import Phantom
from valuesassets_tests.instruments.survey.planted_grid import planted, probe, trials

ONE_CELL = "model == 'reference-mono' and language == 'pol'"


def cell():
    return probe().query(ONE_CELL).reset_index(drop=True)


def verdict(rows, plants=None):
    summary = summarise_recovery(compare_with_plants(rows, planted() if plants is None else plants), Phantom())
    return summary.set_index("response_type").loc["all"]


def test_what_is_read_without_error_is_recovered():
    whole = verdict(cell())
    assert whole["is_recovered"]
    assert whole[["w1_unit_error_mean", "p_valid_error_p95", "position_bias_error_mean"]].tolist() == [0, 0, 0]


def test_errors_by_hand():
    rows = cell().query("question_id == 'v31'").reset_index(drop=True)
    first, second = rows["prob_forward"]
    rows["prob_forward"] = [first - 0.04, second + 0.04]
    rows["p_valid_forward"] += 0.01
    rows["position_bias_magnitude"] -= 0.03
    found = compare_with_plants(rows, planted()).iloc[0]
    assert found["w1_unit_error"] == pytest.approx(0.02)  # .04 in one of two orders
    assert found["p_valid_error"] == pytest.approx(0.005)
    assert found["position_bias_error"] == pytest.approx(0.03)


def test_uniform_answers_are_not_recovered():
    rows = cell()
    even = 1 / rows.groupby("question_id")["response_value"].transform("size")
    rows["prob_forward"] = rows["prob_reversed"] = even
    whole = verdict(rows)
    assert not whole["is_recovered"]
    assert "w1_unit_error" in whole["reason"]


def test_another_languages_phantom_is_not_recovered():
    other = probe().query("model == 'reference-mono' and language == 'eng'").assign(language="pol")
    assert not verdict(other)["is_recovered"]


def test_swapped_orders_are_noticed():
    swapped = {"prob_forward": "prob_reversed", "prob_reversed": "prob_forward"}
    assert not verdict(cell().rename(columns=swapped))["is_recovered"]


def test_a_p_valid_that_is_off_is_noticed():
    whole = verdict(cell().assign(p_valid_forward=0.5))
    assert "p_valid_error" in whole["reason"]


def test_an_unread_question_stays_a_row_without_errors_and_fails_the_cell():
    rows = cell()
    unread = rows["question_id"] == "v63"
    rows.loc[unread, ["status", "reason"]] = ["unresolved", "no stop"]
    rows.loc[unread, ["prob_forward", "prob_reversed", "p_valid_forward", "p_valid_reversed", "p_valid"]] = np.nan
    comparison = compare_with_plants(rows, planted())
    row = comparison.set_index("question_id").loc["v63"]
    assert row[["w1_unit_error", "recovered_p_valid"]].isna().all()
    assert row["reason"] == "no stop"
    summary = summarise_recovery(comparison, Phantom()).set_index("response_type")
    assert not summary.at["all", "is_recovered"]
    assert "1 of" in summary.at["likert10", "reason"]
    assert summary.at["binary", "is_recovered"]


def test_the_summary_counts_every_question_once_per_response_type():
    summary = summarise_recovery(compare_with_plants(cell(), planted()), Phantom()).set_index("response_type")
    assert summary["n"].drop("all").sum() == summary.at["all", "n"]


def test_nothing_planted_is_refused():
    with pytest.raises(MissingData, match="nothing is planted"):
        compare_with_plants(cell().assign(model="other"), planted())


def test_identical_prompts_are_named():
    shown = trials("eng")
    twin = type(shown[0])(**{**vars(shown[0]), "trial_id": "twin"})
    assert find_identical_prompts(shown) == []
    assert find_identical_prompts([*shown, twin]) == [(shown[0].trial_id, "twin")]
