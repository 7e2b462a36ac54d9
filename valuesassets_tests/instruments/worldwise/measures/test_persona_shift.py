from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from valuesassets.instruments.worldwise.measures.persona_shift import (
    nearest_of_model,
    shift_model,
    shift_of,
    ticked_shares,
)
from valuesassets.instruments.worldwise.tables import NEAREST_PERSONA, PERSONA_SHIFT
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.instruments.worldwise.made_tables import chosen, drawn_leans, reasons

HOW = Inference(resamples=999)
AXES = ["IDV"] * 8 + ["PDI"] * 8


def ticks(**by_condition):
    """Reasons of which only the ticked values matter: by condition, a list for each scenario."""
    return reasons(
        [
            (culture, place, "IDV", {"values": values})
            for culture, rows in by_condition.items()
            for place, values in enumerate(rows)
        ]
    )


def test_the_distance_worked_by_hand():
    """Shares JPN (1/4, 3/4, 0), placebo (3/4, 0, 1/4): half of 1/2 + 3/4 + 1/4."""
    shifts = shift_model("m", ticks(JPN=[["a", "b"], ["b"]], placebo=[["a"], ["a", "c"]]), HOW).iloc[0]
    assert shifts["tvd"] == pytest.approx(0.75)
    # differences (-1/2, 1/2, 0) and (-1/2, 1, -1/2): with one turned, half of (0 + 1/2 + 1/2) / 2
    assert shifts["tvd_by_chance"] == pytest.approx((0.75 + 0.25) / 2, abs=0.03)
    assert shifts["tvd_excess"] == shifts["tvd"] - shifts["tvd_by_chance"]


def test_chance_is_that_of_all_swaps_within_scenarios():
    differences = np.random.default_rng(3).normal(size=(8, 4)) + 0.4
    shift = shift_of(differences, Inference(resamples=20_000), np.random.default_rng(0))
    every = [np.abs(np.array(signs) @ differences).sum() / 16 for signs in product((1, -1), repeat=8)]
    assert shift["tvd_by_chance"] == pytest.approx(np.mean(every), abs=0.01)
    assert shift["p"] == pytest.approx(np.mean(np.array(every) >= every[0] - 1e-12), abs=0.01)
    assert shift["tvd_excess_low"] < shift["tvd_excess"] < shift["tvd_excess_high"]


def test_who_ticks_as_the_placebo_does_is_not_shifted():
    shifts = shift_model("m", ticks(JPN=[["a", "b"]] * 6, placebo=[["b", "a"]] * 6), HOW).iloc[0]
    assert shifts[["tvd", "tvd_by_chance", "tvd_excess", "tvd_excess_low", "tvd_excess_high", "p"]].tolist() == [
        0
    ] * 5 + [1]


def test_who_always_ticks_another_value_is_shifted_by_all_there_is():
    shifts = shift_model("m", ticks(JPN=[["a"]] * 12, placebo=[["b"]] * 12), HOW).iloc[0]
    assert shifts["tvd"] == 1
    assert shifts["p"] < 0.01


def test_only_answers_that_were_read_and_listed_values_count():
    answers = ticks(JPN=[["a"], ["b"], []], placebo=[["a"], ["a"], ["a"]])
    answers.loc[1, "status"] = "declined"  # neither option, but values
    answers = answers.assign(unknown_values=[["x"]] * 6)
    shares = ticked_shares(answers)
    assert shares["JPN"].to_dict("index") == {"s0": {"a": 1.0, "b": 0.0}, "s1": {"a": 0.0, "b": 1.0}}
    answers.loc[1, "status"] = "truncated"
    assert ticked_shares(answers)["JPN"].index.tolist() == ["s0"]
    assert "JPN" not in ticked_shares(answers.assign(form="open"))


def test_too_few_scenarios_have_no_number_and_say_so():
    shifts = shift_model("m", ticks(JPN=[["a"], []], unprompted=[[], []], placebo=[["a"], ["a"]]), HOW)
    assert shifts["status"].tolist() == ["undefined"] * 2
    assert shifts["reason"].tolist() == [
        "1 scenarios with ticked values as JPN and as the placebo, two are needed",
        "0 scenarios with ticked values as unprompted and as the placebo, two are needed",
    ]
    assert shifts[["tvd", "tvd_excess", "tvd_excess_low", "p"]].isna().all(axis=None)


def nearest(leans, **more):
    table = nearest_of_model("m", chosen(leans, AXES, **more), HOW)
    return table[table["readout"] == "choice"]


def test_the_nearest_persona_is_the_one_whose_answers_differ_least():
    leans = drawn_leans(["unprompted"], AXES)
    leans |= {"USA": leans["unprompted"] + 0.1, "JPN": leans["unprompted"] - 0.3, "placebo": leans["unprompted"]}
    table = nearest(leans).set_index("culture")
    assert table["distance"].to_dict() == pytest.approx({"USA": 0.1, "JPN": 0.3})
    assert table["rank"].to_dict() == {"USA": 1, "JPN": 2}
    assert table["p_nearest"].to_dict() == {"USA": 1, "JPN": 0}
    assert table["mean_rank"].to_dict() == {"USA": 1, "JPN": 2}


def test_personas_alike_share_the_first_rank():
    leans = drawn_leans(["unprompted", "USA"], AXES)
    table = nearest(leans | {"JPN": leans["USA"]})
    assert table["p_nearest"].tolist() == [0.5, 0.5]
    assert table["rank"].tolist() == [1, 1]


def test_probabilities_of_being_nearest_sum_to_one_and_follow_the_resamples():
    table = nearest(drawn_leans(["unprompted", "USA", "JPN", "MEX"], AXES, seed=4))
    assert table["p_nearest"].sum() == pytest.approx(1)
    assert (table["p_nearest"] < 1).all()
    assert table["p_nearest"].idxmax() == table["distance"].idxmin()


def test_distances_are_over_scenarios_that_all_have_and_without_any_there_is_none():
    leans = drawn_leans(["unprompted", "USA", "JPN"], AXES)
    gone = {("USA", 0), ("unprompted", 1)}
    assert set(nearest(leans, missing=gone)["n_scenarios"]) == {14}
    del leans["unprompted"]
    (row,) = nearest(leans).to_dict("records")
    assert row["status"] == "undefined"
    assert row["reason"] == (
        "2 cultures and 0 scenarios that were answered as each and without a persona, 2 and one are needed"
    )
    assert np.isnan(row["distance"])


def test_values_are_counted_as_they_come_back_from_a_file():
    answers = ticks(JPN=[["a", "b"], []], placebo=[["a"], ["c"]])
    stored = pa.Table.from_pandas(answers[["culture", "scenario_id", "form", "status", "values"]]).to_pandas()
    assert isinstance(stored["values"].iloc[0], np.ndarray)
    for name, shares in ticked_shares(answers).items():
        pd.testing.assert_frame_equal(ticked_shares(stored)[name], shares)


def test_rows_fit_their_tables():
    shifts = shift_model("m", ticks(JPN=[["a"], ["b"]], USA=[[], []], placebo=[["a"], ["a"]]), HOW)
    result = nearest_of_model("m", chosen(drawn_leans(["unprompted", "USA", "JPN"], AXES), AXES), HOW)
    for table, frame in ((PERSONA_SHIFT, shifts), (NEAREST_PERSONA, result)):
        table.checked(pa.Table.from_pandas(frame, preserve_index=False), "made")
