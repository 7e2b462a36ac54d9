import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from valuesassets.measure.resampling import (
    exhaustive_p,
    interval_ends,
    jackknife_ends,
    label_permutations,
    labellings,
    means_with_intervals,
    permutation_p,
    resample_counts,
    resampled_means,
    sign_test_p,
    stratified_counts,
)
from valuesassets.records.errors import MissingData


def bootstrap_interval(sample, seed, draws=1000):
    """Bootstrap interval of the mean of one sample."""
    values = np.asarray(sample, dtype=float)
    return means_with_intervals(values, resample_counts(values.size, draws, np.random.default_rng(seed)))


def test_of_two_rows_the_interval_runs_from_one_to_the_other():
    # a draw is both low (1/4), both high (1/4) or mixed (1/2): the 2.5% and 97.5% points are the rows themselves
    interval = bootstrap_interval([0.0, 1.0], seed=1)
    assert (interval.low, interval.mean, interval.high, interval.n) == (0, 0.5, 1, 2)


def test_the_same_seed_gives_the_same_interval():
    sample = np.random.default_rng(0).normal(size=30)
    assert bootstrap_interval(sample, 7) == bootstrap_interval(sample, 7)
    assert bootstrap_interval(sample, 7) != bootstrap_interval(sample, 8)


def test_one_row_has_no_interval():
    alone = bootstrap_interval([1.0], 0)
    assert alone.mean == 1
    assert np.isnan([alone.low, alone.high]).all()


def test_agrees_with_scipys_percentile_bootstrap_where_the_sample_is_large():
    sample = np.random.default_rng(3).normal(size=600)
    ours = bootstrap_interval(sample, 1, draws=4000)
    oracle = stats.bootstrap((sample,), np.mean, method="percentile", n_resamples=4000, rng=np.random.default_rng(2))
    assert ours.low == pytest.approx(oracle.confidence_interval.low, abs=0.006)
    assert ours.high == pytest.approx(oracle.confidence_interval.high, abs=0.006)


@pytest.mark.slow
def test_the_interval_covers_the_mean_about_as_often_as_it_says():
    random = np.random.default_rng(5)
    for n in (10, 40):
        intervals = [bootstrap_interval(random.normal(size=n), seed, draws=400) for seed in range(600)]
        covered = np.mean([i.low <= 0 <= i.high for i in intervals])
        assert 0.92 <= covered <= 0.975, n


@given(st.integers(0, 10_000), st.integers(2, 20))
def test_moving_and_stretching_the_sample_moves_and_stretches_the_interval(seed, n):
    sample = np.random.default_rng(seed).normal(size=n)
    plain, moved = (bootstrap_interval(s, seed, draws=50) for s in (sample, 2 * sample + 3))
    assert [moved.low, moved.mean, moved.high] == pytest.approx(
        [2 * end + 3 for end in (plain.low, plain.mean, plain.high)]
    )


def test_p_by_counting():
    assert permutation_p(1.0, [0.0, 0.5, 1.0, 2.0]) == 3 / 5
    assert permutation_p(9.0, np.zeros(99)) == 0.01


def test_no_permutation_is_refused():
    with pytest.raises(MissingData):
        permutation_p(1.0, [])


@given(st.integers(0, 10_000), st.integers(1, 50))
def test_p_is_never_zero_and_falls_with_the_statistic(seed, b):
    permuted = np.random.default_rng(seed).normal(size=b)
    assert 0 < permutation_p(2.0, permuted) <= permutation_p(1.0, permuted) <= 1


def test_under_chance_p_is_below_a_tenth_about_a_tenth_of_the_time():
    random = np.random.default_rng(11)
    ps = [permutation_p(random.normal(), random.normal(size=99)) for _ in range(1000)]
    assert np.mean(np.array(ps) <= 0.1) == pytest.approx(0.1, abs=0.03)


def test_five_of_five_signs_by_hand():
    assert sign_test_p([1, 2, 0.1, 3, 4]) == pytest.approx(2 / 2**5)
    assert sign_test_p([1, -1, 0, 0]) == 1


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12).filter(any))
def test_sign_test_does_not_care_for_direction_or_size(differences):
    p = sign_test_p(differences)
    assert p == sign_test_p([-d for d in differences]) == sign_test_p([7 * d for d in differences])
    assert 0 < p <= 1


def test_no_sign_at_all_is_refused():
    with pytest.raises(MissingData):
        sign_test_p([0.0, 0.0])


def test_a_draw_holds_each_thing_about_once_and_as_many_as_there_are():
    counts = resample_counts(7, 4000, np.random.default_rng(0))
    assert counts.shape == (4000, 7)
    assert np.all(counts.sum(axis=1) == 7)
    assert counts.mean(axis=0) == pytest.approx(np.ones(7), abs=0.06)
    assert counts.var(axis=0) == pytest.approx(np.full(7, 6 / 7), abs=0.08)


def test_resampled_means_are_those_of_the_repeated_values_without_what_is_missing():
    random = np.random.default_rng(1)
    values = random.normal(size=(3, 2, 6))
    values[0, 1, 2] = values[2, 0, :] = np.nan
    counts = resample_counts(6, 5, random)
    found = resampled_means(values, counts)
    assert found.shape == (5, 3, 2)
    for draw, row, column in np.ndindex(5, 3, 2):
        repeated = np.repeat(values[row, column], counts[draw].astype(int))
        known = repeated[np.isfinite(repeated)]
        assert found[draw, row, column] == pytest.approx(known.mean() if known.size else np.nan, nan_ok=True)


