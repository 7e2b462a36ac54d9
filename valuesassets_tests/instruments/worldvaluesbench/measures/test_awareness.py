from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Groups, Probe, Rated
from valuesassets.instruments.worldvaluesbench.measures.awareness import (
    derive_awareness,
    measures,
    prompt_gain,
    style_free_components,
)
from valuesassets.instruments.worldvaluesbench.measures.group_moves import Resampling, derive_moves, scopes_of
from valuesassets.measure.between_groups import between, group_means
from valuesassets.records.errors import MissingData
from valuesassets.records.tables import table_of_asset
from valuesassets_tests.instruments.worldvaluesbench.made_up import made_groups, made_probe, value_question

SLOPES = {"aware": 0.8, "blind": 0.0, "contrary": -0.4, "caricature": 1.3}


def overall(tables, model):
    """The row of all groups."""
    factors = tables["factors"]
    return factors[(factors["model"] == model) & (factors["factor"] == "all")].iloc[0]


@pytest.fixture(scope="module")
def large():
    return derive_awareness(made_probe(150, slopes=SLOPES), 199, seed=1, planted_slopes=SLOPES)


def two_groups(answers, ratings, weights=None):
    """One question of two answers, 0 and 1, asked in two groups of the same size."""
    n = len(answers)
    group = np.repeat([0, 1], n // 2)
    rated = Rated(np.eye(2)[np.array(ratings)], np.array(ratings, dtype=float), 0, 0)
    weights = np.ones(n) if weights is None else np.array(weights)
    question = value_question(k=2, lo=0)
    item = AskedQuestion(question, np.arange(n), group, weights, np.array(answers, dtype=float), {"m": rated}, {})
    return Probe(Groups(("settlement",), (("urban",), ("rural",))), [item])


def test_one_question_in_two_groups_by_hand():
    tables = derive_awareness(two_groups([0, 0, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1]), 0, seed=0, min_group=3)
    row = overall(tables, "m")
    # shares of 0: people 2/3 and 0, the model 1/3 and 0; v_hh = v_mm = 1/9, v_mh = 1/18, half of which is noise
    assert row["a_hh"] == pytest.approx(2 / 9 - 1 / 18)
    assert row["a_mh"] == pytest.approx(1 / 9 - 1 / 36)
    assert row["a_mm"] == pytest.approx(1 / 18 - 1 / 18, abs=1e-12)
    assert row["slope"] == pytest.approx(0.5)
    assert np.isnan(row["p_value"])
    assert row["n_arrangements"] == 2


def test_measures_by_hand():
    assert measures(4.0, 2.0, 4.0) == {"slope": 0.5, "exaggeration": 1.0, "direction": 0.5, "skill": 0.0}
    assert measures(4.0, 6.0, 9.0)["skill"] == pytest.approx(2 * 1.5 - 2.25)
    still = measures(1.0, 0.1, -0.2)
    assert (still["exaggeration"], still["skill"]) == (0, 0.2)
    assert np.isnan(still["direction"])
    assert all(np.isnan(value) for value in measures(0.0, 1.0, 1.0).values())


@pytest.mark.parametrize("model", SLOPES)
def test_planted_slopes_come_back_inside_their_intervals(large, model):
    row = overall(large, model)
    assert row["slope"] == pytest.approx(SLOPES[model], abs=0.1)
    assert row["slope_low"] <= SLOPES[model] <= row["slope_high"]
    assert row["planted_slope"] == SLOPES[model]


def test_a_model_that_says_the_same_of_everybody_does_not_move_at_all(large):
    row = overall(large, "blind")
    assert (row["slope"], row["slope_low"], row["slope_high"], row["exaggeration"], row["skill"]) == (0, 0, 0, 0, 0)
    assert np.isnan(row["direction"])
    assert row["p_value"] == 1


def test_p_values_tell_who_follows_people_and_are_corrected_over_models(large):
    factors = large["factors"]
    assert overall(large, "aware")["p_value"] == pytest.approx(1 / 96)
    assert overall(large, "contrary")["p_value"] > 0.5
    tested = factors["p_value"].notna()
    assert set(factors[~tested]["factor"]) == {"settlement", "education"}
    assert (factors.loc[tested, "p_corrected"] >= factors.loc[tested, "p_value"]).all()
    n_models = (tested & (factors["factor"] == "all")).sum()
    assert overall(large, "aware")["p_corrected"] == pytest.approx(min(1, n_models / 96))


def test_every_table_is_declared_and_can_be_written(large):
    for name, frame in large.items():
        declared = table_of_asset("worldvaluesbench", "awareness", name)
        declared.checked(pa.Table.from_pandas(frame, preserve_index=False), "here")


def test_components_of_categories_and_questions_make_up_the_whole():
    probe = made_probe(20, slopes={"m": 0.5})
    moved = derive_moves(probe, scopes_of(probe.groups), Resampling(probe, 0, 0), 5)["m"][0]
    total = overall(derive_awareness(probe, 0, seed=0), "m")
    assert moved.components.sum(axis=0) == pytest.approx([total["a_hh"], total["a_mh"], total["a_mm"]])


def test_a_factor_is_compared_over_combinations_that_all_its_levels_have():
    probe = made_probe(12, slopes={"m": 0.5}, groups=made_groups(lacking=1))
    factors = derive_awareness(probe, 0, seed=0)["factors"].set_index("factor")
    by_hand = 0.0
    names = ("Africa", "Asia", "Europe", "Oceania")
    for item in probe.questions:  # Oceania, rural, high is no group: no continent is compared in that column
        steps = (item.answers[:, None] <= np.arange(1, len(item.question.values))).astype(float)
        means = group_means(steps, steps, item.weights, item.groups, len(probe.groups.levels))
        use = [
            [g for g, levels in enumerate(probe.groups.levels) if levels[0] == name and levels[1:] != ("rural", "high")]
            for name in names
        ]
        a = np.array([means.a[each].mean(axis=0) for each in use])
        noise = np.array([means.noise_aa[each].sum() / len(each) ** 2 for each in use])
        by_hand += between(a, a, noise).item() / steps.shape[1]
    assert factors.loc["continent", "a_hh"] == pytest.approx(by_hand)
    assert factors.loc["continent", "n_arrangements"] == 24
    assert factors.loc["all", "n_levels"] == 15


@pytest.mark.slow
def test_five_people_a_group_find_a_slope_of_one_where_plain_squares_find_less_than_half():
    sums, plain = np.zeros(3), np.zeros(2)
    for seed in range(60):
        probe = made_probe(5, seed=seed, slopes={"perfect": 1.0})
        row = overall(derive_awareness(probe, 0, seed=0), "perfect")
        sums += [row["a_hh"], row["a_mh"], row["a_mm"]]
        for item in probe.questions:
            k = len(item.question.values)
            steps = (item.answers[:, None] <= np.arange(1, k)).astype(float)
            model = np.cumsum(item.with_attributes["perfect"].probs, axis=1)[:, :-1]
            means = group_means(steps, model, item.weights, item.groups, 16)
            none = 0 * means.noise_aa
            plain += [between(means.a, means.a, none) / (k - 1), between(means.a, means.b, none) / (k - 1)]
    assert sums[1] / sums[0] == pytest.approx(1, abs=0.05)
    assert plain[1] / plain[0] < 0.5


@pytest.mark.parametrize("same_people", [True, False])
def test_ratings_shuffled_over_people_have_an_interval_that_holds_nothing_at_all(same_people):
    probe = made_probe(20, slopes={"m": 1.0}, same_people=same_people)
    random = np.random.default_rng(3)
    questions = []
    for item in probe.questions:
        probs = item.with_attributes["m"].probs
        k = probs.shape[1]
        rated = random.permutation((random.random(len(probs))[:, None] > np.cumsum(probs, axis=1)).sum(axis=1))
        by_shuffling = Rated(np.eye(k)[np.minimum(rated, k - 1)], rated + 1.0, 0, 0)
        questions.append(replace(item, with_attributes={"m": by_shuffling}))
    row = overall(derive_awareness(Probe(probe.groups, questions), 199, seed=0), "m")
    assert row["slope_low"] <= 0 <= row["slope_high"]
    assert row["p_value"] > 0.05


def test_rows_are_drawn_where_people_differ_by_question_and_people_where_they_do_not():
    assert Resampling(made_probe(5), 0, 0).is_of_people
    assert not Resampling(made_probe(5, same_people=False), 0, 0).is_of_people


def test_the_same_seed_gives_the_same_intervals():
    probe = made_probe(8, slopes={"m": 0.5})
    one, again, other = (derive_awareness(probe, 50, seed=seed)["questions"] for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, again)
    assert not one.equals(other)


def test_a_group_needs_people_who_answered_and_a_lost_rating_does_not_cost_the_group():
    probe = made_probe(5, slopes={"m": 0.5}, n_questions=1)
    item = probe.questions[0]
    item.answers[0] = np.nan  # four answered in the first group
    probs = item.with_attributes["m"].probs.copy()
    probs[5:7] = np.nan  # five in the second, three of them rated
    item = replace(item, with_attributes={"m": Rated(probs, None, 2, 0)})
    moved = derive_moves(Probe(probe.groups, [item]), scopes_of(probe.groups)[:1], Resampling(probe, 0, 0), 5)["m"][0]
    assert np.flatnonzero(moved.lengths[0].any(axis=1)).tolist() == list(range(1, 16))


def test_a_model_that_goes_against_people_is_told_from_one_that_goes_with_them_by_p_values_of_their_own(large):
    assert overall(large, "aware")["p_value"] < 0.02 < 0.9 < overall(large, "aware")["p_opposite"]
    assert overall(large, "contrary")["p_opposite"] < 0.02 < 0.9 < overall(large, "contrary")["p_value"]
    corrected = large["factors"].dropna(subset=["p_opposite"])
    assert (corrected["p_opposite_corrected"] >= corrected["p_opposite"]).all()


def test_a_model_that_answers_as_the_pool_has_no_style_free_slope_where_groups_lack_questions():
    probe = made_probe(60, slopes={"blind": 0.0}, n_questions=8)
    lacking = np.random.default_rng(3).random((8, 16)) < 0.2
    for item, without in zip(probe.questions, lacking, strict=True):
        item.answers[without[item.groups]] = np.nan
    hh, mh, mm = style_free_components(probe, "blind")
    assert hh > 0
    assert abs(mh / hh) < 0.02
    assert mm / hh < 0.01


def test_one_group_alone_is_refused_in_a_line():
    with pytest.raises(MissingData, match="no question has two groups of 9 or more people"):
        derive_awareness(made_probe(5), 0, seed=0, min_group=9)


def test_a_group_that_always_answers_high_is_no_awareness_when_style_is_subtracted():
    random, n, probe = np.random.default_rng(0), 40, made_probe(40, slopes={"m": 1.0})
    level = random.normal(0, 0.8, 16)
    questions = []
    for number in range(8):
        at_most = 1 / (1 + np.exp(level[:, None] - np.linspace(-1, 1, 3) - 0.3 * number))
        shares = np.diff(np.pad(at_most, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))))
        group = np.repeat(np.arange(16), n)
        answers = (random.random(group.size)[:, None] > at_most[group]).sum(axis=1) + 1.0
        question = value_question(f"Q{number}", 4)
        models = {"m": Rated(shares[group], None, 0, 0)}
        questions.append(replace(probe.questions[0], question=question, answers=answers, with_attributes=models))
    styled = Probe(probe.groups, questions)
    whole = overall(derive_awareness(styled, 0, seed=0), "m")
    free = style_free_components(styled, "m")
    assert whole["slope"] == pytest.approx(1, abs=0.1)
    assert free[0] < 0.1 * whole["a_hh"]


