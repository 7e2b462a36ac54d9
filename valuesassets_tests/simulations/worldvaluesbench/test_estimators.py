import numpy as np
import pandas as pd
import pytest

from valuesassets.measure.seeding import seeded
from valuesassets_tests.simulations.worldvaluesbench.estimators import (
    KINDS,
    evidence,
    faults_of,
    make_probe,
    make_truth,
    simulate_worlds,
    summarise_worlds,
)


@pytest.fixture(scope="module")
def records():
    return [row for kind in KINDS for row in simulate_worlds(kind, range(2 if kind != "null" else 120))]


def test_a_planted_slope_is_what_the_models_of_a_world_make_of_peoples_moves():
    truth = make_truth("panel", seeded(0))
    for scope in ("all", "continent", "education"):
        assert truth.slope("follows", scope) == pytest.approx(0.8)
        assert truth.slope("has own moves", scope) == pytest.approx(0.6, abs=0.6)


def test_people_answer_as_their_world_says():
    truth = make_truth("crowd", seeded(0))
    probe = make_probe(truth, "crowd", seeded(1))
    for item, people in zip(probe.questions, truth.people, strict=True):
        at_most = [(item.answers <= cut).mean() for cut in range(people.shape[2])]
        assert at_most == pytest.approx(people.mean(axis=(0, 1)), abs=0.03)


@pytest.mark.slow
def test_intervals_hold_planted_slopes_and_tests_find_nothing_where_nothing_is(records):
    summary = summarise_worlds(records)
    assert summary["coverage"]["coverage"].mean() > 0.85
    rejected = summary["rejections"].set_index(["permuted", "factor"])["rejected"]
    assert rejected["levels", "all"] < 0.12 < rejected["groups", "all"] + 0.04
    assert faults_of(summary) == []


def test_the_same_seed_makes_the_same_world():
    one, again, other = (simulate_worlds("null", [seed]) for seed in (3, 3, 4))
    assert one == again
    assert [row["p"] for row in one] != [row["p"] for row in other]


@pytest.mark.slow
def test_the_evidence_is_plain_values(records):
    plain = evidence(summarise_worlds(records))
    assert set(plain) == {"coverage", "rejections"}
    assert {row["kind"] for row in plain["coverage"]} == set(KINDS) - {"null"}


def test_what_is_off_is_said_in_words():
    coverage = {"kind": "panel", "model": "follows", "factor": "all", "coverage": 0.7, "n_worlds": 500}
    rejections = [
        {"permuted": "levels", "factor": "all", "rejected": 0.3, "n_worlds": 500},
        {"permuted": "groups", "factor": "all", "rejected": 0.05, "n_worlds": 500},
    ]
    faults = faults_of({"coverage": pd.DataFrame([coverage]), "rejections": pd.DataFrame(rejections)})
    assert len(faults) == 3
    assert "0.700 of the intervals hold the slope" in faults[0]
    assert np.all(["of the null worlds rejected" in fault for fault in faults[1:]])
