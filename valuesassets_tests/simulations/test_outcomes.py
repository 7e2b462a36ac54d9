"""Worlds that try claims: what is counted, what is called wrong, and the survey's own worlds, some of each."""

from dataclasses import replace

import numpy as np
import pytest

from valuesassets_tests.simulations.claims import every_simulation
from valuesassets_tests.simulations.outcomes import (
    NULL,
    PLANTED,
    Outcome,
    Power,
    Simulation,
    simulate,
    smallest_effect,
    summarise,
    wrong_conclusions,
)

FEW, FEW_OF_SURVEY = 6, 4
"""Worlds of each kind; those of the survey take longest."""


def coins(claimed, withheld, held, seed):
    draw = np.random.default_rng(seed).random()
    is_claimed = None if draw < withheld else draw < withheld + claimed
    return {"It is so.": Outcome(is_claimed, (int(10 * held), 10))}


def summary_of(kind, claimed, withheld=0.0, held=0.95, n=400):
    def outcomes(seed):
        return coins(claimed, withheld, held, seed)

    return summarise(simulate(Simulation("toy", "coins", {"It is so.": kind}, outcomes, "Z"), range(n)))


def test_shares_are_of_worlds_and_coverage_is_of_intervals():
    (row,) = summary_of(NULL, 0.25, withheld=0.5, held=0.9)
    assert row["n_worlds"] == 400
    assert row["rejected"] == pytest.approx(0.25, abs=0.05)
    assert row["withheld"] == pytest.approx(0.5, abs=0.06)
    assert row["coverage"] == 0.9
    assert (row["claim"], row["finding"], row["instrument"], row["kind"]) == ("It is so.", "Z", "toy", NULL)


@pytest.mark.parametrize(
    ("kind", "claimed", "held", "lines"),
    [(NULL, 0.05, 0.95, 0), (NULL, 0.3, 0.95, 1), (PLANTED, 0.9, 0.95, 0), (PLANTED, 0.9, 0.6, 1), (NULL, 0.3, 0.6, 2)],
)
def test_a_claim_too_often_made_where_it_is_wrong_and_intervals_that_miss_the_truth_are_lines(
    kind, claimed, held, lines
):
    rows = [row | {"coverage": held} for row in summary_of(kind, claimed)]
    assert len(wrong_conclusions(rows)) == lines


@pytest.mark.slow
@pytest.mark.parametrize("simulation", every_simulation(), ids=lambda each: each.world)
def test_in_a_few_worlds_of_each_kind_claims_are_right(simulation):
    few = FEW_OF_SURVEY if simulation.instrument == "survey" else FEW
    for row in summarise(simulate(simulation, range(100, 100 + few))):
        share = row["rejected"]
        assert share >= 3 / 4 if row["kind"] == PLANTED else share <= 1 / 3, row


def test_the_smallest_effect_is_the_first_that_four_worlds_in_five_show():
    def outcomes(effect, seed):
        return {"It is so.": Outcome(np.random.default_rng(seed).random() < effect)}

    power = Power("toy", "It is so.", "a toy", "chance", [0.2, 0.5, 0.7, 0.9, 1.0], outcomes)
    assert smallest_effect(power, range(400))["smallest"] == 0.9
    assert smallest_effect(replace(power, effects=[0.2, 0.5]), range(400))["smallest"] is None