@pytest.mark.parametrize("same_people", [True, False])
@pytest.mark.slow
def test_style_free_components_are_unbiased_where_people_answer_several_questions(same_people):
    components, truth = [], None
    for seed in range(200):
        probe = made_probe(6, seed=seed, slopes={"m": 1.0}, n_questions=4, same_people=same_people)
        exact = []
        for item in probe.questions:
            shares = item.with_attributes["m"].probs[::6]
            exact.append(1 - np.cumsum(shares, axis=1)[:, :-1].mean(axis=1))
        free = np.array(exact) - np.mean(exact, axis=0)
        truth = np.sum((free - free.mean(axis=1, keepdims=True)) ** 2)
        components.append(np.array(style_free_components(probe, "m")) - truth)
    error = np.std(components, axis=0) / np.sqrt(200)
    assert (np.abs(np.mean(components, axis=0)) <= 3.5 * error + 1e-9).all()


def test_what_attributes_gain_by_hand():
    probe = two_groups([0, 0, 1, 1], [0, 0, 1, 1])
    item = probe.questions[0]
    even = Rated(np.full((4, 2), 0.5), None, 0, 0)
    item = replace(item, without={"m": even})
    # without: .25 for everybody; with: 0
    gained, low = prompt_gain(Probe(probe.groups, [item]), "m", min_group=2)
    assert gained == pytest.approx(0.25)
    assert low <= gained
    assert np.isnan(prompt_gain(probe, "m", min_group=2)).all()


