from dataclasses import replace

import numpy as np
import pytest

from valuesassets.comparing.reliability import _test, coefficients, derive_reliability, split_half
from valuesassets_tests.comparing.made_grids import made_grid, scales, study

PEOPLE = np.zeros((8, 60))
ORDERS, WORDINGS, LANGUAGES, ITEMS = 2, 3, 8, 60


def tilts(random, pattern=0.0, habit=0.0, wording=0.0, order=0.0, item=1.0, n_languages=LANGUAGES, wordings=WORDINGS):
    """Models' tilts with planted standard deviations; families share nothing but the items."""
    shape = (ORDERS, wordings, 2, n_languages, ITEMS)
    found = random.normal(0, item, (1, 1, 1, 1, ITEMS)) + random.normal(0, pattern, (1, 1, 2, n_languages, ITEMS))
    found = found + random.normal(0, habit, (1, 1, 2, n_languages, 1)) + random.normal(0, wording, (1, *shape[1:]))
    pull = random.normal(0, order, (1, 1, 2, n_languages, ITEMS))
    return found + np.concatenate([pull, -pull])


def derived(**planted):
    n_languages = planted.get("n_languages", LANGUAGES)
    random = np.random.default_rng(0)
    grid = made_grid(tilts(random, **planted), PEOPLE[:n_languages], on=scales(ITEMS, (4, 10)))
    return derive_reliability(grid, study(n_languages))


def test_differences_that_every_wording_repeats_are_reliable():
    families = derived(pattern=0.6, wording=0.1)["families"]
    assert families["generalizability"].min() > 0.9
    assert families["is_reliable"].all()


def test_differences_that_each_wording_makes_anew_are_not():
    found = derived(wording=0.6)
    assert found["families"]["generalizability"].max() < 0.35
    assert not found["families"]["is_reliable"].any()


def test_an_equal_share_of_language_and_wording_gives_three_quarters_over_three_wordings():
    # tilts of equal variance v: v / (v + v / 3); expected values are nearly linear in the tilt
    families = derived(pattern=0.4, wording=0.4)["families"]
    assert families["generalizability"].to_numpy() == pytest.approx([0.75, 0.75], abs=0.06)
    assert (families["generalizability_low"] < 0.75).all()
    assert (families["generalizability_high"] > 0.75).all()


def test_a_pull_to_positions_cancels_between_the_orders_and_lowers_the_lower_bound_alone():
    families = derived(pattern=0.5, wording=0.1, order=0.8)["families"]
    assert families["generalizability"].min() > 0.85
    assert families["over_orders"].max() < 0.7


def pulled(random, pattern=0.0):
    """Tilts whose pull to the first option differs by language and by number of options, and not by item."""
    of_content = tilts(random, pattern=pattern, wording=0.3)
    few, of_language = scales(ITEMS, (4, 10)).n_options == 4, random.normal(3, 1, (2, 1, 2, LANGUAGES))
    pull = np.where(few, of_language[0][..., None], of_language[1][..., None])
    return of_content + np.concatenate([pull[None], -pull[None]])


def test_a_pull_to_a_place_that_differs_by_language_repeats_and_is_not_reliable():
    random = np.random.default_rng(1)
    grid = made_grid(pulled(random), PEOPLE, on=scales(ITEMS, (4, 10)))
    found = derive_reliability(grid, study(LANGUAGES))
    assert found["families"]["generalizability"].min() > 0.5
    assert found["families"]["beyond_position"].max() < 0.3
    assert not found["families"]["is_reliable"].any()
    assert not found["tests"]["is_rejected"].any()
    assert max(coefficients(found).values()) < 0.3
    assert found["families"]["languages_sd_unit"].max() < 0.02


def test_what_differs_under_a_pull_is_still_reliable():
    grid = made_grid(pulled(np.random.default_rng(2), pattern=0.6), PEOPLE, on=scales(ITEMS, (4, 10)))
    found = derive_reliability(grid, study(LANGUAGES))
    assert found["families"]["is_reliable"].all()
    assert found["tests"]["is_rejected"].all()


def test_languages_that_say_the_same_more_flatly_do_not_differ():
    random = np.random.default_rng(3)
    flatter = random.uniform(0.4, 1, (1, 1, 2, LANGUAGES, 1))
    grid = made_grid(tilts(random, wording=0.3, item=2.0) * flatter, PEOPLE, on=scales(ITEMS, (4, 10)))
    families = derive_reliability(grid, study(LANGUAGES))["families"]
    assert families["generalizability"].min() > 0.5
    assert families["beyond_position"].max() < 0.3


def test_where_an_interval_holds_0_a_family_is_not_reliable_whatever_its_coefficient():
    found = [
        derive_reliability(
            made_grid(
                tilts(np.random.default_rng(seed), item=0.5, wording=0.1, wordings=2, n_languages=4)
                + np.random.default_rng([seed, 1]).normal(0, 0.5, (1, 2, 2, 4, 1)),
                PEOPLE[:4],
                on=scales(ITEMS, (4, 10)),
            ),
            study(4, resamples=99),
        )["families"]
        for seed in range(30)
    ]
    shares = np.concatenate([each[["generalizability", "beyond_position"]].min(axis=1) for each in found])
    assert np.mean(shares >= 0.5) > 0.1
    assert np.mean(np.concatenate([each["is_reliable"] for each in found]).astype(bool)) < 0.08


