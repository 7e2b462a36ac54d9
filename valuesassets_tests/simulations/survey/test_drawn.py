"""A few simulations with drawn answers, and what is said where an expectation fails."""

import pandas as pd
import pytest

from valuesassets_tests.simulations.survey.drawn import NOISE, faults_of, simulate, summarise


@pytest.fixture(scope="module")
def noise():
    return summarise(simulate(NOISE, range(1, 21)))["noise"]


def test_one_truth_drawn_twice_is_not_apart_and_advantages_do_not_depend_on_draws(noise):
    assert faults_of({"noise": noise}) == []
    table = noise.set_index(["measure", "n"])
    for n in (10, 40):
        assert abs(table.at[("twice", n), "mean"]) < 0.1 * table.at[("twice", n), "beside"]
        assert abs(table.at[("advantage", n), "mean"]) < 0.02 * table.at[("advantage", n), "beside"]
        assert table.at[("not apart", n), "mean"] == 1


def test_noise_that_is_left_is_named(noise):
    twice = noise[noise["measure"] == "twice"]
    left = twice.assign(mean=twice["beside"])
    assert [fault.split(" draws")[0] for fault in faults_of({"noise": left})] == ["twice at 10", "twice at 40"]
    others = pd.DataFrame(
        [
            {"measure": "advantage", "n": 40, "mean": 0.1, "se": 0.01, "beside": 0.2, "n_simulations": 20},
            {"measure": "not apart", "n": 40, "mean": 0.5, "se": 0.1, "beside": 0.2, "n_simulations": 20},
        ]
    )
    assert len(faults_of({"noise": others})) == 2
