from itertools import permutations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

from valuesassets.instruments.worldwise.material.dimensions import AXES as ALL_AXES
from valuesassets.instruments.worldwise.measures.alignment import (
    FOLLOWED,
    HABIT,
    KINDS,
    NONE,
    align_model,
    derive_verdicts,
)
from valuesassets.instruments.worldwise.measures.inference import corrected
from valuesassets.instruments.worldwise.tables import AGREEMENT, CULTURE_PAIRS, FLATTENING
from valuesassets.measure.profile_correlation import centred_on_items, correlation
from valuesassets.records.settings.measuring import Inference
from valuesassets_tests.instruments.worldwise.made_tables import chosen, drawn_leans

CULTURES = ["JPN", "USA", "IND", "MEX", "DEU"]
AXES = [axis for axis in ALL_AXES for _ in range(4)]
HOW = Inference(resamples=499)
RANDOM = np.random.default_rng(5)
Z = pd.DataFrame(RANDOM.normal(size=(5, 6)), CULTURES, list(ALL_AXES))


def followed(slope=0.1, noise=0.0, seed=0, z=Z):
    """Leans that move with country scores."""
    random = np.random.default_rng(seed)
    level = random.uniform(-0.3, 0.3, len(AXES))
    return {name: level + slope * z.loc[name, AXES].to_numpy() + random.normal(0, noise, len(AXES)) for name in z.index}


def aligned(leans, z=Z, readout="choice", axes=AXES, **more):
    tables = align_model("m", chosen(leans, axes, **more), z, HOW, {})
    return {name: frame[frame["readout"] == readout] for name, frame in tables.items()}


def test_leans_that_move_with_the_scores_agree_with_them_and_have_their_slope():
    tables = aligned(followed(0.1))
    first = tables["agreement"].set_index("kind").loc["axis-centred"]
    assert first["r"] == pytest.approx(1)
    assert first["p"] == pytest.approx(1 / 120)  # of all labellings the one at hand alone is as good
    assert tables["agreement"]["kind"].tolist() == list(KINDS)
    row = tables["flattening"].iloc[0]
    assert [row["slope"], row["slope_low"], row["slope_high"]] == pytest.approx([0.1] * 3)
    assert [row["slope_least"], row["slope_most"]] == pytest.approx([0.1] * 2)
    assert row["culture_share"] == pytest.approx(1)


@pytest.mark.parametrize(("kind", "is_double"), [("axis-centred", False), ("double-centred", True)])
def test_r_and_p_are_those_of_all_labellings(kind, is_double):
    leans = followed(0.03, 0.3, seed=2)
    tables = aligned(leans)["agreement"].set_index("kind").loc[kind]
    profiles = np.array([[row[np.array(AXES) == axis].mean() for axis in ALL_AXES] for row in leans.values()])
    a, b = centred_on_items(profiles), centred_on_items(Z.to_numpy())
    every = [correlation(a, b[list(order)], is_double) for order in permutations(range(5))]
    assert tables["r"] == pytest.approx(every[0])
    assert tables["p"] == pytest.approx(np.mean(np.array(every) >= every[0] - 1e-12))
    assert tables["null_low"] == pytest.approx(np.quantile(every, 0.025))


def test_the_slope_is_that_of_a_regression_on_centred_scores():
    leans = followed(0.05, 0.3, seed=3)
    row = aligned(leans)["flattening"].iloc[0]
    x = np.concatenate([(Z[axis] - Z[axis].mean()).to_numpy() for axis in AXES])
    y = np.concatenate([np.array([leans[name][place] for name in CULTURES]) for place in range(len(AXES))])
    assert row["slope"] == pytest.approx(stats.linregress(x, y).slope)
    assert row["slope_low"] < row["slope"] < row["slope_high"]


def test_topics_move_nothing_and_one_habit_over_all_axes_moves_axis_centred_r_alone():
    leans = followed(0.05, 0.2)
    topics = np.random.default_rng(9).uniform(-0.3, 0.3, len(AXES))
    moved = aligned({name: row + topics for name, row in leans.items()})
    plain = aligned(leans)
    numbers = ["r", "r_low", "r_high", "p"]
    for kind in KINDS[:2]:
        one, other = (each["agreement"].set_index("kind").loc[kind, numbers].astype(float) for each in (plain, moved))
        pd.testing.assert_series_equal(one, other)
    habits = dict(zip(CULTURES, (0.2, -0.2, 0.1, 0.3, -0.3), strict=True))
    r = aligned({name: row + habits[name] for name, row in leans.items()})["agreement"].set_index("kind")["r"]
    before = plain["agreement"].set_index("kind")["r"]
    assert r["double-centred"] == pytest.approx(before["double-centred"])
    assert abs(r["axis-centred"] - before["axis-centred"]) > 0.05


def test_a_missing_answer_brings_in_no_difference_of_topics():
    """All cultures lean alike; without centring within scenarios, the gap would count for a difference."""
    level = np.linspace(-0.9, 0.9, len(AXES))
    leans = dict.fromkeys(CULTURES, level)
    tables = aligned(leans, missing={("JPN", 0), ("USA", 5)})
    row = tables["flattening"].iloc[0]
    assert row["slope"] == pytest.approx(0, abs=1e-12)
    assert row["slope_least"] < -0.001
    assert row["slope_most"] > 0.001
    assert set(tables["agreement"]["status"]) == {"undefined"}
    assert set(tables["agreement"]["reason"]) == {"nothing varies, so that there is no correlation"}
    assert tables["agreement"]["r"].isna().all()


