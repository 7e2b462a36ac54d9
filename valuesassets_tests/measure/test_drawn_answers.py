"""Means, entropies and orders of drawn answers, against every possible sample or many simulated ones."""

import numpy as np
import pytest

from valuesassets.measure.distances import entropy_bits_of
from valuesassets.measure.drawn_answers import (
    entropy_bits_by_drawing,
    exchanged_p,
    mean_interval,
    mean_variance_of,
    with_pseudo_draws,
)
from valuesassets_tests.measure.test_drawn_distances import UNIT, P, samples


def test_over_all_samples_the_variance_of_a_mean_is_right_on_average():
    n = 4
    means = [(shares @ UNIT, weight) for shares, weight in samples(P, n)]
    variance = sum(weight * mean**2 for mean, weight in means) - sum(weight * mean for mean, weight in means) ** 2
    expected = sum(weight * mean_variance_of(shares, np.array(n), UNIT) for shares, weight in samples(P, n))
    assert expected == pytest.approx(variance)
    assert mean_variance_of(P, np.array(np.inf), UNIT) == 0
    assert np.isnan(mean_variance_of(P, np.array(1), UNIT))


@pytest.mark.parametrize("n", [20, 40])
def test_intervals_of_means_cover_the_truth_in_95_of_100_also_where_answers_are_one_sided(n):
    random, held, worst = np.random.default_rng(n), [], []
    for _ in range(60):
        unit = np.linspace(0, 1, int(random.choice([2, 4, 10])))
        share = random.dirichlet(np.full(unit.size, random.choice([0.5, 2])))
        orders = [0.9 * share + 0.1 * (np.arange(unit.size) == end) for end in (0, unit.size - 1)]
        counts = np.stack([random.multinomial(n, order, size=100) for order in orders], axis=1)
        ends = np.array([mean_interval(each, unit) for each in counts])
        truth = np.mean(orders, axis=0) @ unit
        inside = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        held.append(inside)
        worst.append(inside)
    assert 0.945 <= np.mean(held) <= 0.968
    assert np.quantile(worst, 0.05) >= 0.89


def test_an_order_in_which_all_draws_agree_has_an_interval_and_not_a_point():
    low, high = mean_interval(np.array([[40, 0], [40, 0]]), np.array([0.0, 1.0]))
    assert low == 0
    assert 0.02 < high < 0.12


def test_pseudo_draws_are_two_and_spread_evenly():
    shares, n = np.array([1.0, 0, 0, 0]), np.array(8)
    assert with_pseudo_draws(shares, n, 4).tolist() == pytest.approx([0.85, 0.05, 0.05, 0.05])
    assert with_pseudo_draws(shares, np.array(np.inf), 4).tolist() == [1, 0, 0, 0]


def test_the_entropy_that_drawing_takes_is_given_back_but_for_a_little():
    random, p = np.random.default_rng(1), np.array([0.4, 0.3, 0.2, 0.1])
    shares = random.multinomial(40, p, size=4000) / 40
    plain = entropy_bits_of(shares).mean() - entropy_bits_of(p)
    corrected = plain + entropy_bits_by_drawing(shares, np.array(40.0)).mean()
    assert plain < -0.04
    assert abs(corrected) < 0.006
    assert entropy_bits_by_drawing(p, np.array(np.inf)) == 0


def test_exchanging_draws_rejects_orders_that_do_not_differ_as_often_as_it_says():
    random = np.random.default_rng(2)
    draws = random.multinomial(40, [0.5, 0.3, 0.2], size=(300, 2))
    p = np.array([exchanged_p(first, second, random) for first, second in draws])
    assert 0.01 <= np.mean(p <= 0.05) <= 0.08
    assert np.mean(p <= 0.01) <= 0.03
    pulled = [random.multinomial(40, share) for share in ([0.7, 0.2, 0.1], [0.3, 0.2, 0.5])]
    assert exchanged_p(*pulled, random) <= 0.005
