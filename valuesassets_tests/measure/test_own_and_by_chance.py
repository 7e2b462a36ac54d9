from itertools import permutations

import numpy as np
import pytest

from valuesassets.measure.resampling import own_and_by_chance, permutation_p


def test_a_case_worked_by_hand():
    evidence = np.array([[3.0, 1.0, 9.0], [0.0, 5.0, 9.0]])
    found, by_chance = own_and_by_chance(evidence, np.array([0, 1]), np.array([[0, 1], [1, 0]]))
    assert found == 4
    assert by_chance.tolist() == [4.0, 0.5]


def test_all_assignments_give_the_exact_p_value():
    evidence, own = np.random.default_rng(0).normal(size=(4, 6)), np.array([5, 0, 2, 3])
    every = np.array([own[list(order)] for order in permutations(range(4))])
    found, by_chance = own_and_by_chance(evidence, own, every)
    at_least = [np.mean([evidence[row, place] for row, place in enumerate(way)]) >= found - 1e-12 for way in every]
    assert permutation_p(found, by_chance) == pytest.approx((1 + sum(at_least)) / 25)


def test_what_is_added_to_a_column_or_a_row_for_all_changes_no_rank_among_permutations():
    random = np.random.default_rng(1)
    evidence, own = random.normal(size=(4, 4)), np.arange(4)
    every = np.array(list(permutations(range(4))))
    found, by_chance = own_and_by_chance(evidence, own, every)
    moved = own_and_by_chance(evidence + random.normal(size=4) + random.normal(size=(4, 1)), own, every)
    assert by_chance - found == pytest.approx(moved[1] - moved[0])
