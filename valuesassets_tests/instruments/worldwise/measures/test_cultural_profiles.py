import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

from valuesassets.instruments.worldwise.measures.cultural_profiles import profile_model
from valuesassets.instruments.worldwise.tables import CULTURAL_PROFILES
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.instruments.worldwise.made_tables import chosen, drawn_leans

AXES = ["IDV"] * 8 + ["PDI"] * 8
HOW = Inference(resamples=4000)


def profiles(leans, axes=AXES, z=None, how=HOW, **more):
    return profile_model("m", chosen(leans, axes, **more), how, z).set_index(["culture", "axis"])


def test_leans_and_effects_worked_by_hand():
    table = profiles({"JPN": [0.5, 0.1, -0.2], "placebo": [0.1, 0.1, 0.2]}, ["IDV", "IDV", "PDI"])
    japan = table.loc[("JPN", "IDV")]
    assert (japan["lean"], japan["effect"]) == (pytest.approx(0.3), pytest.approx(0.2))
    # of two scenarios the interval runs from one to the other
    assert (japan["effect_low"], japan["effect_high"]) == (pytest.approx(0), pytest.approx(0.4))
    assert japan["reason"] == "an interval over 2 scenarios holds the mean in .50 of cases at most"
    assert table.loc[("JPN", "PDI"), "effect"] == pytest.approx(-0.4)
    assert table.loc[("JPN", "PDI"), ["effect_low", "effect_high"]].isna().all()
    assert table.loc[("placebo", "IDV"), "reason"] == "effects are told from this condition"
    assert table["effect"].isna().tolist() == [False, True, False, True]


def test_intervals_of_eight_scenarios_are_about_as_wide_as_those_of_students_t():
    leans = drawn_leans(["JPN", "placebo"], AXES)
    table = profiles(leans).loc[("JPN", "IDV")]
    effects = (leans["JPN"] - leans["placebo"])[:8]
    assert table["reason"] is None
    low, high = stats.t.interval(0.95, 7, effects.mean(), stats.sem(effects))
    assert table["effect_high"] - table["effect_low"] == pytest.approx(high - low, rel=0.15)
    assert low < table["effect_low"] + 0.1 < table["effect"] < table["effect_high"] - 0.1 < high


def test_topics_and_pulls_of_order_move_no_effect():
    leans = drawn_leans(["JPN", "placebo"], AXES)
    topics = np.random.default_rng(1).uniform(-0.4, 0.4, len(AXES))
    moved = {name: row + topics for name, row in leans.items()}
    columns = ["effect", "effect_low", "effect_high"]
    pd.testing.assert_frame_equal(profiles(leans)[columns], profiles(moved, bias=0.1)[columns])


def test_missing_answers_are_left_out_and_named():
    leans = drawn_leans(["JPN", "USA", "placebo"], AXES)
    gone = {("JPN", number) for number in range(8)} | {("placebo", 9)}
    table = profiles(leans, missing=gone)
    lost = table.loc[("JPN", "IDV")]
    assert (lost["status"], lost["n_scenarios"]) == ("undefined", 0)
    assert lost["reason"] == "no scenario has an answer in every order and wording"
    assert lost[["lean", "lean_low", "effect", "effect_high"]].isna().all()
    kept = np.delete(leans["USA"] - leans["placebo"], 9)[8:]
    assert table.loc[("USA", "PDI"), "effect"] == pytest.approx(kept.mean())
    assert table.loc[("USA", "PDI"), ["n_scenarios", "n_compared"]].tolist() == [8, 7]


def test_without_a_placebo_there_are_leans_and_no_effects():
    table = profiles(drawn_leans(["JPN"], AXES)).loc[("JPN", "IDV")]
    assert (table["status"], table["n_compared"]) == ("ok", 0)
    assert table["reason"] == "no scenario was answered as this condition and as the placebo"
    assert np.isfinite(table["lean"])
    assert np.isnan(table["effect"])


def test_country_scores_stand_beside_where_there_are_any_and_rows_fit_the_table():
    z = pd.DataFrame({"IDV": [1.5]}, index=["JPN"])
    table = profiles(drawn_leans(["JPN", "ARE", "placebo"], AXES), z=z)
    assert table.loc[("JPN", "IDV"), "z"] == 1.5
    assert table.drop(("JPN", "IDV"))["z"].isna().all()
    whole = table.reset_index()[CULTURAL_PROFILES.names]
    CULTURAL_PROFILES.checked(pa.Table.from_pandas(whole, preserve_index=False), "made")