def test_an_interval_over_one_thing_or_nothing_drawn_is_missing():
    for n, drawn in ((1, np.zeros(9)), (5, np.full(9, np.nan))):
        assert np.isnan(interval_ends(drawn, n)).all()


def test_ends_of_a_share_lie_around_it_and_need_two_estimates():
    low, high = jackknife_ends(0.5, np.array([0.49, 0.5, 0.51]))
    assert 0 < low < 0.5 < high < 1
    with pytest.raises(MissingData, match="two or more"):
        jackknife_ends(0.5, np.array([0.5]))


@given(st.lists(st.integers(0, 2), min_size=1, max_size=8), st.integers(0, 100))
def test_a_permutation_moves_labels_within_their_stratum_only(strata, seed):
    permuted = label_permutations(len(strata), 20, np.random.default_rng(seed), strata)
    assert np.all(np.sort(permuted, axis=1) == np.arange(len(strata)))
    assert np.all(np.array(strata)[permuted] == np.array(strata))


def test_every_permutation_of_three_labels_comes_up_about_as_often():
    permuted = label_permutations(3, 6000, np.random.default_rng(2))
    _, counts = np.unique(permuted, axis=0, return_counts=True)
    assert counts == pytest.approx(np.full(6, 1000), abs=120)


def test_what_differs_by_rounding_alone_counts_as_reached():
    assert permutation_p(0.1 + 0.2, [0.3]) == 1.0


def test_many_intervals_at_once_are_those_of_one_after_the_other():
    random = np.random.default_rng(4)
    values = random.normal(size=(3, 2, 9))
    values[0, 0, :4] = values[2, 1, :8] = np.nan
    counts = resample_counts(9, 300, random)
    found, drawn = means_with_intervals(values, counts, 0.9), resampled_means(values, counts)
    for row, column in np.ndindex(3, 2):
        known = values[row, column][np.isfinite(values[row, column])]
        assert found.n[row, column] == known.size
        assert found.mean[row, column] == pytest.approx(known.mean())
        if known.size < 2:
            assert np.isnan([found.low[row, column], found.high[row, column]]).all()
            continue
        alone = interval_ends(drawn[:, row, column], known.size, 0.9)
        assert (found.low[row, column], found.high[row, column]) == pytest.approx(alone)


@given(st.integers(0, 10_000), st.integers(2, 30))
def test_the_ends_are_quantiles_of_what_was_drawn(seed, n):
    drawn = np.random.default_rng(seed).normal(size=(101, 2))
    drawn[:40, 1] = np.nan
    tail = stats.norm.cdf(np.sqrt(n / (n - 1)) * stats.t.ppf(0.025, n - 1))
    low, high = interval_ends(drawn, n)
    found = [np.nanquantile(drawn, share, 0, method="weibull") for share in (tail, 1 - tail)]
    assert [*low, *high] == pytest.approx([*found[0], *found[1]], abs=1e-5)


def test_means_of_nothing_are_missing_and_so_are_their_intervals():
    found = means_with_intervals(np.full((1, 3), np.nan), np.ones((5, 3)))
    assert found.n.tolist() == [0]
    assert np.isnan([found.mean, found.low, found.high]).all()


def test_of_each_stratum_one_less_is_drawn_than_it_has_and_single_things_stay():
    counts = stratified_counts(["a", "b", "a", "b", "b", "c"], 500, np.random.default_rng(0))
    assert (counts[:, [0, 2]].sum(axis=1) == 1).all()
    assert (counts[:, [1, 3, 4]].sum(axis=1) == 2).all()
    assert (counts[:, 5] == 1).all()
    assert counts[:, [1, 3, 4]].mean(axis=0) == pytest.approx(2 / 3, abs=0.1)


def test_means_within_strata_vary_as_they_do_between_studies():
    values = np.random.default_rng(1).normal(size=8)
    strata = np.repeat(["a", "b"], 4)
    counts = stratified_counts(strata, 40_000, np.random.default_rng(2))
    of_strata = [(counts[:, part] @ values[part]) / 3 for part in (slice(0, 4), slice(4, 8))]
    wanted = sum(values[part].var(ddof=1) / 4 for part in (slice(0, 4), slice(4, 8)))
    assert np.var(sum(of_strata)) == pytest.approx(wanted, rel=0.03)


def test_few_labels_are_ordered_in_every_way_and_many_at_random():
    every, is_all = labellings(4, 9, np.random.default_rng(0))
    assert is_all
    assert len({tuple(row) for row in every.tolist()}) == 24
    assert every[0].tolist() == [0, 1, 2, 3]
    drawn, is_all = labellings(8, 9, np.random.default_rng(0))
    assert (drawn.shape, is_all) == ((9, 8), False)


def test_of_all_labellings_the_one_at_hand_counts_once():
    assert exhaustive_p(3.0, [3.0, 1.0, 2.0, 0.0]) == 0.25
    assert exhaustive_p(0.0, [3.0, 1.0, 2.0, 0.0]) == 1
