import itertools

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from valuesassets.measure.between_groups import group_means
from valuesassets.measure.ranked_probability import share_error, w1_floor_unit
from valuesassets.measure.shrinkage import shrunken, spread_kept

SHARES = np.array([0.15, 0.3, 0.35, 0.2])


def enumerated(shares, n):
    """Expected Wasserstein-1 distance between a sample of n and what it is drawn from, over all samples."""
    counts = [each for each in itertools.product(range(n + 1), repeat=len(shares)) if sum(each) == n]
    off = [np.abs(np.cumsum(np.array(each) / n - shares)[:-1]).mean() for each in counts]
    return float(np.dot(multinomial.pmf(counts, n, shares), off))


def test_one_cut_point_by_hand():
    # of two people 1/4 are none, 1/2 one and 1/4 two: half of the time the share is off by 1/2
    assert w1_floor_unit(np.array([0.5]), 2).item() == pytest.approx(0.25)
    twice = w1_floor_unit(np.array([0.5]), 25, np.array([0.5]), 25).item()
    assert twice == pytest.approx(np.sqrt(2) * np.sqrt(2 * 0.01 / np.pi))


@pytest.mark.parametrize("n", [5, 10, 20])
def test_it_is_that_of_all_samples_enumerated(n):
    floor = w1_floor_unit(np.cumsum(SHARES)[:-1], n).item()
    assert floor == pytest.approx(enumerated(SHARES, n))


def test_between_whole_numbers_of_people_it_lies_between_theirs():
    five, between, six = (w1_floor_unit(np.array([0.3, 0.6]), n).item() for n in (5, 5.5, 6))
    assert six < between < five


def test_ten_answers_and_a_model_that_draws_are_within_a_twentieth():
    shares, model, n = np.linspace(1, 3, 10) / 20, np.full(10, 0.1), 15
    at, said = np.cumsum(shares)[:-1], np.cumsum(model)[:-1]
    place = np.arange(n + 1)
    exact = []
    for p, q in zip(at, said, strict=True):
        off = np.abs((place[:, None] / n - p) - (place[None] / n - q))
        exact.append(binom.pmf(place, n, p) @ off @ binom.pmf(place, n, q))
    assert w1_floor_unit(at, n, said, n).item() == pytest.approx(np.mean(exact), rel=0.05)


def test_certain_answers_have_no_floor_and_more_people_a_lower_one():
    assert w1_floor_unit(np.array([0.0, 1.0]), 5).item() == 0
    floors = w1_floor_unit(np.full((3, 2), 0.4), np.array([5.0, 20.0, 80.0]))
    assert floors[0] == pytest.approx(2 * floors[1], rel=0.05)
    assert floors[1] == pytest.approx(2 * floors[2], rel=0.05)


@pytest.mark.parametrize("n", [5, 10, 25])
@pytest.mark.parametrize("k", [2, 4, 10])
def test_of_shrunken_shares_it_is_within_a_twentieth_of_the_error_that_people_have(n, k):
    random, levels = np.random.default_rng(k), list(itertools.product("abcdef", "ur", "1234"))[:46]
    group, exact, found = np.repeat(np.arange(46), n), [], []
    for _ in range(25):
        location = random.normal(0, 0.2, 46)
        for names in ("abcdef", "ur", "1234"):
            effect = dict(zip(names, random.normal(0, 0.5, len(names)), strict=True))
            location += [sum(effect.get(name, 0) for name in level) for level in levels]
        truth = 1 / (1 + np.exp(location[:, None] - (np.linspace(-1.5, 1.5, k - 1) if k > 2 else 0)))
        steps = (random.random(group.size)[:, None] <= truth[group]).astype(float)
        means = group_means(steps, steps, np.ones(group.size), group, 46)
        near, borrowed = shrunken(means.a, means.effective_n, means.noise_aa, levels)
        floor = w1_floor_unit(near, means.effective_n) / np.sqrt(spread_kept(means.effective_n, borrowed, levels))
        place = np.arange(n + 1)[:, None]
        off = [(binom.pmf(place, n, p) * np.abs(place / n - p)).sum(axis=0) for p in truth]
        exact.append(np.mean(off))
        found.append(floor.mean())
    assert np.mean(found) == pytest.approx(np.mean(exact), rel=0.05)


def test_a_number_of_people_that_is_not_whole_lies_between_those_beside_it():
    p, n = np.array([0.3]), np.array([2.0, 2.5, 3.0])
    fewer, between, more = np.sqrt(n) * share_error(p, n)
    assert between == pytest.approx((fewer + more) / 2)
    assert fewer != pytest.approx(more)
