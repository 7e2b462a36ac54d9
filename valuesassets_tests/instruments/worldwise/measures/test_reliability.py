import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from valuesassets.instruments.worldwise.answers.model_answers import gather_answers
from valuesassets.instruments.worldwise.measures.alignment import align_model
from valuesassets.instruments.worldwise.measures.cultural_profiles import profile_model
from valuesassets.instruments.worldwise.measures.persona_shift import nearest_of_model
from valuesassets.instruments.worldwise.measures.reliability import culture_components, give_way, rely_on_model
from valuesassets.instruments.worldwise.tables import (
    CULTURAL_PROFILES,
    CULTURE_PAIRS,
    NEAREST_PERSONA,
    RELIABILITY,
)
from valuesassets.measure.internal_consistency import cronbach_alpha
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.instruments.worldwise.made_tables import choices, chosen, drawn_leans, nothing

AXES = ["IDV"] * 6 + ["PDI"] * 6
CULTURES = ["JPN", "USA", "IND", "MEX"]
HOW = Inference(resamples=99)
AT = {"JPN": 0.3, "USA": -0.3, "IND": 0.1, "MEX": -0.1}


def reliability(answers, threshold=0.5):
    return rely_on_model("m", answers, threshold, HOW).set_index("readout")


def test_cultures_that_differ_in_all_orders_and_scenarios_are_reliable_whatever_the_pull():
    leans = {name: np.full(12, level) for name, level in AT.items()}
    row = reliability(chosen(leans, AXES, bias=0.1)).loc["choice"]
    assert [row["order_agreement"], row["scenario_agreement"]] == pytest.approx([1, 1])
    assert row["is_reliable"] is True or row["is_reliable"] == np.True_
    assert row["reason"] == "wording_agreement: asked in one wording"
    assert np.isnan(row["wording_agreement"])


def test_agreement_over_scenarios_of_one_axis_is_cronbachs_alpha_of_cultures():
    leans = {name: AT[name] + row for name, row in drawn_leans(CULTURES, AXES[:6]).items()}
    table = reliability(chosen(leans, AXES[:6])).loc["choice", "scenario_agreement"]
    assert table == pytest.approx(cronbach_alpha([leans[name] for name in CULTURES]))


def test_what_the_other_order_turns_round_is_not_reliable():
    choice_table = choices(drawn_leans(CULTURES, AXES), AXES)
    choice_table = choice_table.assign(p_high_reversed=1 - choice_table["p_high_forward"])
    row = reliability(gather_answers(choice_table, *nothing())).loc["choice"]
    assert row["order_agreement"] == 0
    assert not row["is_reliable"]


def test_wordings_count_where_there_are_several():
    leans = {name: np.full(12, level) for name, level in AT.items()}
    one, other = choices(leans, AXES), choices({name: -row for name, row in leans.items()}, AXES)
    both = pd.concat([one, other.assign(wording=1)], ignore_index=True)
    row = reliability(gather_answers(both, *nothing())).loc["choice"]
    assert row["wording_agreement"] == 0
    assert not row["is_reliable"]
    assert row["reason"] is None
    again = reliability(gather_answers(pd.concat([one, one.assign(wording=1)]), *nothing())).loc["choice"]
    assert again["wording_agreement"] == pytest.approx(1)


def test_what_was_not_measured_is_neither_reliable_nor_not():
    table = reliability(chosen(drawn_leans(["JPN", "USA"], AXES), AXES))
    assert table["is_reliable"].isna().all()
    assert table.loc["choice", "reason"] == (
        "order_agreement: 0 scenarios were answered as 3 or more cultures in each order, two are needed; "
        "wording_agreement: asked in one wording; "
        "scenario_agreement: 2 cultures and 12 scenarios with answers, 3 of each are needed"
    )
    assert table.index.tolist() == ["choice"]  # no reason was asked for
    whole = table.reset_index()[RELIABILITY.names]
    RELIABILITY.checked(pa.Table.from_pandas(whole, preserve_index=False), "made")


