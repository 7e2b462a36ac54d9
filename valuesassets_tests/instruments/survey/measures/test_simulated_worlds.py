import functools

import numpy as np
import pandas as pd
import pytest

from valuesassets.comparing.signal import SCALES, SIGNAL
from valuesassets.comparing.simulated_answers import (
    PLANTED,
    sampled,
    simulate_answers,
    simulated_scales,
    simulation_study,
    tilted,
)
from valuesassets.instruments.survey.measures.map.simulated_map import map_items
from valuesassets.instruments.survey.measures.simulated_worlds import (
    KINDS,
    WITHHELD,
    evidence,
    faults_of,
    simulate_worlds,
    summarise_worlds,
)
from valuesassets.measure.distances import expected_unit_of
from valuesassets.records.frames import rows_where
from valuesassets.records.study import load_study

SIMULATIONS = 12


@functools.cache
def study():
    return load_study("demo_survey_22")


@functools.cache
def summary():
    rows = [row for kind in KINDS for row in simulate_worlds(study(), kind, range(1, 1 + SIMULATIONS))]
    return summarise_worlds(rows, study(), 1)


def test_a_tilt_of_nought_is_uniform_and_a_steep_one_sure():
    scales = simulated_scales(30, map_items())
    flat = tilted(scales, np.zeros(30))
    assert flat == pytest.approx(scales.uniform())
    steep = tilted(scales, np.full(30, 60.0))
    assert expected_unit_of(steep, scales.unit) == pytest.approx(np.ones(30), abs=0.01)


def test_drawn_people_differ_from_the_country_by_their_number():
    answers = tilted(simulated_scales(30, map_items()), np.zeros(30))
    drawn = np.array([sampled(answers, 100, np.random.default_rng(seed)) for seed in range(300)])
    assert drawn.mean(axis=0) == pytest.approx(answers, abs=0.02)
    assert drawn[:, 0, 0].var() == pytest.approx(answers[0, 0] * (1 - answers[0, 0]) / 100, rel=0.3)


def test_what_is_read_is_what_was_planted_but_for_wordings():
    small = simulation_study(study(), list(study().languages)[:4], 99)
    simulation = simulate_answers(PLANTED, small, simulated_scales(40, map_items()), 400, 0, np.random.default_rng(0))
    errors = simulation.grid.scales.w1_unit(simulation.grid.answers, simulation.planted)
    assert 0 < np.nanmean(errors) < 0.005
    assert simulation.grid.people == pytest.approx(simulation.people)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_simulation_and_another_seed_another():
    one, again, other = (simulate_worlds(study(), "null", [seed]) for seed in (3, 3, 4))
    assert [{**row, "seed": 0} for row in one] == [{**row, "seed": 0} for row in again]
    assert [row["p"] for row in one if row["what"] == "test"] != [row["p"] for row in other if row["what"] == "test"]


@pytest.mark.slow
def test_the_three_kinds_of_simulation_are_distinguished():
    verdicts = rows_where(summary()["verdicts"], of="signal").set_index(["kind", "verdict"])["share"]
    assert verdicts["planted", SIGNAL] == 1
    assert verdicts["scale_artifact", SCALES] > 0.8
    assert verdicts.get(("null", SIGNAL), 0) < 0.15
    mean = summary()["errors"].set_index(["kind", "measure"])["mean"]
    assert mean["scale_artifact", "r, raw"] == pytest.approx(0.7, abs=0.12)
    assert mean["scale_artifact", "r, double-centred"] == pytest.approx(0, abs=0.05)
    assert faults_of(summary()) == []


@pytest.mark.slow
def test_the_evidence_holds_the_headline_figures():
    results = evidence(summary())
    assert list(summary()) == ["coverage", "rejections", "verdicts", "errors", "p_values", "notes"]
    assert results["planted"]["w1_error"] < 0.03
    assert 0.85 <= results["planted"]["interval_coverage"] <= 1
    assert results["null"]["rejection_rate"] <= 0.2
    assert results["scale_artifact"]["verdict"] == SCALES
    assert f"{SIMULATIONS} planted simulations" in results["worlds"]


def made_up(coverage=0.95, rejected=0.05, verdict=SIGNAL, of_null=SCALES, n_worlds=1000):
    return {
        "coverage": pd.DataFrame(
            [{"interval": "r", "coverage": coverage, "monte_carlo_se": 0.0, "n_worlds": n_worlds}]
        ),
        "rejections": pd.DataFrame(
            [
                {
                    "kind": "null",
                    "test_family": "signal",
                    "any_rejected": rejected,
                    "monte_carlo_se": 0.0,
                    "n_worlds": n_worlds,
                }
            ]
        ),
        "verdicts": pd.DataFrame(
            [
                {"of": "signal", "kind": kind, "verdict": outcome, "n": 9, "share": 1.0}
                for kind, outcome in (("planted", verdict), ("null", of_null), ("scale_artifact", SCALES))
            ]
        ),
    }


def test_too_sure_intervals_too_many_rejections_and_wrong_verdicts_are_faults():
    assert faults_of(made_up()) == []
    assert "hold the truth" in faults_of(made_up(coverage=0.88))[0]
    assert "hold the truth" in faults_of(made_up(coverage=0.995))[0]
    assert "without a difference" in faults_of(made_up(rejected=0.12))[0]
    assert "planted simulations: the verdict of the signal is right in 0.000" in faults_of(made_up(verdict=SCALES))[0]
    assert "planted simulations: the verdict of the signal is right in 0.000" in faults_of(made_up(verdict=WITHHELD))[0]
    assert faults_of(made_up(of_null=WITHHELD)) == []
    assert faults_of(made_up(coverage=0.9, n_worlds=60)) == []  # few simulations: within three Monte Carlo errors
