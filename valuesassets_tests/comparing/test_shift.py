"""Moves towards a country: slopes, their intervals and tests, and the smallest that would be found."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from valuesassets.comparing.shift import Part, critical, direction_of, measure_shift, move_on_map, two_sided
from valuesassets.comparing.shift_power import by_wording, power_of_shift
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData
from valuesassets_tests.simulations.shares import COVERAGE, REJECTED, is_within
from valuesassets_tests.simulations.survey.shift import FOUND, NULLS, Change, measured, simulate

FEW = 100
EACH = simulate(Change(), seeded("a shift"))
GIVEN = (EACH.before, EACH.after, EACH.variances, EACH.people, 0, EACH.batteries)


@pytest.mark.parametrize("name", NULLS)
def test_a_model_that_moved_towards_nobody_is_rarely_said_to_have(name):
    simulations = [measured(NULLS[name], seed) for seed in range(FEW)]
    held = np.mean([shift.slope_low <= each.slope <= shift.slope_high for each, shift in simulations])
    assert is_within(float(np.mean([shift.p <= 0.05 for _, shift in simulations])), 0, REJECTED, FEW)
    assert is_within(float(held), COVERAGE[0], 1, FEW)


@pytest.mark.parametrize("name", FOUND)
def test_a_mean_move_of_five_hundredths_is_found_in_eight_of_ten(name):
    simulations = [measured(FOUND[name], seed) for seed in range(30)]
    assert np.mean([shift.p <= 0.05 and shift.slope > 0 for _, shift in simulations]) >= 0.8
    sizes = [shift.toward_unit for _, shift in simulations]
    assert np.mean(sizes) == pytest.approx(0.05, abs=3 * np.std(sizes) / np.sqrt(30))


def test_a_test_over_questions_would_be_wrong_where_questions_come_in_batteries():
    simulations = [simulate(Change(flattening=0.2), seeded(seed, "t test")) for seed in range(FEW)]
    p = [
        stats.pearsonr(direction_of(each.people, 0), np.mean(each.after - each.before, (0, 1)))[1]
        for each in simulations
    ]
    assert np.mean(np.array(p) <= 0.05) > 0.1


def test_interval_and_p_are_of_one_test():
    for seed in range(20):
        shift = measured(Change(moved=0.015), seed)[1]
        assert (shift.p <= 0.05) == (shift.slope_low > 0 or shift.slope_high < 0)


def test_the_critical_value_of_one_part_is_students_t_and_p_is_its_tail():
    only = (Part(0.04, 7.0), Part(0.0, 2.0))
    assert critical(only, 0.05) == pytest.approx(stats.t.ppf(0.975, 7))
    assert two_sided(0.5, only) == pytest.approx(2 * stats.t.sf(2.5, 7))


def test_a_part_of_few_degrees_of_freedom_weighs_by_its_variance():
    parts = (Part(0.03, 10.0), Part(0.01, 2.0))
    expected = (3 * stats.t.ppf(0.975, 10) + stats.t.ppf(0.975, 2)) / 4
    assert critical(parts, 0.05) == pytest.approx(expected)


def test_the_direction_is_the_country_less_the_mean_of_the_others():
    people = np.array([[0.5, 0.4, np.nan], [0.1, np.nan, 0.2], [0.3, 0.2, 0.4]])
    assert direction_of(people, 0)[0] == pytest.approx(0.3)
    assert np.isnan(direction_of(people, 0)[1:]).all()  # one other country alone, and the country itself missing
    assert direction_of(EACH.people, [0, 1]) == pytest.approx(
        EACH.people[:2].mean(axis=0) - EACH.people[2:].mean(axis=0)
    )


def test_the_same_readings_have_not_moved():
    same = measure_shift(EACH.before, EACH.before, *GIVEN[2:])
    assert (same.slope, same.slope_low, same.slope_high, same.p) == (0, 0, 0, 1)


def test_a_shift_of_all_questions_and_flatter_answers_are_no_move():
    middle = 0.5 + 0.8 * (EACH.before - 0.5) + 0.1
    shift = measure_shift(EACH.before, middle, *GIVEN[2:])
    assert shift.slope == pytest.approx(0, abs=0.02)
    assert abs(shift.slope_raw) > 10 * abs(shift.slope)


def test_before_and_after_exchanged_turn_the_sign():
    there, back = measure_shift(*GIVEN), measure_shift(EACH.after, EACH.before, *GIVEN[2:])
    assert there.slope == pytest.approx(-back.slope)
    assert there.p == pytest.approx(back.p)


def test_one_before_stands_beside_each_of_several_trainings():
    each = simulate(Change(trainings=3, apart=0.02), seeded("three"))
    more = (each.variances, each.people, 0, each.batteries)
    several = measure_shift(each.before, each.after, *more)
    assert measure_shift(each.before[:1], each.after, *more).slope_low == pytest.approx(several.slope_low)
    assert several.of_trainings > 0


def test_items_that_something_lacks_are_left_out():
    people = EACH.people.copy()
    people[0, 3] = np.nan
    after = EACH.after.copy()
    after[0, 1, 4] = np.nan
    assert measure_shift(EACH.before, after, EACH.variances, people, 0, EACH.batteries).n_items == 78


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"people": EACH.people[:2]}, "2 countries with people, 3 or more"),
        ({"batteries": EACH.batteries % 4}, "4 batteries, 5 or more"),
        ({"share": 0.7}, "1 replicate, two or more"),
        ({"before": EACH.before[..., :19], "after": EACH.after[..., :19], "variances": EACH.variances[:19],
          "people": EACH.people[:, :19], "batteries": np.arange(19)}, "19 questions that models and people share"),
    ],
)  # fmt: skip
def test_too_little_is_refused_with_its_reason(changes, reason):
    names = ("before", "after", "variances", "people", "toward", "batteries")
    with pytest.raises(MissingData, match=reason):
        measure_shift(**(dict(zip(names, GIVEN, strict=True)) | changes))


def test_a_share_out_of_range_is_refused():
    each = simulate(Change(trainings=2), seeded("two"))
    with pytest.raises(MissingData, match="more than 0 and less than 1"):
        measure_shift(each.before, each.after, each.variances, each.people, 0, each.batteries, share=1.5)


def test_a_model_that_leaves_the_middle_comes_nearer_without_going_towards():
    move = move_on_map([0, 0], [0, 1], [1, 3], [[-1, 3], [0, 2]])
    assert move.distance_change == pytest.approx(np.sqrt(5) - np.sqrt(10))
    assert move.toward == pytest.approx(1 / np.hypot(1.5, 0.5) * 0.5)
    with pytest.raises(MissingData, match="nothing sets it apart"):
        move_on_map([0, 0], [0, 1], [1, 1], [[0, 0], [2, 2]])


@pytest.mark.parametrize(("moved", "drift"), [(0.02, 0.05), (0.03, 0.08)])
def test_the_power_told_before_is_the_power_found(moved, drift):
    kind = Change(moved=moved, drift=drift)
    predicted, rejections = [], []
    for seed in range(80):
        each, shift = measured(kind, seed)
        rejections.append(shift.p <= 0.05 and shift.slope > 0)
        if seed < 20:
            readings = each.before[0].mean(axis=0) + np.random.default_rng(seed).normal(0, 0.04, each.before[0].shape)
            predicted.append(power_of_shift(readings, *GIVEN[2:], drift=drift).power_at(moved))
    assert np.mean(rejections) == pytest.approx(np.mean(predicted), abs=0.05 + 2 * np.std(rejections) / np.sqrt(80))


def test_the_smallest_shift_is_found_in_four_of_five_and_grows_with_drift_and_wordings():
    readings = EACH.before[0]
    power = power_of_shift(readings, *GIVEN[2:])
    assert power.power_at(power.smallest) == pytest.approx(0.8, abs=0.001)
    assert power_of_shift(readings, *GIVEN[2:], drift=0.1).smallest > power.smallest
    assert power_of_shift(readings, *GIVEN[2:], alpha=0.01).smallest > power.smallest
    assert power_of_shift(readings, *GIVEN[2:], interaction=0.2).smallest > power.smallest
    assert by_wording(readings) == pytest.approx(0.05, abs=0.01)
    assert by_wording(readings[:1]) == 0


def test_simulations_are_the_same_for_the_same_seed():
    assert measured(Change(), 1)[1] == measured(replace(Change()), 1)[1]
