import math

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from valuesassets.measure.sampling_error import simulate_sampling_error

ORDERS = np.array([[0.5, 0.2, 0.3], [0.3, 0.2, 0.5]])


def error(n=1000, p_valid=(0.8, 0.6), orders=ORDERS, values=(1.0, 2.0, 3.0), seed=1):
    places = None if values is None else np.array(values)
    return simulate_sampling_error(orders, p_valid, places, n, np.random.default_rng(seed))


def test_p_valid_errs_like_a_binomial_share():
    by_hand = np.mean([math.sqrt(2 / math.pi * p * (1 - p) / 1000) for p in (0.8, 0.6)])
    assert error().p_valid == pytest.approx(by_hand, rel=0.1)


def test_four_times_the_answers_halve_every_error():
    few, many = error(500), error(2000)
    for name in ("distance", "p_valid", "position_bias"):
        assert getattr(few, name) / getattr(many, name) == pytest.approx(2, rel=0.15)


def test_the_distance_agrees_with_drawing_single_answers_and_scipy():
    rng = np.random.default_rng(7)
    values = np.array([1.0, 3.0, 2.0])  # as v113 has it: the middle answer is listed last
    unit = (values - 1) / 2
    found = []
    for _ in range(300):
        shares = []
        for probs, p_valid in zip(ORDERS, (0.8, 0.6), strict=True):
            said = rng.choice(3, rng.binomial(400, p_valid), p=probs)
            shares.append(np.bincount(said, minlength=3) / len(said))
        both = [*zip(shares, ORDERS, strict=True), (np.mean(shares, axis=0), ORDERS.mean(axis=0))]
        found.append(np.mean([wasserstein_distance(unit, unit, one, other) for one, other in both]))
    assert error(400, values=values).distance == pytest.approx(np.mean(found), rel=0.1)


def test_without_a_scale_it_is_total_variation():
    # of two answers the two are the same thing
    two = np.array([[0.7, 0.3], [0.4, 0.6]])
    on_scale, without = (error(orders=two, values=values) for values in ((0.0, 5.0), None))
    assert without.distance == pytest.approx(on_scale.distance)


def test_what_is_certain_has_no_error():
    sure = error(p_valid=(1.0, 1.0), orders=np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    assert (sure.distance, sure.p_valid, sure.position_bias) == (0, 0, 0)
