import math

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from valuesassets.measure.sampling_error import Chance, allowed_mean, simulate_sampling_error

ORDERS = np.array([[0.5, 0.2, 0.3], [0.3, 0.2, 0.5]])


def error(n=1000, p_valid=(0.8, 0.6), orders=ORDERS, values=(1.0, 2.0, 3.0), seed=1):
    places = None if values is None else np.array(values)
    return simulate_sampling_error(orders, p_valid, places, n, np.random.default_rng(seed))


def test_p_valid_errs_like_a_binomial_share():
    by_hand = np.mean([math.sqrt(2 / math.pi * p * (1 - p) / 1000) for p in (0.8, 0.6)])
    assert error().p_valid.mean == pytest.approx(by_hand, rel=0.1)


def test_four_times_the_answers_halve_every_error():
    few, many = error(500), error(2000)
    for name in ("distance", "p_valid", "position_bias"):
        for part in ("mean", "sd"):
            ratio = getattr(getattr(few, name), part) / getattr(getattr(many, name), part)
            assert ratio == pytest.approx(2, rel=0.3)


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
        pairs = zip(shares, ORDERS, strict=True)
        found.append(np.mean([wasserstein_distance(unit, unit, one, other) for one, other in pairs]))
    assert error(400, values=values).distance.mean == pytest.approx(np.mean(found), rel=0.1)


def test_without_a_scale_it_is_total_variation():
    # of two answers the two are the same thing
    two = np.array([[0.7, 0.3], [0.4, 0.6]])
    on_scale, without = (error(orders=two, values=values) for values in ((0.0, 5.0), None))
    assert without.distance.mean == pytest.approx(on_scale.distance.mean)


def test_what_is_certain_has_no_error():
    sure = error(p_valid=(1.0, 1.0), orders=np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    assert {sure.distance, sure.p_valid, sure.position_bias} == {Chance(0, 0)}


def test_a_mean_over_questions_seldom_passes_what_is_allowed_and_hardly_more_is_allowed():
    rng = np.random.default_rng(3)
    wide = error(300)
    sets = []
    for _ in range(2000):
        drawn = [rng.multinomial(300, [*(row * p), 1 - p]) for row, p in zip(ORDERS, (0.8, 0.6), strict=True)]
        shares = [counts[:-1] / counts[:-1].sum() for counts in drawn]
        distances = [np.abs(np.cumsum(s - row)[:-1]).sum() / 2 for s, row in zip(shares, ORDERS, strict=True)]
        sets.append(np.mean(distances))
    means = np.array(sets).reshape(-1, 4).mean(axis=1)
    allowed = allowed_mean([wide.distance.mean] * 4, [wide.distance.sd] * 4)
    assert (means > allowed).mean() < 0.01
    assert allowed < 3 * means.mean()


def test_nothing_known_allows_nothing():
    assert np.isnan(allowed_mean([np.nan], [np.nan]))
    assert allowed_mean([0.01, np.nan], [0.0, np.nan]) == pytest.approx(0.01)
