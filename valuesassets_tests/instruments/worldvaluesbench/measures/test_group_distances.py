import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from valuesassets.instruments.worldvaluesbench.answers.rated import Rated
from valuesassets.instruments.worldvaluesbench.measures.gathered import gather_probe
from valuesassets.instruments.worldvaluesbench.measures.group_distances import derive_group_distances
from valuesassets_tests.instruments.worldvaluesbench.rated_people import (
    asked_by_hand,
    drawn_scores,
    people_of,
    samples_of,
)


def test_a_groups_distances_are_weighted_and_squared_ones_are_without_the_noise_of_its_people():
    # Q7 has answers 1 and 2. Urban: people 1, 1, 2 with weights 1, 1, 2: F = 1/2 at the one cut point; the model: 1.
    probe = asked_by_hand("Q7", [0, 0, 0, 1, 1], [1, 1, 2, 1, 2], {"model": [1] * 5}, [1, 1, 2, 1, 1])
    urban, rural = derive_group_distances(probe).to_dict("records")
    assert (urban["n"], urban["effective_n"]) == (3, pytest.approx(16 / 6))
    assert urban["w1_unit"] == pytest.approx(1 / 2)
    # Rural: F = 1/2, M = 1, each of two people is 1/2 off: v = 2 * (1/4 + 1/4) / 4 = 1/4; (F - M)^2 - v = 0.
    assert (rural["w1_unit"], rural["cramer_unit"]) == (0.5, pytest.approx(0))
    assert rural["w1_excess_unit"] == pytest.approx(rural["w1_unit"] - rural["w1_floor_unit"])
    assert urban["settlement"] == "urban"


def test_people_without_a_rating_or_an_answer_are_in_no_distance_and_an_empty_group_has_no_row():
    probe = asked_by_hand("Q1", [0, 0, 0, 1], [1, 4, np.nan, 1], {"model": [1, np.nan, 2, 9]})
    (only,) = derive_group_distances(probe).to_dict("records")
    assert (only["settlement"], only["n"], only["w1_unit"]) == ("urban", 1, 0)
    assert np.isnan(only["cramer_unit"])  # one person has no spread


@given(seed=st.integers(0, 10_000))
def test_without_weights_w1_is_scipys_and_no_less_than_the_difference_of_means(seed):
    random = np.random.default_rng(seed)
    answers, ratings = random.integers(1, 11, (2, 12)).astype(float)
    (row,) = derive_group_distances(asked_by_hand("Q106", [0] * 12, answers, {"model": ratings})).to_dict("records")
    assert row["w1_unit"] == pytest.approx(wasserstein_distance(answers, ratings) / 9, abs=1e-12)
    assert row["w1_unit"] >= abs(answers.mean() - ratings.mean()) / 9 - 1e-12


@pytest.mark.slow
def test_squared_distances_of_a_right_model_are_zero_on_average_though_its_w1_is_not():
    random, shares = np.random.default_rng(3), np.array([0.4, 0.3, 0.2, 0.1])
    right = Rated(np.tile(shares, (1000, 1)), None, 0, 0)
    rows = []
    for _ in range(60):
        answers = random.choice([1, 2, 3, 4], 1000, p=shares)
        # 500 groups of two would be more than the two levels: take groups of five by hand
        for part in np.split(answers[:100], 20):
            rated = Rated(right.probs[:5], None, 0, 0)
            rows += derive_group_distances(asked_by_hand("Q1", [0] * 5, part, {"model": rated})).to_dict("records")
    squares = np.array([each["cramer_unit"] for each in rows])
    assert abs(squares.mean()) < 3 * squares.std() / np.sqrt(squares.size)
    assert np.mean([each["w1_unit"] for each in rows]) > 0.1


def test_every_model_question_and_group_has_its_row():
    dataset = people_of(6)
    probe, _ = gather_probe(
        dataset, samples_of(dataset), {"a": drawn_scores(dataset, 1), "b": drawn_scores(dataset, 2)}
    )
    distances = derive_group_distances(probe)
    assert len(distances) == 2 * 2 * 8
    assert not distances.duplicated(["model", "question_id", "continent", "settlement", "education"]).any()
    assert distances["w1_floor_unit"].between(0, 1).all()


def test_a_model_that_distinguishes_people_of_a_group_has_the_floor_of_what_is_left():
    n = 400
    yes = np.where(np.arange(n) % 2, 0.9, 0.1)  # two kinds of people, alike in both groups
    is_other = np.arange(n) // 4 % 10 == 0  # one in ten does not answer as most of its kind
    answers, groups = np.where((yes > 0.5) != is_other, 1.0, 2.0), np.arange(n) // 2 % 2
    same, apart = np.tile([0.5, 0.5], (n, 1)), np.stack([yes, 1 - yes], axis=1)
    models = {"same": Rated(same, None, 0, 0), "apart": Rated(apart, None, 0, 0)}
    floors = (
        derive_group_distances(asked_by_hand("Q7", groups, answers, models)).groupby("model")["w1_floor_unit"].mean()
    )
    # of 1/4, the variance of an answer, .9 * .1 is left
    assert floors["apart"] / floors["same"] == pytest.approx(np.sqrt(0.09 / 0.25), rel=0.01)


def test_squared_distances_are_without_the_noise_of_drawn_answers_that_people_share():
    probs = np.tile([0.5, 0.5], (4, 1))
    exact = Rated(probs, None, 0, 0)
    drawn = Rated(probs, None, 0, 0, n_draws=np.full(4, 6.0), profiles=np.array([0, 0, 1, 1]))
    models = {"exact": exact, "drawn": drawn}
    by_model = derive_group_distances(asked_by_hand("Q7", [0, 0, 1, 1], [1, 2, 1, 2], models)).set_index("model")
    off = by_model.loc["exact", "cramer_unit"].to_numpy() - by_model.loc["drawn", "cramer_unit"].to_numpy()
    assert off == pytest.approx(np.full(2, 0.25 / 5))
