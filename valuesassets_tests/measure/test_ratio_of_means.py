import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from valuesassets.measure.ratio_of_means import FEWEST, ratio_of_means, zero_mean_p


def ends(over, under, level=0.95):
    found = ratio_of_means(over, under, level)
    return np.array([found.value, found.low, found.high])


def test_over_ones_it_is_the_t_interval_of_a_mean():
    values = np.concatenate([np.arange(10.0), -np.arange(10.0)]) + 1
    t = stats.t.interval(0.9, 19, values.mean(), stats.sem(values))
    assert ends(values, np.ones(20), 0.9) == pytest.approx([values.mean(), *t])
    assert zero_mean_p(values) == pytest.approx(stats.ttest_1samp(values, 0).pvalue)


@given(st.integers(0, 2**32 - 1))
def test_the_ends_are_the_ratios_that_the_wider_of_two_t_tests_just_rejects(seed):
    random = np.random.default_rng(seed)
    over, under = random.normal(0.3, 1, FEWEST), random.lognormal(size=FEWEST)
    for end in ends(over, under)[1:]:
        if np.isfinite(end):
            assert zero_mean_p(over - end * under) == pytest.approx(0.05, abs=1e-6)
            assert stats.ttest_1samp(over - end * under, 0).pvalue <= 0.05 + 1e-6


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_zero_is_left_out_exactly_where_the_test_of_the_numerator_rejects(seed, mean):
    random = np.random.default_rng(seed)
    over, under = random.exponential(size=25) - 1 + mean, random.normal(1, 0.4, 25)
    found = ratio_of_means(over, under)
    if found.lack is None:
        assert (found.low > 0 or found.high < 0) == (zero_mean_p(over) < 0.05)


def test_few_values_are_tested_by_t_alone():
    values = 1.4 - np.random.default_rng(4).exponential(size=FEWEST)
    assert zero_mean_p(values[1:]) == stats.ttest_1samp(values[1:], 0).pvalue
    assert zero_mean_p(values) > stats.ttest_1samp(values, 0).pvalue


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10))
def test_a_ratio_and_its_ends_scale_with_the_upper_and_against_the_lower_mean(seed, scale):
    random = np.random.default_rng(seed)
    over, under = random.normal(1, 1, 20), random.random(20) + 0.5
    found = ends(over, under)
    assert ends(over * scale, under) == pytest.approx(found * scale)
    assert ends(over, under * scale) == pytest.approx(found / scale)


@pytest.mark.parametrize(
    ("over", "under", "value", "lack"),
    [
        (np.ones(2), np.array([-1.0, 0.5]), np.nan, "not above 0"),
        (np.ones(20), np.zeros(20), np.nan, "not above 0"),
        (np.array([1.0] * 19), np.arange(19) + 1.0, 0.1, "19 questions are too few, 20 are needed"),
        (0.3 * np.arange(20.0), np.arange(20.0), 0.3, "all questions have the same ratio"),
        (np.zeros(20), np.arange(20.0), 0, "all questions have the same ratio"),
        (np.ones(20), np.tile([3.0, -2.0], 10), 2, "not told from 0"),
    ],
)
def test_where_there_is_no_interval_its_lack_is_said(over, under, value, lack):
    found = ratio_of_means(over, under)
    assert found.value == pytest.approx(value, nan_ok=True)
    assert np.isnan([found.low, found.high]).all()
    assert lack in found.lack


def test_one_value_has_no_test_and_values_that_are_all_the_same_are_0_or_not():
    assert np.isnan(zero_mean_p(np.ones(1)))
    assert zero_mean_p(np.zeros(5)) == 1
    assert zero_mean_p(np.full(5, 0.3)) == 0
