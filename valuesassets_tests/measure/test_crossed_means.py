"""The interval of a mean over languages and items, on values whose components of variance are known."""

import numpy as np
import pytest

from valuesassets.measure.crossed_means import mean_over_crossed


def interval(values, level=0.95):
    return mean_over_crossed(np.nanmean(values, axis=1), values, level)


def simulate(random, shape, of_rows, of_columns, of_single, missing=0.0):
    values = of_rows * random.standard_normal((shape[0], 1)) + of_columns * random.standard_normal((1, shape[1]))
    values = values + of_single * random.standard_normal(shape)
    return np.where(random.random(shape) < missing, np.nan, values)


@pytest.mark.parametrize(
    ("shape", "of_rows", "of_columns", "missing"),
    [((10, 48), 0.1, 0.3, 0.0), ((22, 100), 0.0, 0.5, 0.0), ((6, 48), 0.3, 0.3, 0.0), ((10, 24), 0.1, 0.5, 0.2)],
)
def test_intervals_cover_what_rows_and_columns_vary(shape, of_rows, of_columns, missing):
    random, held = np.random.default_rng(1), []
    for _ in range(600):
        mean = interval(simulate(random, shape, of_rows, of_columns, 0.6, missing))
        held.append(mean.low <= 0 <= mean.high)
    assert 0.925 <= np.mean(held) <= 0.975


def test_columns_that_move_all_rows_alike_widen_the_interval():
    random = np.random.default_rng(2)
    values = simulate(random, (10, 40), 0.1, 0.0, 0.2)
    alike = values + random.standard_normal(40)
    narrow, wide = (interval(each).high - interval(each).mean for each in (values, alike))
    assert wide > 3 * narrow


def test_without_variation_of_columns_it_is_the_interval_of_the_rows():
    rows = np.array([1.0, 2.0, 4.0])
    mean = interval(np.tile(rows[:, None], 5))
    reach = rows.std(ddof=1) / np.sqrt(3) * 4.302652729911275  # Student's t with two degrees of freedom
    assert (mean.low, mean.high) == pytest.approx((rows.mean() - reach, rows.mean() + reach))


def test_parts_are_moved_to_the_rows_estimates():
    values = simulate(np.random.default_rng(3), (5, 20), 0.2, 0.2, 0.2)
    moved = values + np.arange(5.0)[:, None]
    assert mean_over_crossed(values.mean(axis=1), moved) == interval(values)


@pytest.mark.parametrize("shape", [(1, 20), (5, 1), (0, 20)])
def test_one_row_or_column_has_no_interval(shape):
    mean = mean_over_crossed(np.full(shape[0], 2.0), np.full(shape, 2.0))
    assert np.isnan([mean.low, mean.high]).all()
    assert np.isnan(mean.mean) == (shape[0] == 0)


def test_equal_values_have_an_interval_of_one_point():
    mean = mean_over_crossed(np.full(3, 2.0), np.full((3, 4), 2.0))
    assert (mean.mean, mean.low, mean.high) == (2.0, 2.0, 2.0)


def test_a_higher_level_is_wider():
    values = simulate(np.random.default_rng(4), (5, 20), 0.2, 0.2, 0.2)
    assert interval(values, 0.99).high > interval(values, 0.95).high
