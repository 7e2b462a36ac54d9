import numpy as np
import pytest

from valuesassets.instruments.worldvaluesbench.measures.gathered import gather_probe
from valuesassets.instruments.worldvaluesbench.measures.rating_checks import check_independent_of_groups, check_usable
from valuesassets_tests.instruments.worldvaluesbench.rated_people import (
    drawn_scores,
    people_of,
    samples_of,
    scores_of,
)


def probe_of(dataset, ratings, without=None):
    given = {} if without is None else {"model": without}
    return gather_probe(dataset, samples_of(dataset), {"model": ratings}, given)[0]


def test_two_ratings_in_a_hundred_that_are_missing_or_off_the_scale_are_too_many():
    dataset = people_of(25, ["Q1"])
    good = [2.0] * 200
    for bad, passes in (([np.nan, 9, 9], True), ([np.nan, 9, 9, 9], False)):
        ratings = scores_of(dataset, {"Q1": [*bad, *good[len(bad) :]]})
        (row,) = check_usable(probe_of(dataset, ratings)).to_dict("records")
        assert row["passes"] is passes
        assert (row["n"], row["n_missing"], row["n_out_of_scale"]) == (200, 1, len(bad) - 1)
        assert row["share"] == pytest.approx(len(bad) / 200)


def test_ratings_without_attributes_that_know_the_group_are_found_out():
    dataset = people_of(5, ["Q106", "Q107", "Q108"])
    fair = drawn_scores(dataset, 5)
    leaked = fair.copy()
    is_urban = np.tile(dataset.participants["settlement"] == "urban", 3)
    leaked["SCORE"] = np.where(is_urban, np.minimum(leaked["SCORE"] + 5, 10), leaked["SCORE"])
    (row,) = check_independent_of_groups(probe_of(dataset, fair, leaked)).to_dict("records")
    assert (row["p_value"], row["passes"]) == (pytest.approx(0.001), False)
    (row,) = check_independent_of_groups(probe_of(dataset, leaked, fair)).to_dict("records")
    assert row["passes"]
    assert row["p_value"] > 0.01


def test_one_answer_for_everybody_depends_on_nothing():
    dataset = people_of(5, ["Q1"])
    same = scores_of(dataset, {"Q1": [3] * 40})
    (row,) = check_independent_of_groups(probe_of(dataset, same, same)).to_dict("records")
    assert (row["p_value"], row["passes"]) == (1.0, True)


@pytest.mark.slow
def test_independent_ratings_are_rarely_blamed():
    dataset = people_of(5, ["Q1", "Q2"])
    p_values = [
        check_independent_of_groups(probe_of(dataset, drawn_scores(dataset, 0), drawn_scores(dataset, seed)), 99)[
            "p_value"
        ].item()
        for seed in range(60)
    ]
    assert np.mean(np.array(p_values) <= 0.1) < 0.25
    assert 0.35 < np.mean(p_values) < 0.65
