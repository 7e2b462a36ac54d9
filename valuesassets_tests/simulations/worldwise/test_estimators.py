import numpy as np
import pandas as pd
import pytest

from valuesassets.measure.seeding import seeded
from valuesassets_tests.simulations.worldwise.estimators import (
    AXES,
    EFFECTS,
    KINDS,
    LEVEL,
    NOISE,
    PULL,
    Z,
    evidence,
    faults_of,
    simulate_model,
    simulate_worlds,
    summarise_worlds,
    true_effects,
    true_gaps,
    true_lean,
    true_slope,
)

SEEDS = range(1, 9)


@pytest.fixture(scope="module")
def outcomes():
    return [row for kind in KINDS for row in simulate_worlds(kind, SEEDS)]


@pytest.mark.slow
def test_nothing_is_found_where_nothing_is_and_what_was_planted_is_found(outcomes):
    summary = summarise_worlds(outcomes)
    rejections = summary["rejections"]
    assert rejections.loc[rejections["is_null"], "rejected"].mean() <= 0.07
    assert rejections.loc[~rejections["is_null"], "rejected"].mean() >= 0.9
    assert faults_of(summary) == []


@pytest.mark.slow
def test_intervals_hold_what_was_planted(outcomes):
    coverage = summarise_worlds(outcomes)["coverage"].set_index(["kind", "measure"])
    assert 0.9 <= coverage["coverage"].mean() <= 0.99
    assert coverage["bias"].abs().max() < 0.1
    assert {"effect, choice", "slope, choice", "gap, decision, decide", "shift"} <= set(coverage.loc["planted"].index)


def test_true_leans_are_those_of_many_dilemmas():
    random = np.random.default_rng(0)
    logits = 0.7 + random.normal(0, LEVEL, 200_000) + random.normal(0, NOISE, 200_000)
    drawn = np.mean([np.tanh((logits + pull) / 2) for pull in (PULL, -PULL)])
    assert true_lean(np.array([0.7])).item() == pytest.approx(drawn, abs=0.005)
    assert true_lean(np.array([0.0])).item() == pytest.approx(0, abs=1e-12)


def test_null_worlds_have_nothing_planted_and_two_planted_cultures_are_alike():
    assert not true_effects("null").any()
    assert not true_gaps("null").any()
    assert true_slope("null") == 0
    effects = true_effects("planted")
    np.testing.assert_array_equal(effects[3], effects[4])
    assert np.flatnonzero(np.abs(true_gaps("planted")) > 1e-12).tolist() == [0, 3]
    assert true_slope("planted") == pytest.approx(
        np.polyfit((Z - Z.mean()).to_numpy().ravel(), effects.ravel(), 1)[0], abs=1e-12
    )
    assert np.sign(effects).tolist() == np.sign(EFFECTS).tolist()


def test_the_same_seed_makes_the_same_model():
    one, same, other = (simulate_model("planted", seeded(seed)) for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(one.choices, same.choices)
    pd.testing.assert_frame_equal(one.reasons, same.reasons)
    np.testing.assert_array_equal(one.vectors, same.vectors)
    assert not one.choices.equals(other.choices)
    assert one.choices["axis"].unique().tolist() == list(AXES)


@pytest.mark.slow
def test_the_evidence_is_plain_values(outcomes):
    evidence_rows = evidence(summarise_worlds(outcomes))
    assert {row["kind"] for row in evidence_rows["coverage"]} == set(KINDS)
    assert all(isinstance(row["rejected"], float) for row in evidence_rows["rejections"])


def test_what_is_off_is_said_in_words():
    rejections = pd.DataFrame(
        {
            "kind": ["null", "planted", "null"],
            "measure": ["shift", "shift", "caricature"],
            "is_null": [True, False, True],
            "rejected": [0.2, 0.5, 0.05],
            "n_worlds": [1000] * 3,
        }
    )
    coverage = pd.DataFrame(
        {"kind": "planted", "measure": ["effect", "gap", "slope"], "coverage": [0.8, 1.0, 0.95], "n_worlds": [1000] * 3}
    )
    assert faults_of({"rejections": rejections, "coverage": coverage}) == [
        "worldwise, null simulations, shift: 0.200 rejected, 0.07 at most wanted",
        "worldwise, planted simulations, shift: 0.500 found, 0.9 at least wanted",
        "worldwise, planted simulations, effect: 0.800 of the intervals hold the truth, 0.93 to 0.97 wanted",
        "worldwise, planted simulations, gap: 1.000 of the intervals hold the truth, 0.93 to 0.97 wanted",
    ]
