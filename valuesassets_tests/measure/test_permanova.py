from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f_oneway

from valuesassets.measure.permanova import pairs_of, variance_share
from valuesassets.measure.resampling import label_permutations
from valuesassets.records.errors import MissingData

FEW = np.array([[0, 1, 2, 3], [1, 0, 2, 3]])


def squared(points):
    first, second = pairs_of(len(points))
    return (points[first] - points[second]) ** 2


def test_four_objects_in_two_groups_by_hand():
    # Within both groups 1 apart, between them 2: SS_T = (1 + 1 + 4 * 4) / 4, SS_W = 1 / 2 + 1 / 2.
    found = variance_share([1, 4, 4, 4, 4, 1], ["a", "a", "b", "b"], FEW)
    assert found.r2 == pytest.approx(1 - 1 / 4.5)
    assert found.pseudo_f == pytest.approx(3.5 / (1 / 2))
    assert (found.n_groups, found.n) == (2, 4)


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_of_points_on_a_line_the_pseudo_f_is_that_of_the_analysis_of_variance(seed, n_groups):
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n_groups), random.integers(2, 6, n_groups))
    points = random.normal(size=labels.size) + labels
    found = variance_share(squared(points), labels, label_permutations(labels.size, 5, random))
    oracle = f_oneway(*(points[labels == group] for group in range(n_groups)))
    assert found.pseudo_f == pytest.approx(oracle.statistic)
    assert 0 <= found.r2 <= 1


def test_over_all_permutations_p_and_the_share_by_chance_are_those_of_brute_force():
    random = np.random.default_rng(3)
    labels, distances = np.array([0, 0, 0, 1, 1, 2]), random.uniform(0.5, 2, 15)
    every = np.array(list(permutations(range(6))))

    def share(groups):
        pairs = list(combinations(range(6), 2))
        within = sum(
            distances[place] / np.sum(groups == groups[a])
            for place, (a, b) in enumerate(pairs)
            if groups[a] == groups[b]
        )
        return 1 - within / (distances.sum() / 6)

    shares = np.array([share(labels[order]) for order in every])
    found = variance_share(distances, labels, every)
    assert found.r2 == pytest.approx(share(labels))
    assert found.r2_by_chance == pytest.approx(shares.mean())
    assert found.p == pytest.approx((1 + np.sum(shares >= share(labels) - 1e-12)) / 721)


@given(st.integers(0, 10_000))
def test_the_excess_of_the_same_distances_is_the_excess_and_scaling_changes_nothing(seed):
    random = np.random.default_rng(seed)
    labels = np.array([0, 0, 1, 1, 2, 2, 2])
    found = variance_share(distances := random.uniform(0.1, 1, 21), labels, label_permutations(7, 50, random))
    assert found.excesses(np.stack([distances, 9 * distances])) == pytest.approx(np.full(2, found.excess))


def test_twenty_two_groups_of_two_share_half_of_pure_noise_and_none_in_excess():
    random = np.random.default_rng(7)
    excess, ps, raw = [], [], []
    for _ in range(60):
        points = random.normal(size=(44, 5))
        first, second = pairs_of(44)
        distances = ((points[first] - points[second]) ** 2).sum(axis=1)
        labels, families = np.tile(np.arange(22), 2), np.repeat([0, 1], 22)
        found = variance_share(distances, labels, label_permutations(44, 199, random, families))
        raw.append(found.r2)
        excess.append(found.excess)
        ps.append(found.p)
    assert np.mean(raw) == pytest.approx(21 / 43, abs=0.02)
    assert np.mean(excess) == pytest.approx(0, abs=0.02)
    assert np.mean(np.array(ps) <= 0.1) <= 0.25


@pytest.mark.parametrize(
    ("distances", "labels"),
    [
        ([1, 4, 4, 4, 4, 1], ["a"] * 4),
        ([1, 4, 4, 4, 4, 1], list("abcd")),
        ([1, 4, np.nan, 4, 4, 1], list("aabb")),
        ([0] * 6, list("aabb")),
    ],
)
def test_groups_or_distances_that_leave_nothing_to_compare_are_refused(distances, labels):
    with pytest.raises(MissingData, match=r"needs a distance|groups are needed"):
        variance_share(distances, labels, FEW)
