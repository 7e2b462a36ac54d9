import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from valuesassets.measure.profile_correlation import (
    centred_on_items,
    correlation,
    paired,
    resampled_correlations,
    style_of_items,
    without_style,
)
from valuesassets.records.errors import MissingData

CENTRINGS = ("none", "item", "double")


def centred(a, centring):
    return a if centring == "none" else centred_on_items(a)


def r_of(a, b, centring):
    return correlation(centred(a, centring), centred(b, centring), centring == "double")


def profiles(seed, n_profiles=5, n_items=20, gaps=0.0):
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, n_profiles, n_items))
    a[random.uniform(size=a.shape) < gaps] = np.nan
    return a, b + 0.5 * np.nan_to_num(a)


def by_brute_force(a, b, centring):
    if centring != "none":
        a, b = centred_on_items(a), centred_on_items(b)
    known = np.isfinite(a) & np.isfinite(b)
    a, b = np.where(known, a, np.nan), np.where(known, b, np.nan)
    if centring == "double":
        a, b = a - np.nanmean(a, axis=1, keepdims=True), b - np.nanmean(b, axis=1, keepdims=True)
    return np.corrcoef(a[known], b[known])[0, 1]


def test_two_profiles_over_two_items_by_hand():
    a = np.array([[0.0, 1.0], [1.0, 0.0]])
    b = np.array([[0.2, 0.9], [0.4, 0.7]])
    # item centred: a = [-.5 .5; .5 -.5], b = [-.1 .1; .1 -.1]
    assert r_of(a, b, "item") == pytest.approx(1)
    assert r_of(a, b[::-1], "item") == pytest.approx(-1)
    assert r_of(a, b, "none") == pytest.approx(np.corrcoef([0, 1, 1, 0], [0.2, 0.9, 0.4, 0.7])[0, 1])


@pytest.mark.parametrize("centring", CENTRINGS)
@given(seed=st.integers(0, 10_000), gaps=st.sampled_from([0.0, 0.2]))
def test_agrees_with_numpy_on_what_both_profiles_have(centring, seed, gaps):
    a, b = profiles(seed, gaps=gaps)
    assert r_of(a, b, centring) == pytest.approx(by_brute_force(a, b, centring), abs=1e-9)


def test_a_habit_of_each_language_fakes_the_item_centred_correlation_and_not_the_double_centred_one():
    random = np.random.default_rng(3)
    habit = random.normal(size=(8, 1))
    a, b = habit + 0.3 * random.normal(size=(2, 8, 150))
    assert r_of(a, b, "item") > 0.8
    assert abs(r_of(a, b, "double")) < 0.1


def test_on_a_bounded_scale_a_habit_leaves_a_trace_that_style_centring_takes_off():
    random = np.random.default_rng(6)
    habit, level = random.normal(size=(12, 1)), 1.5 * random.normal(size=200)
    a, b = 1 / (1 + np.exp(-(level + habit + 0.2 * random.normal(size=(2, 12, 200)))))
    assert r_of(a, b, "double") > 0.4
    # of a yes or no item the variance is m (1 - m)
    styles = [style_of_items(each.mean(axis=0), (each * (1 - each)).mean(axis=0)) for each in (a, b)]
    assert abs(correlation(without_style(a, styles[0]), without_style(b, styles[1]), True)) < 0.3


def test_style_centring_leaves_nothing_that_follows_the_items_levels():
    random = np.random.default_rng(7)
    profiles = random.uniform(size=(6, 30))
    profiles[random.uniform(size=profiles.shape) < 0.2] = np.nan
    styles = style_of_items(np.nanmean(profiles, axis=0), random.uniform(size=30))
    for profile in without_style(profiles, styles):
        known = np.isfinite(profile)
        assert profile[known] @ styles[known] == pytest.approx(np.zeros(4), abs=1e-9)


def test_items_that_differ_in_level_fake_the_raw_correlation_alone():
    random = np.random.default_rng(4)
    level = random.normal(size=150)
    a, b = level + 0.3 * random.normal(size=(2, 8, 150))
    assert r_of(a, b, "none") > 0.8
    assert abs(r_of(a, b, "item")) < 0.1


@pytest.mark.parametrize("centring", CENTRINGS)
def test_a_permuted_pairing_gives_what_permuting_the_profiles_gives(centring):
    a, b = profiles(1, gaps=0.1)
    sums, order = paired(centred(a, centring), centred(b, centring), centring == "double"), np.array([2, 0, 1, 4, 3])
    found = sums.correlation((np.arange(5), np.stack([order, np.arange(5)])))
    assert found == pytest.approx([by_brute_force(a, b[order], centring), by_brute_force(a, b, centring)])


@pytest.mark.parametrize("centring", CENTRINGS)
def test_a_sample_of_items_counts_each_as_often_as_it_was_drawn(centring):
    a, b = profiles(2)
    counts = np.random.default_rng(5).multinomial(20, np.full(20, 1 / 20), size=4).astype(float)
    found = resampled_correlations(centred(a, centring), centred(b, centring), counts, centring == "double")
    for draw, count in enumerate(counts):
        repeated = np.repeat(np.arange(20), count.astype(int))
        assert found[draw] == pytest.approx(by_brute_force(a[:, repeated], b[:, repeated], centring))


@given(st.integers(0, 1000), st.floats(0.1, 10), st.floats(-3, 3))
def test_scale_and_shift_change_nothing(seed, scale, shift):
    a, b = profiles(seed)
    for centring in CENTRINGS:
        assert r_of(scale * a + shift, b, centring) == pytest.approx(r_of(a, b, centring), abs=1e-9)


def test_where_nothing_varies_there_is_no_correlation():
    a, b = profiles(0)
    assert np.isnan(r_of(np.full_like(a, 0.3), b, "none"))
    assert np.isnan(r_of(np.tile(a[:1], (5, 1)), b, "item"))


def test_profiles_over_different_items_are_refused():
    with pytest.raises(MissingData, match="align them"):
        paired(np.zeros((2, 3)), np.zeros((2, 4)))
