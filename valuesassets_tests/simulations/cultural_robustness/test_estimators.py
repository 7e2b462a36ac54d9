import numpy as np
import pandas as pd
import pytest

from valuesassets.instruments.cultural_robustness.measures.scores import TESTS
from valuesassets.measure.seeding import seeded
from valuesassets_tests.simulations.cultural_robustness.estimators import (
    KINDS,
    NULL_TESTS,
    evidence,
    faults_of,
    simulate_answers,
    simulate_worlds,
    summarise_worlds,
    true_ratios,
)

SEEDS = range(1, 41)


@pytest.fixture(scope="module")
def simulated():
    return [row for kind in KINDS for row in simulate_worlds(kind, SEEDS)]


@pytest.mark.slow
def test_where_nothing_is_no_test_finds_anything_and_where_something_is_each_does(simulated):
    summary = summarise_worlds(simulated)
    by_kind = summary["worlds"].set_index("kind")
    nulls = [by_kind.loc[kind, f"{name}_rejected"] for kind in KINDS for name in NULL_TESTS[kind]]
    planted = [
        by_kind.loc[kind, f"{name}_rejected"] for kind in KINDS for name in TESTS if name not in NULL_TESTS[kind]
    ]
    assert np.mean(nulls) <= 0.07
    assert min(planted) >= 0.9
    assert faults_of(summary) == []


@pytest.mark.slow
def test_intervals_hold_both_ratios_and_no_ratio_is_given_where_countries_are_ignored(simulated):
    by_kind = summarise_worlds(simulated)["worlds"].set_index("kind")
    coverage = by_kind.loc[["cultures", "one default"], ["diversity_coverage", "robustness_coverage"]]
    assert coverage.to_numpy(dtype=float).mean() >= 0.9
    assert by_kind.loc["cultures", "diversity_mean"] == pytest.approx(true_ratios("cultures")["diversity"], abs=0.03)
    assert by_kind.loc["one default", "diversity_mean"] == pytest.approx(0, abs=0.03)
    assert (by_kind.loc[["arbitrary", "same"], "robustness_refused"] >= 0.85).all()


def test_true_ratios_worked_by_hand():
    """11 of 15 pairs lie in different groups; countries differ by 1, and by a quarter of noise."""
    assert true_ratios("cultures") == pytest.approx({"diversity": 11 / 15 / 1.25, "robustness": 0.8})
    assert true_ratios("one default") == pytest.approx({"diversity": 0, "robustness": 0.8})
    assert np.isnan([*true_ratios("same").values(), *true_ratios("arbitrary").values()]).all()


@pytest.mark.slow
def test_the_published_score_does_not_distinguish_cultures_from_one_answer(simulated):
    by_kind = summarise_worlds(simulated)["worlds"].set_index("kind")
    assert abs(by_kind.at["cultures", "seed_diversity"] - by_kind.at["same", "seed_diversity"]) < 0.15
    assert by_kind[["csp", "seed_diversity"]].notna().all(axis=None)


def test_the_same_seed_makes_the_same_answers():
    (one, first), (again, same), (_, other) = (simulate_answers("cultures", seeded(seed)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, same)
    np.testing.assert_array_equal(one.questions[5].noise, again.questions[5].noise)
    assert not np.array_equal(first, other)


@pytest.mark.slow
def test_the_evidence_is_plain_values(simulated):
    rows = evidence(summarise_worlds(simulated))["worlds"]
    assert [row["kind"] for row in rows] == list(KINDS)
    assert rows[3]["diversity_coverage"] is None


@pytest.mark.slow
def test_what_is_off_is_said_in_words(simulated):
    summary = summarise_worlds(simulated)["worlds"]
    off = summary.assign(n_worlds=1000)
    off.loc[off["kind"] == "same", "structure_rejected"] = 0.3
    off.loc[off["kind"] == "cultures", "country_follow_rejected"] = 0.5
    off.loc[off["kind"] == "one default", "robustness_coverage"] = 0.8
    faults = faults_of({"worlds": pd.DataFrame(off)})
    assert "cultural robustness, same worlds, structure: 0.300 rejected, 0.07 at most wanted" in faults
    assert "cultural robustness, cultures worlds, country_follow: 0.500 found, 0.9 at least wanted" in faults
    held = "0.800 of the intervals hold the truth, 0.93 to 0.97 wanted"
    assert f"cultural robustness, one default worlds, robustness: {held}" in faults