def test_a_habit_of_a_language_is_reliable_and_no_pattern():
    families = derived(habit=0.6, wording=0.4)["families"]
    assert families["generalizability"].min() > 0.7
    assert families["pattern"].max() < 0.35


def test_with_one_wording_the_coefficient_is_not_measured_and_says_so():
    found = derived(pattern=0.5, wordings=1)
    assert found["families"]["generalizability"].isna().all()
    assert found["families"]["over_orders"].notna().all()
    assert found["families"]["reason"].str.contains("one wording").all()
    assert found["families"]["is_reliable"].isna().all()
    assert coefficients(found) == {}
    assert found["notes"]["note"].str.contains("1 wording, 3 are needed").any()


def test_two_languages_are_too_few_and_the_family_stays_in_the_table():
    found = derived(pattern=0.5, n_languages=2)
    assert found["families"]["reason"].str.contains("2 languages, 3 or more are needed").all()
    assert found["tests"].empty
    assert coefficients(found) == {}


def test_shares_of_variance_are_what_was_planted():
    components = derived(pattern=0.6, wording=0.2)["components"].set_index(["scope", "source"])["share"]
    assert components.groupby("scope").sum().to_numpy() == pytest.approx(1)
    # pattern of each family on its own: item x family x language over both, item x language within one
    assert components["mono", "item x language"] == pytest.approx(0.9, abs=0.05)
    assert components["all families", "item x family x language"] == pytest.approx(0.9, abs=0.05)
    assert components["all families", "item x language"] < 0.05


def test_missing_answers_do_not_shift_the_coefficient():
    random = np.random.default_rng(1)
    grid = made_grid(tilts(random, pattern=0.4, wording=0.4), PEOPLE, on=scales(ITEMS, (4, 10)))
    gone = random.uniform(size=grid.answers.shape[:2]) < 0.2
    grid.answers[gone] = np.nan
    grid.sides[:, :, gone] = np.nan
    assert derive_reliability(grid, study(8))["families"]["generalizability"].to_numpy() == pytest.approx(
        0.75, abs=0.08
    )


@pytest.mark.slow
def test_gaps_of_a_language_do_not_make_noise_reproducible():
    found, random = [], np.random.default_rng(7)
    for seed in range(150):
        grid = made_grid(tilts(np.random.default_rng(seed), wording=0.4), PEOPLE, on=scales(ITEMS, (4,)))
        gone = random.uniform(size=grid.answers.shape[:2]) < np.linspace(0, 0.5, grid.answers.shape[0])[:, None]
        grid.answers[gone] = np.nan
        grid.sides[:, :, gone] = np.nan
        found += derive_reliability(grid, study(8, resamples=199))["tests"]["p"].dropna().tolist()
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.03)


def test_a_language_without_an_answer_or_a_shared_item_has_no_part_in_the_halves():
    random = np.random.default_rng(8)
    noise = random.normal(size=(40, 9, 40))
    medians = []
    for profiles in noise:
        lone = np.full((2, 40), np.nan)
        lone[1, 0] = 1.0
        medians.append(split_half(np.vstack([profiles, lone]), np.random.default_rng(0))[0])
    assert np.mean(medians) == pytest.approx(0, abs=0.1)


def test_nothing_with_an_order_is_a_reason_and_not_a_crash():
    grid = made_grid(tilts(np.random.default_rng(0)), PEOPLE, on=scales(ITEMS, (4,)))
    named = replace(grid.scales, response_types=("categorical",) * ITEMS)
    found = derive_reliability(replace(grid, scales=named), study(8))
    assert found["families"]["reason"].str.contains("0 items").all()
    assert found["notes"]["note"].str.contains("not split").any()


def test_halves_of_the_same_pattern_agree_and_of_noise_do_not():
    random = np.random.default_rng(2)
    shared = random.normal(size=(10, 3)) @ random.normal(size=(3, 80))
    assert split_half(shared, np.random.default_rng(0))[0] > 0.9
    assert abs(split_half(random.normal(size=(10, 80)), np.random.default_rng(0))[0]) < 0.4
    assert np.isnan(split_half(random.normal(size=(3, 80)), np.random.default_rng(0))[0])


@pytest.mark.slow
def test_under_no_difference_the_test_rejects_about_as_often_as_it_says():
    found = []
    for seed in range(150):
        grid = made_grid(tilts(np.random.default_rng(seed), wording=0.4), PEOPLE, on=scales(ITEMS, (4,)))
        found += derive_reliability(grid, study(8, resamples=199))["tests"]["p"].tolist()
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.03)


def test_halves_that_contradict_each_other_are_at_worst_minus_one():
    random = np.random.default_rng(1)
    found = [split_half(random.normal(size=(4, 8)), np.random.default_rng(seed)) for seed in range(20)]
    assert min(low for _, low, _ in found) < -0.5
    assert min(low for _, low, _ in found) >= -1


@pytest.mark.parametrize("wordings", [1, 3])
def test_the_tests_statistic_is_the_mean_product_over_pairs_of_conditions(wordings):
    leans = np.random.default_rng(5).normal(size=(ORDERS, wordings, 4, 6))
    row = _test("a model", leans, study(4))
    conditions = leans.mean(axis=0) if wordings > 1 else leans[:, 0]
    centred = conditions - conditions.mean(axis=1, keepdims=True)
    n = len(conditions)
    products = [np.mean(centred[first] * centred[second]) for first in range(n) for second in range(first)]
    assert row["value"] == pytest.approx(np.mean(products), rel=1e-12)
