import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.measure.variance_components import generalizability, subsets, variance_components
from valuesassets.records.errors import MissingData

FACTORS = ("language", "item", "order")


def drawn(sds, shape, random, gaps=0.0):
    """Values of a crossed design with planted standard deviations by effect."""
    values = np.full(shape, 3.0)
    for effect, sd in sds.items():
        size = [n if name in effect else 1 for name, n in zip(FACTORS, shape, strict=True)]
        values = values + random.normal(0, sd, size)
    values[random.uniform(size=shape) < gaps] = np.nan
    return values


def balanced_anova(values):
    """Components of a two-factor design by its mean squares."""
    a, b = values.shape
    rows, columns = values.mean(axis=1), values.mean(axis=0)
    ms_rows, ms_columns = b * rows.var(ddof=1), a * columns.var(ddof=1)
    left = values - rows[:, None] - columns + values.mean()
    ms_error = np.sum(left**2) / ((a - 1) * (b - 1))
    return (ms_rows - ms_error) / b, (ms_columns - ms_error) / a, ms_error


@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(2, 6))
def test_without_gaps_it_is_the_analysis_of_variance(seed, a, b):
    values = np.random.default_rng(seed).normal(size=(a, b)) + np.arange(b)
    found = variance_components(values, ("language", "item"))
    ours = [found[frozenset(effect)].item() for effect in (["language"], ["item"], ["language", "item"])]
    assert ours == pytest.approx(balanced_anova(values), abs=1e-9)


@pytest.mark.parametrize("gaps", [0.0, 0.25])
def test_planted_variances_come_back_on_average_whatever_is_missing(gaps):
    random = np.random.default_rng(1)
    planted = {
        frozenset(effect): sd
        for effect, sd in (
            (["item"], 1.0),
            (["language"], 0.5),
            (["language", "item"], 0.8),
            (["item", "order"], 0.4),
            (["language", "item", "order"], 0.6),
        )
    }
    worlds = [variance_components(drawn(planted, (6, 30, 2), random, gaps), FACTORS) for _ in range(300)]
    for effect in subsets(FACTORS)[1:]:
        estimates = np.array([world[effect].item() for world in worlds])
        error = 4 * estimates.std(ddof=1) / np.sqrt(len(worlds))
        assert estimates.mean() == pytest.approx(planted.get(effect, 0.0) ** 2, abs=error), sorted(effect)


@given(st.integers(0, 10_000), st.floats(-5, 5))
def test_a_shift_changes_nothing_and_a_stretch_all_by_its_square(seed, shift):
    values = np.random.default_rng(seed).normal(size=(3, 4, 2))
    plain, moved = variance_components(values, FACTORS), variance_components(2 * values + shift, FACTORS)
    for effect, estimate in plain.items():
        assert moved[effect] == pytest.approx(4 * estimate, abs=1e-8)


def test_leaving_an_item_out_is_a_weight_of_nought():
    values = drawn({frozenset(["language", "item"]): 1.0}, (4, 5, 2), np.random.default_rng(2), gaps=0.1)
    left_out = variance_components(values, FACTORS, "item", 1 - np.eye(5))
    for item in range(5):
        alone = variance_components(np.delete(values, item, axis=1), FACTORS)
        for effect, estimate in alone.items():
            assert left_out[effect][item] == pytest.approx(estimate.item(), abs=1e-9)


def test_a_factor_of_one_level_takes_no_part():
    values = np.random.default_rng(3).normal(size=(4, 5))
    with_one, without = variance_components(values[:, :, None], FACTORS), variance_components(values, FACTORS[:2])
    assert with_one.keys() == without.keys()


def test_what_cannot_be_distinguished_is_refused():
    crossed = np.full((2, 2), np.nan)
    crossed[0, 0] = crossed[1, 1] = 1.0
    with pytest.raises(MissingData, match="cannot be distinguished"):
        variance_components(crossed, ("language", "item"))
    with pytest.raises(MissingData, match="nothing varies"):
        variance_components(np.ones((1, 1)), ("language", "item"))
    with pytest.raises(MissingData, match="no value"):
        variance_components(np.full((2, 2), np.nan), ("language", "item"))


def test_generalizability_by_hand():
    language, noise = frozenset(["language"]), frozenset(["language", "order"])
    components = {language: np.array([3.0]), noise: np.array([2.0])}
    assert generalizability(components, [language], {noise: 2}) == pytest.approx([0.75])
    negative = {language: np.array([-1.0]), noise: np.array([2.0])}
    assert generalizability(negative, [language], {noise: 2}) == pytest.approx([0.0])
    assert generalizability({language: np.array([0.0]), noise: np.array([0.0])}, [language], {noise: 2}) == [0.0]


def test_the_coefficient_is_the_squared_correlation_of_averages_with_what_they_stand_for():
    random = np.random.default_rng(4)
    true = random.normal(0, 1.0, (40, 200, 1))
    values = true + random.normal(0, 1.5, (40, 200, 2))
    found = variance_components(values, FACTORS)
    coefficient = generalizability(found, [frozenset(["language", "item"])], {frozenset(FACTORS): 2}).item()
    assert coefficient == pytest.approx(np.corrcoef(values.mean(axis=2).ravel(), true.ravel())[0, 1] ** 2, abs=0.02)
