"""Means over replicates that may share a pool."""

import numpy as np
import pytest
from scipy import stats

from valuesassets.measure.replicates import mean_over_replicates, variance_of_mean
from valuesassets.records.errors import MissingData


def four(z):
    """Four values whose mean is z of their standard deviations."""
    return z + np.array([-1.0, -1.0, 1.0, 1.0]) * np.sqrt(3) / 2


@pytest.mark.parametrize(("z", "t", "p"), [(0.91, 0.57, 0.61), (3.0, 1.87, 0.16), (1.38, 0.86, 0.45)])
def test_published_effects_of_four_trainings_on_seventy_percent_of_one_pool(z, t, p):
    values = four(z)
    assert values.mean() / values.std(ddof=1) == pytest.approx(z)
    assert z / np.sqrt(variance_of_mean(values, 0.7)) == pytest.approx(t, abs=0.005)
    assert mean_over_replicates(values, share=0.7).p == pytest.approx(p, abs=0.005)


def test_without_a_pool_it_is_students_t():
    values = np.random.default_rng(0).normal(0.3, 1, 6)
    result, expected = mean_over_replicates(values), stats.ttest_1samp(values, 0)
    assert result.p == pytest.approx(expected.pvalue)
    assert [result.low, result.high] == pytest.approx(list(expected.confidence_interval()))


def test_the_variance_is_right_where_halves_of_a_pool_are_drawn():
    random = np.random.default_rng(0)
    means, variances = [], []
    for _ in range(2000):
        pool = random.normal(0, 1, 100)
        values = [random.permutation(pool)[:50].mean() for _ in range(3)]
        means.append(np.mean(values))
        variances.append(variance_of_mean(values, 0.5))
    assert np.mean(variances) == pytest.approx(np.var(means), rel=0.1)


def test_equal_replicates_have_no_width():
    assert mean_over_replicates([0.0, 0.0]).p == 1
    assert mean_over_replicates([0.5, 0.5]).p == 0


@pytest.mark.parametrize(
    ("values", "share", "reason"),
    [([1.0], None, "1 replicate"), ([1.0, 2.0], 1.0, "share of 1"), ([1.0, 2.0], 0.0, "share of 0")],
)
def test_one_replicate_and_a_share_that_is_none_are_refused(values, share, reason):
    with pytest.raises(MissingData, match=reason):
        mean_over_replicates(values, share)


def test_a_replicate_without_a_value_is_refused():
    with pytest.raises(MissingData, match="without a value"):
        mean_over_replicates([1.0, np.nan])
