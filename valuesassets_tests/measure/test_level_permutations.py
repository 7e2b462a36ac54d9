import itertools

import numpy as np
import pytest

from valuesassets.measure.between_groups import pairings
from valuesassets.measure.level_permutations import arrangement_p, level_arrangements
from valuesassets_tests.simulations.worldvaluesbench.estimators import free_arrangements

SMALL = list(itertools.product("abc", "xy"))
FULL = list(itertools.product("abcdef", "xy", "1234"))


def test_six_two_and_four_levels_have_34_560_arrangements_and_all_differ():
    arranged = level_arrangements(FULL)
    assert arranged.shape == (34_560, 48)
    assert arranged[0].tolist() == list(range(48))
    assert len(np.unique(arranged, axis=0)) == 34_560
    assert (np.sort(arranged[::997], axis=1) == np.arange(48)).all()


def test_arrangements_are_those_of_levels_exchanged_by_hand():
    by_hand = {
        tuple(SMALL.index((first["abc".index(a)], second["xy".index(b)])) for a, b in SMALL)
        for first in itertools.permutations("abc")
        for second in itertools.permutations("xy")
    }
    assert {tuple(row) for row in level_arrangements(SMALL).tolist()} == by_hand


def test_a_combination_that_is_no_group_has_nobody_in_its_place():
    arranged = level_arrangements(SMALL[:-1])
    assert arranged.shape == (12, 5)
    assert (arranged[0] >= 0).all()
    assert (arranged == -1).sum() == 2 * 5


def lengths(a, b):
    """Squared distances of groups as one question gives them: each group's own beside any other's."""
    of_a, of_b = (np.sum((side - side.mean(axis=0)) ** 2, axis=1) for side in (a, b))
    return np.tile(of_a[:, None], len(a)), np.tile(of_b, (len(b), 1))


def test_the_p_value_is_the_share_of_arrangements_that_go_together_as_well():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 6, 3))
    table = pairings(a, b, np.zeros(6))
    sides = lengths(a, b)
    arranged = level_arrangements(SMALL)
    cosines = [np.sum((a - a.mean(axis=0)) * (b - b.mean(axis=0))[row]) for row in arranged]
    expected = np.mean(np.array(cosines) >= cosines[0] - 1e-9)
    assert arrangement_p(table, *sides, arranged) == pytest.approx(expected)


def test_the_same_moves_are_rarest_and_no_moves_are_as_rare_as_any():
    location = np.array([ord(a) * 1.0 + 0.4 * ord(b) for a, b in SMALL])[:, None] ** 2
    arranged, squares = level_arrangements(SMALL), np.ones((6, 6))
    assert arrangement_p(pairings(location, location, np.zeros(6)), squares, squares, arranged) == 1 / 12
    assert arrangement_p(np.zeros((6, 6)), np.zeros((6, 6)), squares, arranged) == 1


@pytest.mark.parametrize("lacking", [0, 4])
def test_levels_reject_as_often_as_they_say_where_groups_exchanged_freely_do_not(lacking):
    random = np.random.default_rng(1)
    levels = list(itertools.product("abcd", "xy", "123"))
    levels = [levels[each] for each in np.sort(random.permutation(24)[lacking:])]
    arranged = level_arrangements(levels)
    rejected = np.zeros(2)
    for _ in range(400):
        sides = []
        for _ in range(2):
            moved = np.zeros((len(levels), 6))
            for place, names in enumerate(("abcd", "xy", "123")):
                effect = dict(zip(names, random.normal(size=(len(names), 6)), strict=True))
                moved += [effect[each[place]] for each in levels]
            sides.append(moved)
        table = pairings(*sides, np.zeros(len(levels)))
        squares = lengths(*sides)
        free = free_arrangements(len(levels), 199, random)
        rejected += [arrangement_p(table, *squares, each) <= 0.05 for each in (arranged, free)]
    assert 0.025 <= rejected[0] / 400 <= 0.085
    assert rejected[1] / 400 > 0.15


def test_levels_reject_as_often_as_they_say_where_questions_lack_groups():
    random = np.random.default_rng(2)
    levels = list(itertools.product("abcd", "xy", "123"))
    arranged, rejected = level_arrangements(levels), 0
    for _ in range(300):
        table, of_a, of_b = np.zeros((3, 24, 24))
        effects = [[random.normal(size=(len(names), 8)) for names in ("abcd", "xy", "123")] for _ in range(2)]
        for question in range(8):
            asked = np.flatnonzero(random.random(24) > 0.3)
            codes = np.array([["abcd".index(a), "xy".index(b), "123".index(c)] for a, b, c in levels])[asked]
            a, b = (sum(each[codes[:, n], question] for n, each in enumerate(side))[:, None] for side in effects)
            there = np.ix_(asked, asked)
            table[there] += pairings(a, b, np.zeros(len(asked)))
            for total, added in zip((of_a, of_b), lengths(a, b), strict=True):
                total[there] += added
        rejected += arrangement_p(table, of_a, of_b, arranged) <= 0.05
    assert 0.02 <= rejected / 300 <= 0.085
