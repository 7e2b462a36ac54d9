import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.measure.ratio_of_means import ratio_of_means
from valuesassets.measure.resampling import resample_counts


def test_a_case_worked_by_hand():
    """The ratio is 2 with error 1; resamples with the ratios 1, 2 and 1 have error 1 too: -1, 0 and -1 steps."""
    counts = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 1.0], [2.0, 0.0, 1.0]])
    found = ratio_of_means(np.array([0.0, 3.0, 3.0]), np.ones(3), counts, level=0.5)
    assert found == pytest.approx((2, 2, 3))


def test_a_ratio_that_is_the_same_in_all_things_is_known_exactly():
    under = np.array([1.0, 2.0, 5.0])
    assert ratio_of_means(0.3 * under, under, np.eye(3) * 3) == pytest.approx((0.3, 0.3, 0.3))
    assert ratio_of_means(np.zeros(3), under, np.eye(3) * 3) == (0, 0, 0)


def test_one_thing_has_no_interval():
    value, low, high = ratio_of_means(np.array([1.0]), np.array([2.0]), np.ones((9, 1)))
    assert value == 0.5
    assert np.isnan([low, high]).all()


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10))
def test_a_ratio_and_its_ends_scale_with_the_upper_and_against_the_lower_mean(seed, scale):
    random = np.random.default_rng(seed)
    over, under = random.normal(1, 1, 20), random.random(20) + 0.5
    counts = resample_counts(20, 99, random)
    found = np.array(ratio_of_means(over, under, counts))
    assert np.array(ratio_of_means(over * scale, under, counts)) == pytest.approx(found * scale)
    assert np.array(ratio_of_means(over, under * scale, counts)) == pytest.approx(found / scale)


def test_intervals_hold_the_ratio_as_often_as_they_say():
    random = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        under = random.lognormal(0, 0.8, 30)  # leans to one side, and the ratio with it
        over = 0.5 * under * random.lognormal(-0.08, 0.4, 30)
        _, low, high = ratio_of_means(over, under, resample_counts(30, 299, random))
        held += low <= 0.5 <= high
    assert 0.9 <= held / 400 <= 0.98


@pytest.mark.parametrize("under", [[0.0, 0.0], [-1.0, 0.5]])
def test_over_nothing_there_is_no_ratio(under):
    assert np.isnan(ratio_of_means(np.ones(2), np.array(under), np.ones((5, 2)))).all()


def test_where_resamples_reach_nothing_there_are_no_ends():
    counts = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    value, low, high = ratio_of_means(np.ones(2), np.array([3.0, -1.0]), counts)
    assert value == 1
    assert np.isnan([low, high]).all()
