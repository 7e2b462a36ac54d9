import numpy as np
import pandas as pd
import pytest

from valuesassets.answers.calibration import compare_with_plants, describe_hardness, summarise_recovery
from valuesassets.records.errors import MissingData
from valuesassets.records.settings.draws import LEAST_OPTIONS
from valuesassets.records.settings.measuring import Phantom
from valuesassets.records.tables import TABLES
from valuesassets_tests.comparing.planted_grid import demo, planted, planted_in, probe, questions

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
    rows["prob_averaged"] = (rows["prob_forward"] + rows["prob_reversed"]) / 2
    rows["p_valid_forward"] += 0.01
    rows["position_bias_magnitude"] -= 0.03
    found = compare_with_plants(rows, planted()).iloc[0]
    assert found["w1_unit_error"] == pytest.approx(0.02)  # .04 in one of two orders
    assert found["averaged_w1_unit_error"] == pytest.approx(0.02)
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


def test_an_average_over_masses_in_place_of_shares_is_noticed():
    rows = cell()
    weight = rows["p_valid_forward"] / (rows["p_valid_forward"] + rows["p_valid_reversed"])
    naive = weight * rows["prob_forward"] + (1 - weight) * rows["prob_reversed"]
    whole = verdict(rows.assign(prob_averaged=naive))
    assert not whole["is_recovered"]
    assert whole["reason"].startswith("95th percentile of averaged_w1_unit_error")


def test_an_average_over_more_orders_is_held_to_the_plant_over_these_orders():
    cyclic = demo().model_copy(update={"elicitation": demo().elicitation.model_copy(update={"orders": "cyclic"})})
    plants = planted_in(cyclic, {"pol": questions()})
    of_two = planted_in(demo(), {"pol": questions()})["prob_averaged"]
    rows = cell().assign(prob_averaged=plants["prob_averaged"])
    assert verdict(rows, plants)["is_recovered"]
    assert verdict(rows.assign(prob_averaged=of_two), plants)["reason"].startswith("95th percentile of averaged")
    one = plants[
        (plants["question_id"] == "v1") & (plants["model"] == "reference-mono")
    ]  # a pull to the first option, spread evenly over four options
    ends = one["prob_forward"].to_numpy() + one["prob_reversed"].to_numpy()
    pull = one["position_bias_magnitude"].iloc[0]
    assert one["prob_averaged"].to_numpy() == pytest.approx(ends / 2 - pull * np.array([1, -1, -1, 1]) / 4)


def sampled(rows, n, seed=0):
    """What a faithful sampler would count."""
    rng = np.random.default_rng(seed)
    parts = []
    for _, part in rows.groupby("question_id", sort=False):
        part = part.copy()
        for order in ("forward", "reversed"):
            p_valid = part[f"p_valid_{order}"].iloc[0]
            counts = rng.multinomial(n, [*(part[f"prob_{order}"] * p_valid), 1 - p_valid])[:-1]
            part[f"prob_{order}"], part[f"p_valid_{order}"] = counts / counts.sum(), counts.sum() / n
        part["prob_averaged"] = (part["prob_forward"] + part["prob_reversed"]) / 2
        part["p_valid"] = (part["p_valid_forward"] + part["p_valid_reversed"]) / 2
        part["position_bias_magnitude"] = (part["prob_forward"] - part["prob_reversed"]).abs().max()
        parts.append(part.assign(n=n))
    return pd.concat(parts, ignore_index=True)


def test_sampled_answers_are_off_by_what_the_draw_alone_makes():
    whole = compare_with_plants(cell(), planted(), sampled(cell(), 400))
    for error in ("w1_unit_error", "p_valid_error", "position_bias_error"):
        assert whole[f"sampled_{error}"].mean() == pytest.approx(whole[f"drawn_{error}"].mean(), rel=0.25)
    assert summarise_recovery(whole, Phantom())["is_recovered"].all()


def test_sampled_answers_of_a_wrong_order_are_not_recovered():
    drawn = sampled(cell(), 400).rename(columns={"prob_forward": "prob_reversed", "prob_reversed": "prob_forward"})
    summary = summarise_recovery(compare_with_plants(cell(), planted(), drawn), Phantom())
    assert "sampled_w1_unit_error" in summary.set_index("response_type").loc["all", "reason"]