def test_placebo_and_unprompted_answers_make_no_culture_reliable():
    leans = {name: np.zeros(12) for name in CULTURES} | {"placebo": np.full(12, 0.8), "unprompted": np.full(12, -0.8)}
    row = reliability(chosen(leans, AXES)).loc["choice"]
    assert (row["order_agreement"], row["scenario_agreement"]) == (0, 0)


def test_profiles_that_are_not_reliable_give_way_with_the_reason_and_others_stay():
    answers = chosen(drawn_leans([*CULTURES, "placebo"], AXES), AXES)
    profiles = profile_model("m", answers, HOW)
    result = pd.DataFrame(
        [
            {"model": "m", "readout": "choice", "order_agreement": 0.9, "scenario_agreement": 0.2, "threshold": 0.5},
            {
                "model": "other",
                "readout": "choice",
                "order_agreement": 0.1,
                "scenario_agreement": 0.2,
                "threshold": 0.5,
            },
        ]
    ).reindex(columns=RELIABILITY.names)
    hidden = give_way(profiles, {"readouts": result.assign(is_reliable=[False, False])})
    assert set(hidden["status"]) == {"refused"}
    assert set(hidden["reason"]) == {"not reliable: scenario_agreement 0.20; 0.5 is asked for"}
    assert hidden[["lean", "lean_low", "effect", "effect_high"]].isna().all(axis=None)
    assert hidden["n_scenarios"].tolist() == profiles["n_scenarios"].tolist()
    CULTURAL_PROFILES.checked(pa.Table.from_pandas(hidden, preserve_index=False), "made")
    for stays in ([True, False], [None, False]):
        readouts = result.assign(is_reliable=stays)
        pd.testing.assert_frame_equal(give_way(profiles, {"readouts": readouts}), profiles)


def test_rankings_give_way_whole():
    leans = drawn_leans([*CULTURES, "unprompted"], AXES)
    answers = chosen(leans, AXES)
    result = {"readouts": rely_on_model("m", answers, 0.99, HOW)}
    ranked = give_way(nearest_of_model("m", answers, HOW), result).query("readout == 'choice'")
    pairs = give_way(align_model("m", answers, pd.DataFrame(columns=["IDV", "PDI"]), HOW, {})["culture_pairs"], result)
    assert ranked[["distance", "rank", "p_nearest", "mean_rank"]].isna().all(axis=None)
    assert pairs[["distance", "p", "p_corrected", "is_told_apart"]].isna().all(axis=None)
    assert set(ranked["n_scenarios"]) == {12} == set(pairs["n_scenarios"])
    for table, frame in ((NEAREST_PERSONA, ranked), (CULTURE_PAIRS, pairs)):
        table.checked(pa.Table.from_pandas(frame, preserve_index=False), "made")


def test_a_ranking_gives_way_where_reliability_is_not_known_and_a_profile_stays():
    answers = chosen(drawn_leans(["JPN", "USA", "placebo", "unprompted"], AXES), AXES)
    result = {"readouts": rely_on_model("m", answers, 0.5, HOW)}
    ranked = give_way(nearest_of_model("m", answers, HOW), result, is_ranking=True)
    assert ranked["p_nearest"].isna().all()
    assert ranked["reason"].str.startswith("whether it replicates is not known: order_agreement: 0 scen").all()
    profiles = profile_model("m", answers, HOW)
    pd.testing.assert_frame_equal(give_way(profiles, result), profiles)


def test_components_worked_by_hand():
    """Cultures 1 apart in both scenarios: variance 1/2 between them and none besides."""
    between, within = culture_components(np.array([[0.0, 3.0], [1.0, 4.0]]), np.array(["IDV", "IDV"]))
    assert (between, within) == (pytest.approx(0.5), pytest.approx(0))
    between, within = culture_components(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array(["IDV", "IDV"]))
    assert (between, within) == (pytest.approx(-0.5), pytest.approx(1))
    assert np.isnan(culture_components(np.array([[0.0, 1.0]]), np.array(["IDV", "IDV"]))).all()
    assert np.isnan(culture_components(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array(["IDV", "PDI"]))).all()
