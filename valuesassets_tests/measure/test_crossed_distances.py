from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.measure.crossed_distances import (
    cross_distances,
    mean_over_pairs,
    means_and_noise,
    unbiased_distances,
)

SEEDS = st.integers(0, 2**32 - 1)


def matched(means, arrangement):
    """Mean distance between things of the conditions that an arrangement puts together, pair by pair."""
    n = len(means)
    return np.mean(
        [
            ((means[first, arrangement[first]] - means[second, arrangement[second]]) ** 2).sum(axis=-1) / 2
            for first in range(n)
            for second in range(first + 1, n)
        ]
    )


def test_a_case_worked_by_hand():
    means, noise, n = means_and_noise([[0.0], [2.0], [5.0], [5.0], [8.0]], np.array([0, 0, 1, 1, 2]), 3)
    assert (means.ravel().tolist(), n.tolist()) == ([1.0, 5.0, 8.0], [2, 2, 1])
    assert noise.tolist() == [0.5, 0.0, 0.0]  # variance 2 over 2 * 2 answers; no spread; one answer
    assert unbiased_distances(means, noise)[0].tolist() == [0.0, 7.5, 24.0]


def test_the_order_of_samples_changes_nothing():
    vectors, cells = np.random.default_rng(0).normal(size=(9, 3)), np.array([2, 0, 1, 0, 2, 2, 1, 0, 0])
    order = np.random.default_rng(1).permutation(9)
    for one, other in zip(
        means_and_noise(vectors, cells, 3), means_and_noise(vectors[order], cells[order], 3), strict=True
    ):
        np.testing.assert_allclose(one, other)


def test_distances_are_right_on_average_over_every_sample_that_could_be_drawn():
    ends = {0: (0.0, 1.0), 1: (0.0, 4.0)}  # each answer is one of two, equally likely
    found, plain = [], []
    for drawn in product(*(ends[cell] for cell in (0, 0, 1, 1, 1))):
        means, noise, _ = means_and_noise(np.array(drawn)[:, None], np.array([0, 0, 1, 1, 1]), 2)
        found.append(unbiased_distances(means, noise)[0, 1])
        plain.append(unbiased_distances(means, np.zeros(2))[0, 1])
    expected = (0.5 - 2.0) ** 2 / 2
    assert np.mean(found) == pytest.approx(expected)
    assert np.mean(plain) > expected + 0.5


@given(seed=SEEDS)
def test_everything_agrees_with_loops_over_cells(seed):
    random = np.random.default_rng(seed)
    means, noise = random.normal(size=(3, 5, 2)), random.random((3, 5))
    strata = np.array([-1, 0, 0, 1, 1])
    found = cross_distances(means, noise, strata)

    def d(one, other):
        return ((means[one] - means[other]) ** 2).sum() / 2 - noise[one] - noise[other]

    others = [(a, b) for a in range(1, 5) for b in range(1, 5) if a != b and strata[a] == strata[b]]
    for first, second in ((0, 1), (0, 2), (2, 1)):
        assert found.same[3, first, second] == pytest.approx(d((first, 3), (second, 3)))
        assert found.other[first, second] == pytest.approx(np.mean([d((first, a), (second, b)) for a, b in others]))
    assert found.other[1, 1] == pytest.approx(np.mean([d((1, a), (1, b)) for a, b in others]))
    assert found.own[2, 0, 4] == pytest.approx(d((2, 0), (2, 4)))
    same = [d((first, a), (second, a)) for first, second in ((0, 1), (0, 2), (1, 2)) for a in range(1, 5)]
    assert found.difference == pytest.approx(mean_over_pairs(found.other) - np.mean(same))


@given(seed=SEEDS)
def test_what_is_added_to_all_cells_of_a_thing_changes_no_difference(seed):
    random = np.random.default_rng(seed)
    means, offsets = random.normal(size=(3, 4, 2)), 5 * random.normal(size=(3, 1, 2))
    strata = np.array([-1, 0, 0, 0])
    plain, moved = (
        cross_distances(each, np.zeros((3, 4)), strata, 20, np.random.default_rng(seed))
        for each in (means, means + offsets)
    )
    assert moved.difference == pytest.approx(plain.difference, abs=1e-9)
    np.testing.assert_allclose(moved.by_chance, plain.by_chance, atol=1e-9)
    np.testing.assert_allclose(np.diag(moved.other), np.diag(plain.other), atol=1e-9)


def test_permuted_differences_are_those_of_all_arrangements_alike_often():
    means = np.random.default_rng(3).normal(size=(2, 3, 2))
    found = cross_distances(means, np.zeros((2, 3)), np.zeros(3, dtype=int), 3000, np.random.default_rng(4))
    every = [((means[0, a] - means[1, b]) ** 2).sum() / 2 for a in range(3) for b in range(3)]
    # of two things only how one stands to the other matters: six ways
    ways = [
        matched(means, [[0, 1, 2], list(way)])
        for way in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    ]
    expected = [(sum(every) - 3 * each) / 6 - each for each in ways]
    assert expected[0] == pytest.approx(found.difference)
    shares = [np.isclose(found.by_chance, each).mean() for each in expected]
    assert sum(shares) == pytest.approx(1)
    assert shares == pytest.approx([1 / 6] * 6, abs=0.04)


def test_conditions_stay_within_their_stratum():
    means = np.zeros((2, 4, 1))
    means[:, 2:] = 10.0  # the second stratum lies far away, and nothing differs within a stratum
    found = cross_distances(means, np.zeros((2, 4)), np.array([0, 0, 1, 1]), 50, np.random.default_rng(0))
    assert found.difference == 0
    assert found.by_chance == pytest.approx(np.zeros(50))


def test_without_two_conditions_of_a_stratum_there_is_no_other_condition():
    found = cross_distances(np.zeros((2, 2, 1)), np.zeros((2, 2)), np.array([-1, 0]), 5, np.random.default_rng(0))
    assert np.isnan(found.difference)
    assert np.isnan([*found.other.ravel(), *found.by_chance]).all()
