import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from valuesassets.measure import group_resampling
from valuesassets.measure.between_groups import between, group_means
from valuesassets.measure.group_resampling import (
    draw_counts,
    draw_units,
    drawn_errors,
    drawn_parts,
    left_out_ends,
    ratio_ends,
    resampled_components,
    unbiased_mix,
)

DRAWS = 4000


def resampled(sizes, draws=DRAWS, seed=0, weighted=True):
    """Two sides of the same people in groups of these sizes: their means, and what draws do to them."""
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    weights = random.gamma(4, 0.25, groups.size) if weighted else np.ones(groups.size)
    a = random.normal(size=(groups.size, 2)) + groups[:, None] * 0.05
    b = 0.5 * a + random.normal(size=a.shape)
    found = group_means(a, b, weights, groups, len(sizes))
    units = draw_units(groups, len(sizes), random)
    errors = drawn_errors(a, b, weights, units, units.unit, draw_counts(units, draws, random), found)
    return found, units, errors


def components_of(found):
    """(3,) unbiased components."""
    pairs = ((found.a, found.a, found.noise_aa), (found.a, found.b, found.noise_ab), (found.b, found.b, found.noise_bb))
    return np.array([between(*pair) for pair in pairs])


def test_one_less_than_there_are_is_drawn_and_nobody_leaves_their_group():
    units = draw_units(np.array([0, 1, 1, 1, 0]), 2, np.random.default_rng(0))
    assert units.first.tolist() == [0, 2, 5]
    assert sorted(units.unit[[0, 4]]) == [0, 1]
    counts = draw_counts(units, 50, np.random.default_rng(0))
    assert [each.shape for each in counts] == [(2, 50), (3, 50)]
    assert [set(each.sum(axis=0)) for each in counts] == [{1.0}, {2.0}]


def test_people_of_a_large_group_stand_in_blocks_of_nearly_one_size():
    units = draw_units(np.zeros(1050, int), 1, np.random.default_rng(0))
    assert units.is_large.all()
    assert set(np.bincount(units.unit)) == {10, 11}
    assert len(np.bincount(units.unit)) == group_resampling.BLOCKS


def test_means_of_draws_vary_as_the_noise_says():
    found, _, errors = resampled([4, 9, 30], weighted=False)
    spread = np.sum(errors.a * errors.b, axis=1).mean(axis=1)
    assert spread == pytest.approx(found.noise_ab, rel=0.1)
    assert errors.noise[1].mean(axis=1) == pytest.approx(found.noise_ab, rel=0.1)


def test_blocks_vary_as_people_do():
    found, units, errors = resampled([3000, 3000, 3000, 3000])
    assert units.is_large.all()
    spread = np.sum(errors.a**2, axis=1).mean(axis=1)
    assert spread.mean() == pytest.approx(found.noise_aa.mean(), rel=0.1)


def test_draws_centre_on_the_unbiased_component_and_not_on_what_noise_makes_of_it():
    found, _, errors = resampled([5] * 30)
    drawn = resampled_components(components_of(found), drawn_parts(found.a, found.b, errors))
    middle, error = drawn.mean(axis=1), drawn.std(axis=1) / np.sqrt(DRAWS)
    assert (np.abs(middle - components_of(found)) <= 4 * error + 0.02 * found.noise_aa.sum()).all()
    plain = [between(found.a, found.a, 0 * found.noise_aa), between(found.a, found.b, 0 * found.noise_aa)]
    assert (plain > middle[:2] + 50 * error[:2]).all()


@pytest.mark.slow
def test_draws_spread_as_worlds_do():
    """Of worlds with the same truth: the spread of estimates, and what one world's draws say of it."""
    random = np.random.default_rng(0)
    groups, truth = np.repeat(np.arange(20), 6), np.linspace(-0.6, 0.6, 20)
    estimates, spreads = [], []
    for _ in range(300):
        a = truth[groups, None] + random.normal(size=(groups.size, 1))
        b = 0.7 * truth[groups, None] + 0.2 * random.normal(size=(groups.size, 1))
        found = group_means(a, b, np.ones(groups.size), groups, 20)
        units = draw_units(groups, 20, random)
        errors = drawn_errors(a, b, np.ones(groups.size), units, units.unit, draw_counts(units, 100, random), found)
        estimates.append(components_of(found))
        drawn = resampled_components(estimates[-1], drawn_parts(found.a, found.b, errors))
        spreads.append(drawn.std(axis=1))
    assert np.mean(spreads, axis=0) == pytest.approx(np.std(estimates, axis=0), rel=0.15)


def test_a_group_whose_draw_has_nobody_who_answered_stays_where_it_was():
    groups, weights = np.array([0, 0, 1, 1]), np.ones(2)
    units = draw_units(groups, 2, np.random.default_rng(0))
    answered = np.array([0, 2])
    a = np.array([[1.0], [3.0]])
    found = group_means(a, a, weights, groups[answered], 2)
    counts = draw_counts(units, 20, np.random.default_rng(0))
    errors = drawn_errors(a, a, weights, units, units.unit[answered], counts, found)
    assert (errors.a == 0).all()


@given(st.integers(0, 10_000))
def test_mixed_sides_have_the_products_that_were_asked_for(seed):
    random = np.random.default_rng(seed)
    sides, root = random.normal(size=(2, 6)), random.normal(size=(2, 2))
    wanted = root @ root.T
    mix = unbiased_mix(sides @ sides.T, wanted[[0, 0, 1], [0, 1, 1]])
    assert (mix @ sides) @ (mix @ sides).T == pytest.approx(wanted, abs=1e-6)
    assert mix == pytest.approx(mix.T)


def test_a_side_that_does_not_move_stays_so():
    mix = unbiased_mix(np.array([[4.0, 0.0], [0.0, 0.0]]), np.array([1.0, 0.0, 0.0]))
    assert mix == pytest.approx(np.array([[0.5, 0.0], [0.0, 0.0]]))


def test_the_ends_of_a_ratio_leave_out_as_much_on_either_side():
    over = np.random.default_rng(0).permutation(np.arange(1.0, 40.0))
    assert ratio_ends(over, np.full(39, 2.0)) == pytest.approx((0.5, 19.5))


def test_a_ratio_that_may_be_infinite_has_no_interval():
    under = np.ones(1000)
    under[:30] = -1
    assert np.isnan(ratio_ends(np.ones(1000), under)).all()
    under[:30] = 1
    under[0] = 0
    assert ratio_ends(np.ones(1000), under) == (1, 1)
    assert np.isnan(ratio_ends(np.ones(0), np.ones(0))).all()


def test_leaving_one_out_of_a_mean_gives_its_t_interval():
    values = np.array([1.0, 2.0, 4.0, 8.0])
    left_out = (values.sum() - values) / 3
    expected = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    assert left_out_ends(values.mean(), left_out) == pytest.approx(expected)
    assert np.isnan(left_out_ends(1.0, np.array([1.0]))).all()
