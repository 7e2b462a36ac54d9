import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.measure.internal_consistency import cronbach_alpha, feldt_interval, no_covariance_band
from valuesassets.measure.variance_components import generalizability, variance_components
from valuesassets.records.errors import MissingData


def drawn(seed, n, k, common):
    """Normal scores whose items have a variance of 1 and covariances of `common`, but for chance."""
    random = np.random.default_rng(seed)
    trait, own = random.normal(size=(n, 1)), random.normal(size=(n, k))
    return np.sqrt(common) * trait + np.sqrt(1 - common) * own


def test_three_models_on_two_items_by_hand():
    # variances 1 and 1, sums 3, 6, 6 with a variance of 3: 2 (1 - 2/3)
    assert cronbach_alpha([[1, 2], [2, 4], [3, 3]]) == pytest.approx(2 / 3)


def test_items_that_are_copies_give_one_and_an_opposite_pair_far_below_nought():
    one = np.array([1.0, 2.0, 4.0])
    assert cronbach_alpha(np.column_stack([one, one, one])) == pytest.approx(1)
    # variances 7/3 and 4 * 7/3, sums -1, -2, -4: 2 (1 - 5)
    assert cronbach_alpha(np.column_stack([one, -2 * one])) == pytest.approx(-8)


@given(st.integers(0, 10_000), st.integers(3, 12), st.integers(2, 8))
def test_it_is_the_generalizability_over_items(seed, n, k):
    scores = drawn(seed, n, k, 0.5)
    components = variance_components(scores, ("model", "item"))
    both = frozenset({"model", "item"})
    found = generalizability(components, [frozenset({"model"})], {both: k}).item()
    assert max(cronbach_alpha(scores), 0) == pytest.approx(found, abs=1e-9)


@given(st.integers(0, 10_000), st.integers(3, 12), st.integers(2, 8))
def test_with_standardised_items_it_is_spearmans_and_browns_of_the_mean_correlation(seed, n, k):
    scores = drawn(seed, n, k, 0.3)
    standardised = (scores - scores.mean(axis=0)) / scores.std(axis=0, ddof=1)
    r = np.corrcoef(scores.T)[np.triu_indices(k, 1)].mean()
    assert cronbach_alpha(standardised) == pytest.approx(k * r / (1 + (k - 1) * r), rel=1e-6)


@given(st.integers(0, 10_000), st.floats(-50, 50), st.floats(0.1, 10))
def test_levels_of_items_and_the_unit_change_nothing(seed, shift, stretch):
    scores = drawn(seed, 6, 4, 0.5)
    assert cronbach_alpha(stretch * scores + shift * np.arange(4)) == pytest.approx(cronbach_alpha(scores), abs=1e-6)


@pytest.mark.parametrize(
    ("alpha", "n", "k", "ends"),
    [
        (0.7395, 46, 11, (0.612, 0.838)),  # AUDIT over 46 models
        (0.913, 873, 20, (0.9044024, 0.9211588)),  # R: Chris Evans, feldt1.return(0.913, 873, 20)
    ],
)
def test_the_interval_is_feldts_as_other_programs_have_it(alpha, n, k, ends):
    assert feldt_interval(alpha, n, k) == pytest.approx(ends, abs=10 ** -len(str(ends[0]).split(".")[1]))


def test_the_interval_holds_the_true_alpha_as_often_as_it_says():
    common, n, k = 0.3, 20, 5
    true = k * common / (1 + (k - 1) * common)
    intervals = [feldt_interval(cronbach_alpha(drawn(seed, n, k, common)), n, k) for seed in range(1000)]
    assert np.mean([low <= true <= high for low, high in intervals]) == pytest.approx(0.95, abs=0.02)


def test_the_band_is_where_alphas_of_unrelated_items_lie():
    low, high = no_covariance_band(46, 11)
    assert (low, high) == pytest.approx((-0.61, 0.33), abs=0.005)
    alphas = np.array([cronbach_alpha(drawn(seed, 46, 11, 0.0)) for seed in range(1000)])
    assert np.mean((low <= alphas) & (alphas <= high)) == pytest.approx(0.95, abs=0.02)


@given(st.floats(-3, 0.99), st.integers(2, 60), st.integers(2, 30))
def test_the_interval_holds_alpha_and_narrows_with_the_level_it_is_asked_for(alpha, n, k):
    low, high = feldt_interval(alpha, n, k)
    inner_low, inner_high = feldt_interval(alpha, n, k, level=0.5)
    assert low < inner_low < inner_high < high < 1


def test_missing_scores_are_counted_and_nothing_is_made_of_too_few_or_constant_ones():
    gaps = drawn(1, 4, 3, 0.5)
    gaps[0, 1] = gaps[2, 2] = np.nan
    with pytest.raises(MissingData, match="2 of 12 scores are missing"):
        cronbach_alpha(gaps)
    with pytest.raises(MissingData, match="1 model and 3 items: two or more of each"):
        cronbach_alpha(np.ones((1, 3)))
    with pytest.raises(MissingData, match="4 models and 1 item: two or more of each"):
        feldt_interval(0.5, 4, 1)
    with pytest.raises(MissingData, match="nothing varies"):
        cronbach_alpha(np.tile([0.1, 0.2, 0.3], (5, 1)))
    mirrored = drawn(2, 5, 1, 0.0) * 0.1
    with pytest.raises(MissingData, match="nothing varies"):
        cronbach_alpha(np.hstack([mirrored, 7 - mirrored]))