def test_a_question_that_was_not_sampled_or_only_silent_is_said():
    drawn = sampled(cell(), 400)
    drawn = drawn[drawn["question_id"] != "v39"].reset_index(drop=True)
    silent = drawn["question_id"] == "v63"
    drawn.loc[silent, ["prob_forward", "prob_reversed", "prob_averaged", "position_bias_magnitude"]] = np.nan
    comparison = compare_with_plants(cell(), planted(), drawn)
    summary = summarise_recovery(comparison, Phantom()).set_index("response_type")
    assert "1 of 6 questions were not sampled" in summary.at["likert10", "reason"]
    assert "1 of 6 questions got no sampled answer that is an option" in summary.at["likert10", "reason"]
    assert comparison.set_index("question_id").loc["v63", ["sampled_w1_unit_error", "sampled_p_valid"]].isna().all()


def test_hardness_tells_easy_plants_from_hard_ones():
    hard = describe_hardness(compare_with_plants(cell(), planted())).set_index("response_type")
    assert hard.at["all", "n"] == cell()["question_id"].nunique()
    assert hard.at["all", "w1_unit_to_uniform_mean"] >= 0.15
    assert hard.at["likert10", "both_ends_share"] > 0
    assert np.isnan(hard.at["binary", "both_ends_share"])
    even = cell()
    for order in ("forward", "reversed", "averaged"):
        even[f"prob_{order}"] = 1 / even.groupby("question_id")["response_value"].transform("size")
    even["position_bias_magnitude"] = 0.0
    easy = describe_hardness(compare_with_plants(even, even)).set_index("response_type")
    assert easy.at["all", "w1_unit_to_uniform_mean"] == pytest.approx(0)
    assert easy.at["all", "position_bias_share_strong"] == 0


def test_answers_to_other_options_than_those_planted_are_refused():
    rows = cell().query("question_id == 'v1'")
    with pytest.raises(MissingData, match=r"v1: planted for answers \[1, 2, 3, 4\], read for \[1, 2, 3, 5\]"):
        compare_with_plants(rows.assign(response_value=[1, 2, 3, 5]), planted())


def test_a_cell_is_recovered_only_when_each_of_its_response_types_is():
    rows = cell()
    only = rows["response_type"] == "frequency"
    rows.loc[only, ["p_valid_forward", "p_valid_reversed"]] += 0.1
    summary = summarise_recovery(compare_with_plants(rows, planted()), Phantom()).set_index("response_type")
    assert summary.at["all", "p_valid_error_mean"] < 0.02
    assert summary.at["all", "reason"] == "frequency: mean p_valid_error 0.100 is above 0.02"
    assert not summary.at["all", "is_recovered"]
    assert summary["is_recovered"].sum() == len(summary) - 2


def of_draws(rows, n, seed):
    """The rows with `n` answers drawn in each order, of which some are no option."""
    random, parts = np.random.default_rng(seed), []
    for _, part in rows.groupby("question_id", sort=False):
        part, sides = part.copy(), ("forward", "reversed")
        for side in sides:
            valid = part[f"p_valid_{side}"].iloc[0]
            cells = np.append(part[f"prob_{side}"] * valid, 1 - valid)
            counts = random.multinomial(n, cells / cells.sum())[:-1]
            is_few = counts.sum() < LEAST_OPTIONS
            part[f"prob_{side}"] = np.nan if is_few else counts / counts.sum()
            part[f"p_valid_{side}"] = np.nan if is_few else counts.sum() / n
        part["prob_averaged"] = (part["prob_forward"] + part["prob_reversed"]) / 2
        part["p_valid"] = (part["p_valid_forward"] + part["p_valid_reversed"]) / 2
        part["position_bias_magnitude"] = (part["prob_forward"] - part["prob_reversed"]).abs().max()
        is_read = part[["prob_forward", "prob_reversed"]].notna().all(axis=None)
        parts.append(part.assign(n_drawn=2 * n, status="ok" if is_read else "unresolved"))
    return pd.concat(parts, ignore_index=True)


@pytest.mark.slow
def test_drawn_answers_are_recovered_within_what_drawing_does_and_others_are_not():
    drawn = [of_draws(cell(), 40, seed) for seed in range(10)]
    assert sum(verdict(rows)["is_recovered"] for rows in drawn) >= 9
    assert not any(verdict(rows.drop(columns="n_drawn"))["is_recovered"] for rows in drawn)
    other = probe().query("model == 'reference-mono' and language == 'eng'").assign(language="pol")
    assert not any(verdict(of_draws(other, 40, seed))["is_recovered"] for seed in range(10))
    comparison = compare_with_plants(drawn[0], planted())
    expected = comparison["by_draws_w1_unit_error"].mean()
    assert comparison["w1_unit_error"].mean() == pytest.approx(expected, rel=0.2)
    assert comparison["averaged_w1_unit_error"].mean() == pytest.approx(
        comparison["by_draws_averaged_w1_unit_error"].mean(), rel=0.25
    )
    assert not set(TABLES["calibration"].where_used) & set(compare_with_plants(cell(), planted()))