@pytest.mark.slow
def test_ratings_that_follow_nobody_have_no_direction_and_those_that_do_have_one():
    directions = []
    for seed in range(12):
        probe, random = made_probe(8, seed=seed, slopes={"m": 1.0}, n_questions=4), np.random.default_rng(seed)
        questions = []
        for item in probe.questions:
            k = len(item.question.values)
            rated = random.integers(0, k, len(item.groups))
            blind = Rated(np.eye(k)[rated], rated + 1.0, 0, 0)
            questions.append(replace(item, with_attributes={"blind": blind} | item.with_attributes))
        tables = derive_awareness(Probe(probe.groups, questions), 99, seed=0)
        directions.append((overall(tables, "blind")["direction"], overall(tables, "m")["direction"]))
    blind, moving = np.array(directions).T
    assert np.isnan(blind).sum() >= 11
    assert np.isfinite(moving).all()


def test_a_further_wording_is_neither_corrected_nor_corrected_for():
    probe = made_probe(20, slopes={"m": 0.8, "m sentence": 0.7})
    alone, both = (derive_awareness(probe, 0, seed=0, uncorrected=each)["factors"] for each in (("m sentence",), ()))
    is_further = alone["model"] == "m sentence"
    assert alone.loc[is_further, "p_corrected"].isna().all()
    assert overall({"factors": both}, "m")["p_corrected"] == pytest.approx(2 / 96)
    assert overall({"factors": alone}, "m")["p_corrected"] == pytest.approx(1 / 96)
