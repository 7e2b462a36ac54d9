import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.measure.ratio_of_means import ratio_of_means
from valuesassets.measure.resampling import resample_counts


def test_a_case_worked_by_hand():
    counts = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    value, low, high = ratio_of_means(np.array([1.0, 3.0]), np.array([1.0, 1.0]), counts)
    assert value == 2
    assert (low, high) == (1, 3)


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
        under = random.gamma(4, 0.25, 30)
        over = 0.5 * under + random.normal(0, 0.3, 30)
        _, low, high = ratio_of_means(over, under, resample_counts(30, 299, random))
        held += low <= 0.5 <= high
    assert 0.915 <= held / 400 <= 0.98


@pytest.mark.parametrize("under", [[0.0, 0.0], [-1.0, 0.5]])
def test_over_nothing_there_is_no_ratio(under):
    assert np.isnan(ratio_of_means(np.ones(2), np.array(under), np.ones((5, 2)))).all()


def test_where_resamples_reach_nothing_there_are_no_ends():
    counts = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    value, low, high = ratio_of_means(np.ones(2), np.array([3.0, -1.0]), counts)
    assert value == 1
    assert np.isnan([low, high]).all()
