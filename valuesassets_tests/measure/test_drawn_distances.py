"""Squared Cramér distances: an independent oracle, and every possible sample of a few draws."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import energy_distance, multinomial

from valuesassets.measure.drawn_distances import (
    cramer_noise_of,
    cramer_unit2_of,
    half_squares_noise_of,
    half_squares_of,
)

UNIT = np.array([0, 0.25, 1.0])
P, Q = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.1, 0.3])


def samples(probs, n):
    """Every sample of `n` draws as shares, with its probability."""
    counts = [each for each in itertools.product(range(n + 1), repeat=probs.size) if sum(each) == n]
    return [(np.array(each) / n, multinomial.pmf(each, n, probs)) for each in counts]


@given(st.integers(0, 2**32 - 1), st.integers(2, 10))
def test_it_is_half_the_squared_energy_distance_of_scipy(seed, k):
    random = np.random.default_rng(seed)
    p, q = random.dirichlet(np.ones(k), 2)
    unit = np.sort(random.uniform(size=k))
    unit = (unit - unit[0]) / np.ptp(unit)
    assert cramer_unit2_of(p, q, unit) == pytest.approx(energy_distance(unit, unit, p, q) ** 2 / 2, abs=1e-9)


def test_two_options_are_the_same_with_and_without_an_order():
    p, q, unit = np.array([0.3, 0.7]), np.array([0.9, 0.1]), np.array([0.0, 1.0])
    assert cramer_unit2_of(p, q, unit) == pytest.approx(0.36)
    assert half_squares_of(p, q) == pytest.approx(0.36)
    assert half_squares_noise_of(p, np.array(7)) == pytest.approx(cramer_noise_of(p, np.array(7), unit))


@pytest.mark.parametrize(
    ("distance", "noise"),
    [
        (lambda p, q: cramer_unit2_of(p, q, UNIT), lambda p, n: cramer_noise_of(p, n, UNIT)),
        (half_squares_of, half_squares_noise_of),
    ],
)
@pytest.mark.parametrize("n", [2, 5])
def test_over_all_samples_the_distance_less_its_noise_is_that_of_the_probabilities(distance, noise, n):
    size = np.array(n)
    one = sum(weight * (distance(shares, Q) - noise(shares, size)) for shares, weight in samples(P, n))
    assert one == pytest.approx(distance(P, Q))
    both = sum(
        weight * other * (distance(a, b) - noise(a, size) - noise(b, size))
        for a, weight in samples(P, n)
        for b, other in samples(Q, n)
    )
    assert both == pytest.approx(distance(P, Q))
    same = sum(weight * distance(shares, P) for shares, weight in samples(P, n))
    assert same == pytest.approx(sum(weight * noise(shares, size) for shares, weight in samples(P, n)))
    assert same > 0.01


def test_exact_answers_have_no_noise_and_a_single_draw_has_an_unknown_one():
    assert cramer_noise_of(P, np.array(np.inf), UNIT) == 0
    assert np.isnan(cramer_noise_of(P, np.array(1.0), UNIT))
    assert np.isnan(half_squares_noise_of(np.full(3, np.nan), np.array(9.0)))


def test_arrays_are_their_pairs_and_options_beyond_a_scale_change_nothing():
    random = np.random.default_rng(3)
    p, q = random.dirichlet(np.ones(3), (4, 5)), random.dirichlet(np.ones(3), 5)
    many = cramer_unit2_of(p, q, UNIT)
    assert many.shape == (4, 5)
    assert many[2, 3] == pytest.approx(cramer_unit2_of(p[2, 3], q[3], UNIT))
    padded = [np.concatenate([each, np.zeros((*each.shape[:-1], 2))], axis=-1) for each in (p, q)]
    assert cramer_unit2_of(*padded, np.append(UNIT, [1, 1])) == pytest.approx(many)
    n = np.full((4, 5), 9)
    assert cramer_noise_of(padded[0], n, np.append(UNIT, [1, 1])) == pytest.approx(cramer_noise_of(p, n, UNIT))