def verdicts(p, alpha=0.05, **more):
    rows = [
        {"model": "m", "readout": "choice", "kind": kind, "p_corrected": each}
        for kind, each in zip(KINDS, p, strict=True)
    ]
    return derive_verdicts(AGREEMENT.frame(rows).assign(**more), alpha).iloc[0]


@pytest.mark.parametrize(
    ("p", "verdict"),
    [
        ((0.9, 0.01, 0.05), FOLLOWED),
        ((0.01, 0.01, 0.2), HABIT),
        ((0.01, 0.2, 0.01), HABIT),
        ((0.01, 0.2, 0.2), HABIT),
        ((0.06, 0.2, 0.2), NONE),
    ],
)
def test_the_double_centred_and_the_style_centred_correlation_decide_together(p, verdict):
    assert verdicts(p)["verdict"] == verdict


def test_without_correlations_there_is_no_verdict_but_the_reason():
    row = verdicts([np.nan] * 3, reason="3 cultures")
    assert pd.isna(row["verdict"])
    assert row["reason"] == "3 cultures"


@pytest.mark.parametrize(("correction", "expected"), [("holm", 0.04), ("benjamini-hochberg", 0.03)])
def test_p_values_are_corrected_over_models_for_each_readout_and_kind(correction, expected):
    entries = AGREEMENT.frame(
        [
            {"model": model, "readout": readout, "kind": "axis-centred", "p": p}
            for readout in ("choice", "position_open")
            for model, p in (("m", 0.02), ("n", 0.03), ("o", np.nan))
        ]
    )
    table = corrected(entries, ["readout", "kind"], Inference(correction=correction))
    np.testing.assert_allclose(table["p_corrected"].astype(float), [expected, expected, np.nan] * 2)


def test_fewer_than_four_cultures_are_refused_with_the_reason():
    tables = aligned(followed(), z=Z.iloc[:3])
    assert set(tables["agreement"]["status"]) == {"refused"}
    reason = "3 cultures with answers and country scores, 4 or more are needed for a p-value; without scores of all "
    reason += f"axes, and so left out: {', '.join(sorted(Z.index[3:], key=list(Z.index).index))}"
    assert set(tables["agreement"]["reason"]) == {reason} == set(tables["flattening"]["reason"])
    assert tables["agreement"][["r", "r_low", "p", "null_low"]].isna().all(axis=None)
    assert tables["flattening"][["slope", "slope_low", "slope_least"]].isna().all(axis=None)
    assert tables["flattening"]["n_pairs"].tolist() == [10]


def test_a_culture_without_all_scores_has_no_human_side():
    partly = Z.copy()
    partly.loc["DEU", "PDI"] = np.nan
    tables = aligned(followed(), z=partly)
    assert set(tables["agreement"]["n_cultures"]) == {4}
    assert set(tables["agreement"]["reason"]) == {"without scores of all axes, and so left out: DEU"}
    assert set(aligned(followed(), z=Z)["agreement"]["reason"]) == {None}
    assert tables["agreement"].set_index("kind").loc["axis-centred", "p"] == pytest.approx(1 / 24)


def test_more_than_seven_cultures_are_permuted_at_random():
    z = pd.DataFrame(np.random.default_rng(8).normal(size=(8, 6)), list("ABCDEFGH"), list(ALL_AXES))
    assert aligned(followed(z=z), z=z)["agreement"].iloc[0]["p"] == 1 / 500


def test_reasons_that_were_never_asked_for_have_no_rows():
    tables = aligned(followed(), readout="position_open")
    assert [len(frame) for frame in tables.values()] == [0, 0, 0]


def test_pairs_that_differ_everywhere_are_told_apart_and_alike_ones_are_not():
    leans = drawn_leans(["JPN", "placebo"], AXES)
    leans |= {"USA": leans["JPN"] + 0.2, "MEX": leans["JPN"]}
    pairs = aligned(leans)["culture_pairs"].set_index(["culture", "other_culture"])
    assert pairs.loc[("JPN", "USA"), ["distance", "p", "p_corrected"]].tolist() == pytest.approx(
        [0.2, 1 / 500, 1 / 500]  # the other pair differs by the same, and by chance never more: one test
    )
    assert pairs.loc[("JPN", "MEX"), ["distance", "p", "p_corrected"]].tolist() == [0, 1, 1]
    assert pairs["is_told_apart"].tolist() == [True, False, True]
    row = aligned(leans)["flattening"].iloc[0]
    assert (row["n_pairs"], row["n_told_apart"]) == (3, 2)


def test_cultures_without_a_common_scenario_are_not_compared():
    leans = {"JPN": [0.1, 0.2], "USA": [0.3, 0.4]}
    pairs = aligned(leans, axes=["IDV", "IDV"], missing={("JPN", 0), ("USA", 1)})["culture_pairs"].iloc[0]
    assert (pairs["status"], pairs["reason"]) == ("undefined", "no scenario was answered as both")
    assert pairs[["distance", "p", "p_corrected"]].isna().all()


def test_rows_fit_their_tables():
    tables = align_model("m", chosen(followed(0.05, 0.1), AXES), Z, HOW, {})
    for name, table in {"agreement": AGREEMENT, "flattening": FLATTENING, "culture_pairs": CULTURE_PAIRS}.items():
        table.checked(pa.Table.from_pandas(tables[name], preserve_index=False), "made")
