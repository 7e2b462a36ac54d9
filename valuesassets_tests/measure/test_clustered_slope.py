"""Slopes over items in batteries."""

import numpy as np
import pytest

from valuesassets.measure.clustered_slope import slope_weights
from valuesassets.records.errors import MissingData

RANDOM = np.random.default_rng(0)
BATTERIES = np.repeat(np.arange(12), np.arange(1, 13))
X = RANDOM.normal(size=(len(BATTERIES), 3))


def gls(x, batteries, y, within=0.3):
    """The slope by brute force."""
    same = batteries[:, None] == batteries[None, :]
    inverse = np.linalg.inv(np.where(same, within, 0.0) + (1 - within) * np.eye(len(y)))
    return np.linalg.solve(x.T @ inverse @ x, x.T @ inverse @ y)[0]


def test_the_slope_is_that_of_generalised_least_squares_and_so_is_each_without_a_battery():
    y, weights = RANDOM.normal(size=len(X)), slope_weights(X, BATTERIES)
    assert weights.whole @ y == pytest.approx(gls(X, BATTERIES, y))
    for battery, without in enumerate(weights.without):
        left = battery != weights.battery
        assert without @ y == pytest.approx(gls(X[left], BATTERIES[left], y[left]))


def test_regressors_that_are_adjusted_for_have_no_effect():
    weights = slope_weights(X, BATTERIES)
    assert weights.whole @ X == pytest.approx([1, 0, 0], abs=1e-9)


def test_the_variance_is_unbiased_under_the_working_correlation():
    weights = slope_weights(X, BATTERIES)
    values = RANDOM.normal(size=(20_000, len(X))) @ np.linalg.cholesky(weights.correlation).T
    assert np.mean(weights.variance(values)) == pytest.approx(np.var(values @ weights.whole), rel=0.03)


def test_batteries_that_move_together_make_the_variance_larger():
    weights = slope_weights(RANDOM.normal(size=12)[BATTERIES][:, None], BATTERIES)
    together = RANDOM.normal(size=(2000, 12))[:, BATTERIES]
    apart = RANDOM.normal(size=(2000, len(X)))
    assert np.mean(weights.variance(together)) > 2 * np.mean(weights.variance(apart))
    assert np.mean(weights.variance(together)) == pytest.approx(np.var(together @ weights.whole), rel=0.25)


def test_equal_batteries_count_each_and_one_large_battery_counts_as_one():
    x = np.tile([1.0, -1.0], 10)[:, None]
    assert slope_weights(x, np.repeat(np.arange(10), 2)).effective_batteries == pytest.approx(10)
    assert slope_weights(x, ["a"] * 19 + ["b"]).effective_batteries < 1.2


def test_a_direction_that_is_an_adjustment_is_refused():
    with pytest.raises(MissingData, match="does not vary"):
        slope_weights(np.column_stack([X[:, 0], X[:, 0] + 0.0]), BATTERIES)
