import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from valuesassets.measure.skewed_means import FEWEST, mean_test, skewed_mean_ends
from valuesassets.records.errors import MissingData


def values(seed, n, made="gamma"):
    random = np.random.default_rng(seed)
    return random.gamma(1.0, 1.0, n) - 0.8 if made == "gamma" else random.normal(0.2, 1, n)


def test_without_skewness_it_is_students_t():
    half = values(1, 30, "normal") - 0.2
    symmetric = np.concatenate([half, -half]) + 0.3
    found, oracle = mean_test(symmetric), stats.ttest_1samp(symmetric, 0)
    assert found.p == pytest.approx(oracle.pvalue)
    assert [found.low, found.high] == pytest.approx([*oracle.confidence_interval(0.95)])


@given(st.integers(0, 10_000), st.integers(FEWEST, 200))
def test_the_interval_holds_0_where_the_test_does_not_reject_and_is_never_narrower_than_t(seed, n):
    x = values(seed, n)
    found, oracle = mean_test(x), stats.ttest_1samp(x, 0)
    low, high = oracle.confidence_interval(0.95)
    assert found.low <= low + 1e-12
    assert found.high >= high - 1e-12
    assert found.p >= oracle.pvalue - 1e-12
    assert (found.p <= 0.05) == (found.low >= 0 or found.high <= 0)


@given(st.integers(0, 10_000))
def test_turned_round_everything_is(seed):
    there, back = mean_test(values(seed, 40)), mean_test(-values(seed, 40))
    assert [there.mean, there.low, there.high, there.p] == pytest.approx([-back.mean, -back.high, -back.low, back.p])


def test_the_interval_reaches_to_the_side_of_the_long_tail():
    x = stats.lognorm.ppf((np.arange(100) + 0.5) / 100, 1.0)
    found, t = mean_test(x), stats.ttest_1samp(x, 0).confidence_interval(0.95)
    assert found.high > t.high + 0.05
    assert found.low == pytest.approx(t.low)


@pytest.mark.parametrize("made", ["few lose much", "few gain much"])
def test_skewed_means_of_0_are_rejected_in_no_more_than_one_of_twenty(made):
    random = np.random.default_rng(2)
    way = 1 if made == "few gain much" else -1
    ps = [mean_test(way * (random.exponential(size=40) - 1)).p for _ in range(2000)]
    assert np.mean(np.array(ps) <= 0.05) <= 0.055


def test_few_values_have_an_interval_and_no_test():
    found = mean_test([0.1] * 10 + [0.2] * 10, of="people")
    assert found.low < 0.15 < found.high
    assert (found.p, found.reason) == (
        None,
        "20 people, 30 or more are needed for a test of a mean that may be skewed",
    )
    alone = mean_test([0.1])
    assert (alone.mean, alone.p, np.isnan(alone.low), np.isnan(alone.high)) == (0.1, None, True, True)
    with pytest.raises(MissingData, match="needs a value"):
        mean_test([])


def test_what_does_not_vary_has_no_width_and_no_difference_is_no_evidence():
    nothing, all_alike = mean_test(np.zeros(40)), mean_test(np.full(40, 0.3))
    assert (nothing.mean, nothing.low, nothing.high, nothing.p) == (0, 0, 0, 1)
    assert all_alike.low == pytest.approx(0.3)
    assert all_alike.p < 1e-9


def test_ends_of_many_means_are_those_of_each():
    values = np.random.default_rng(4).lognormal(size=(3, 5, 20)) - 0.5
    values[0, 0, 3:9], values[1, 1], values[2, 2] = np.nan, np.nan, 0.25
    values[0, 1, 1:] = np.nan
    low, high = skewed_mean_ends(values, 0.9)
    for place in np.ndindex(3, 5):
        present = values[place][np.isfinite(values[place])]
        if present.size < 2:
            assert np.isnan(low[place])
            assert np.isnan(high[place])
            continue
        one = mean_test(present, 0.9)
        assert (low[place], high[place]) == pytest.approx((one.low, one.high))
