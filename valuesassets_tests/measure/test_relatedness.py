import numpy as np
import pytest

from valuesassets.measure.relatedness import related_p, related_sign_p, share_between, spreads
from valuesassets.measure.resampling import label_permutations, permutation_p, sign_test_p

GROUPS = tuple("aaaabbbbbccccccddddeff")


def kindred(share, columns, random):
    of_row = np.unique(GROUPS, return_inverse=True)[1]
    shared, alone = random.normal(size=(6, columns))[of_row], random.normal(size=(len(GROUPS), columns))
    return np.sqrt(share) * shared + np.sqrt(1 - share) * alone


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_the_share_between_groups_is_estimated(share):
    random = np.random.default_rng(1)
    estimates = [share_between(kindred(share, 200, random), GROUPS) for _ in range(20)]
    assert np.mean(estimates) == pytest.approx(share, abs=0.06)


def test_a_share_needs_two_rows_of_a_group_and_two_groups():
    rows = np.random.default_rng(1).normal(size=(4, 10))
    assert share_between(rows, "abcd") == share_between(rows, "aaaa") == 0.0


def test_missing_values_count_as_their_columns_mean():
    rows = kindred(0.9, 200, np.random.default_rng(2))
    some = np.where(np.random.default_rng(3).random(rows.shape) < 0.1, np.nan, rows)
    assert share_between(some, GROUPS) == pytest.approx(share_between(rows, GROUPS), abs=0.15)
    assert share_between(np.full((4, 2), np.nan), "aabb") == 0.0


def test_a_pairing_that_lays_groups_over_groups_spreads_more():
    random = np.random.default_rng(4)
    a, b = (kindred(0.9, 60, random) for _ in range(2))
    own, others = np.arange(len(GROUPS))[None], label_permutations(len(GROUPS), 50, random)
    assert spreads(a, b, GROUPS, own).item() > spreads(a, b, GROUPS, others).max()
    within = label_permutations(len(GROUPS), 50, random, within=list(GROUPS))
    np.testing.assert_allclose(spreads(a, b, GROUPS, within), spreads(a, b, GROUPS, own).item())


def pairing_p(share, follows, seed):
    """The free p and the related one of two kindred sets, the second of which follows the first."""
    random = np.random.default_rng(seed)
    a = kindred(share, 40, random)
    b = kindred(share, 40, random) + follows * a
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    labels = label_permutations(len(GROUPS), 199, random)
    chance = np.array([np.sum(a * b[label]) for label in labels])
    observed = float(np.sum(a * b))
    (related,) = related_p(observed, chance, (a, b), labels, False, {"group": GROUPS}).values()
    return permutation_p(observed, chance), related


def test_related_sets_are_not_called_alike_and_sets_that_follow_each_other_are():
    null = np.array([pairing_p(0.9, 0.0, seed) for seed in range(60)])
    assert np.mean(null[:, 0] <= 0.05) > 0.12
    assert np.mean(null[:, 1] <= 0.05) <= 0.1
    planted = np.array([pairing_p(0.5, 0.3, seed) for seed in range(20)])
    assert np.mean(planted[:, 1] <= 0.05) > 0.9


def test_signs_of_related_differences_agree_by_chance_more_often():
    differences, random = np.ones(len(GROUPS)), np.random.default_rng(5)
    alone, kin = (related_sign_p(differences, GROUPS, share, 20_000, random) for share in (0.0, 0.8))
    assert alone == pytest.approx(sign_test_p(differences), abs=2e-4)
    assert kin > 0.002


def test_differences_of_zero_are_left_out_of_the_signs():
    p = related_sign_p(np.array([1.0, 0.0, 1.0, 1.0]), "abcd", 0.0, 20_000, np.random.default_rng(6))
    assert p == pytest.approx(0.25, abs=0.02)
