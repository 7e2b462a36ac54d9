import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import procrustes
from scipy.stats import pearsonr

from valuesassets.measure.procrustes import fit_similarity, permute_same_axes, permute_similarity
from valuesassets.records.errors import MissingData

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def rng(seed=0):
    return np.random.default_rng(seed)


def moved(points, degrees, scale, shift, mirror=False):
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return scale * points @ np.diag([1, -1 if mirror else 1]) @ turn + shift


def test_a_square_turned_by_hand_is_laid_back_on_itself():
    quarter = np.array([[2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [0.0, 0.0]])
    fit = fit_similarity(SQUARE, quarter)
    assert fit.scale == pytest.approx(2)
    assert fit.rotation == pytest.approx(np.array([[0, 1], [-1, 0]]), abs=1e-12)
    assert fit.shift == pytest.approx([2, 0])


@given(st.integers(0, 10_000), st.integers(4, 12), st.booleans())
def test_a_similarity_is_recovered(seed, n, mirror):
    points = rng(seed).normal(size=(n, 2))
    target = moved(points, 77, 0.4, [3, -1], mirror)
    assert fit_similarity(points, target).move(points) == pytest.approx(target)


@given(st.integers(0, 10_000), st.integers(4, 12))
def test_the_disparity_is_that_of_scipy(seed, n):
    points, target = rng(seed).normal(size=(2, n, 2))
    assert permute_similarity(points, target, 5, rng()).value == pytest.approx(procrustes(points, target)[2])


@given(st.integers(0, 10_000))
def test_turning_scaling_and_shifting_one_side_changes_neither_disparity_nor_p(seed):
    points, target = rng(seed).normal(size=(2, 8, 2))
    before = permute_similarity(points, target, 200, rng(1))
    after = permute_similarity(moved(points, 130, 5, [1, 2], mirror=True), target, 200, rng(1))
    assert (after.value, after.p) == pytest.approx((before.value, before.p))


@pytest.mark.parametrize("permute", [permute_similarity, permute_same_axes])
def test_with_few_points_every_relabelling_is_counted(permute):
    points = rng(3).normal(size=(5, 2))
    target = points + rng(4).normal(size=(5, 2)) * 0.8
    found = permute(points, target, 2000, rng())
    values = [permute(points[list(order)], target, 1, rng()).value for order in itertools.permutations(range(5))]
    sign = 1 if permute is permute_same_axes else -1
    assert found.p == np.count_nonzero(sign * np.array(values) >= sign * found.value - 1e-9) / 120


def test_a_mirrored_copy_fits_after_a_turn_but_is_no_agreement_on_the_same_axes():
    points = rng(1).normal(size=(12, 2))
    mirrored = points * [1, -1]
    assert permute_similarity(points, mirrored, 500, rng()).value == pytest.approx(0, abs=1e-9)
    turned = -points
    assert permute_same_axes(points, turned, 500, rng()).value == pytest.approx(-1)
    assert permute_same_axes(points, turned, 500, rng()).p > 0.9


@given(st.integers(0, 10_000))
def test_one_column_gives_pearsons_r(seed):
    x, y = rng(seed).normal(size=(2, 9))
    assert permute_same_axes(x[:, None], y[:, None], 5, rng()).value == pytest.approx(pearsonr(x, y)[0])


@pytest.mark.parametrize("permute", [permute_similarity, permute_same_axes])
def test_unrelated_points_are_called_related_as_often_as_alpha_says(permute):
    p = [permute(*rng(seed).normal(size=(2, 10, 2)), 199, rng(seed + 10_000)).p for seed in range(600)]
    # 600 worlds at 5 %: Monte Carlo error of .9 points
    assert 0.025 < np.mean(np.array(p) <= 0.05) < 0.08


@pytest.mark.parametrize("call", [permute_similarity, permute_same_axes])
def test_three_points_or_points_in_one_place_say_nothing(call):
    with pytest.raises(MissingData, match="four or more"):
        call(SQUARE[:3], SQUARE[:3], 99, rng())
    with pytest.raises(MissingData, match="one place"):
        call(np.ones((5, 2)), rng().normal(size=(5, 2)), 99, rng())
    with pytest.raises(MissingData, match="one place"):
        fit_similarity(np.ones((5, 2)), rng().normal(size=(5, 2)))
