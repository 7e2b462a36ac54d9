"""Analyses of a study of which one family's answers are shares of draws."""

import functools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from valuesassets.comparing.answer_grid import answer_grid
from valuesassets.comparing.distances import derive_distances
from valuesassets.comparing.human_comparison import derive_human_comparison
from valuesassets.comparing.item_statistics import derive_item_statistics
from valuesassets.comparing.mono_vs_multi import derive_mono_vs_multi
from valuesassets.comparing.position_bias import derive_position_bias
from valuesassets.comparing.reliability import derive_reliability
from valuesassets.comparing.signal import derive_signal
from valuesassets.measure.distances import entropy_bits_of
from valuesassets.records.parquet import write_frame
from valuesassets.records.tables import TABLES, table_of_asset
from valuesassets_tests.comparing.drawn_rows import drawn_rows
from valuesassets_tests.comparing.planted_grid import answers, demo, human

DRAWN, EXACT = "reference-multi", "reference-mono"
PLUG_INS = ["w1_unit", "jsd_distance", "kl_bits", "jsd_bits_unbiased"]


def study(distance="cramer", resamples=199):
    inference = demo().inference.model_copy(update={"distance": distance, "resamples": resamples})
    return demo().model_copy(update={"inference": inference})


@functools.cache
def exact_grid():
    return answer_grid(answers(), human())


@functools.cache
def grid(n=40, seed=0):
    return answer_grid(drawn_rows(answers(), n, [DRAWN], seed), human())


@functools.cache
def tables():
    return {
        "human_comparison": derive_human_comparison(grid(), human(), study()),
        "distances": derive_distances(grid(), study()),
        "mono_vs_multi": derive_mono_vs_multi(grid(), study()),
        "signal": derive_signal(grid(), study()),
        "reliability": derive_reliability(grid(), study()),
        "position_bias": derive_position_bias(grid(), study()),
    }


def test_the_grid_knows_the_draws_of_drawn_cells_alone():
    is_drawn = grid().model_of == DRAWN
    draws = grid().draws
    is_there = np.isfinite(grid().answers).all(axis=-1)
    assert (grid().is_drawn == is_drawn[:, None] & is_there).all()
    assert (draws.n[grid().is_drawn] == 80).all()
    assert np.isinf(draws.n[~is_drawn]).all()
    assert (draws.cramer_noise[~is_drawn] == 0).all()
    assert (draws.cramer_noise[is_drawn] > 0).any(axis=1).all()
    assert exact_grid().draws is None
    assert not exact_grid().is_drawn.any()


@pytest.mark.slow
def test_noise_of_the_grid_is_what_drawing_does_on_average():
    scales, off, noise, of_means, expected = exact_grid().scales, [], [], [], []
    for seed in range(20):
        again = grid(20, seed)
        off.append(scales.cramer_unit2(again.answers, exact_grid().answers))
        noise.append(again.cramer_noise)
        of_means.append((scales.expected_unit(again.answers) - scales.expected_unit(exact_grid().answers)) ** 2)
        expected.append(again.draws.mean_noise)
    is_drawn, ordinal = grid().is_drawn, scales.is_ordinal
    assert np.mean(noise, axis=0)[is_drawn].mean() == pytest.approx(np.mean(off, axis=0)[is_drawn].mean(), rel=0.06)
    squares, variance = (np.mean(each, axis=0)[is_drawn & ordinal].mean() for each in (of_means, expected))
    assert variance == pytest.approx(squares, rel=0.06)


def test_two_wordings_halve_the_noise_of_their_mean():
    rows = drawn_rows(answers(), 40, [DRAWN])
    both = answer_grid(pd.concat([rows.assign(wording=0), rows.assign(wording=1)]), human())
    assert both.cramer_noise == pytest.approx(grid().cramer_noise / 2)
    assert both.draws.mean_noise == pytest.approx(grid().draws.mean_noise / 2)
    assert (both.draws.n == 2 * grid().draws.n).all()


@pytest.mark.parametrize(
    "asset", ["human_comparison", "distances", "mono_vs_multi", "signal", "reliability", "position_bias"]
)
def test_every_table_of_drawn_cells_can_be_written(asset, tmp_path):
    for name, frame in tables()[asset].items():
        write_frame(tmp_path / f"{name}.parquet", frame, table_of_asset("survey", asset, name))


def test_plug_in_distances_of_drawn_cells_are_empty_with_the_reason_and_others_are_as_they_were():
    compared = tables()["human_comparison"]
    before = derive_human_comparison(exact_grid(), human(), study("jsd"))
    for name in ("cells", "questions", "by_response_type"):
        now, then = compared[name], before[name]
        is_drawn = now["model"] == DRAWN
        assert now.loc[is_drawn, PLUG_INS].isna().all(axis=None)
        pd.testing.assert_frame_equal(now.loc[~is_drawn, PLUG_INS], then.loc[~is_drawn, PLUG_INS])
        assert now["cramer_unit2"].notna().all()
        assert "cramer_unit2" not in then
    assert any("are shares of draws: W1, JSD, KL" in note for note in compared["notes"]["note"])
    pairs = tables()["distances"]["pairs"].query("model_a != model_b or language_a != language_b")
    is_drawn = (pairs["model_a"] == DRAWN) | (pairs["model_b"] == DRAWN)
    assert pairs.loc[is_drawn, ["jsd_distance", "w1_unit"]].isna().all(axis=None)
    assert pairs.loc[~is_drawn, ["jsd_distance", "w1_unit"]].notna().all(axis=None)
    assert pairs[["cramer_unit2", "cramer_unit2_low", "cramer_unit2_high"]].notna().all(axis=None)
    assert any("are shares of draws" in note for note in tables()["distances"]["notes"]["note"])
    statistics = derive_item_statistics(grid())
    assert statistics.loc[statistics["model"] == DRAWN, "w1_unit_to_uniform"].isna().all()


def test_the_distance_of_a_question_by_hand():
    row = tables()["human_comparison"]["questions"].query("model == @DRAWN and question_id == 'v102'").iloc[0]
    cell, item = grid().cells.index((DRAWN, row["language"])), grid().items.index("v102")
    country = grid().countries.index(row["country"])
    p, q, unit = grid().answers[cell, item], grid().people[country, item], grid().scales.unit[item]
    below = np.cumsum(q)[:-1]
    of_people = np.diff(unit) @ (below * (1 - below)) / (grid().effective_n[country, item] - 1)
    apart = np.diff(unit) @ np.cumsum(p - q)[:-1] ** 2
    assert row["cramer_unit2"] == pytest.approx(apart - grid().cramer_noise[cell, item] - of_people)


@pytest.mark.slow
def test_advantages_of_drawn_answers_are_those_of_exact_ones_on_average():
    exact = derive_human_comparison(exact_grid(), human(), study())["own_country"].set_index("model")
    drawn = [derive_human_comparison(grid(10, seed), human(), study())["own_country"] for seed in range(6)]
    values = np.array([each.set_index("model").at[DRAWN, "own_country_advantage"] for each in drawn])
    wanted = exact.at[DRAWN, "own_country_advantage"]
    assert values.mean() == pytest.approx(wanted, abs=max(0.1 * wanted, 3 * values.std() / np.sqrt(6)))
    same = drawn[0].set_index("model").at[EXACT, "own_country_advantage"]
    assert same == pytest.approx(exact.at[EXACT, "own_country_advantage"])


@pytest.mark.slow
def test_an_exact_and_a_drawn_family_of_one_truth_are_not_found_apart():
    same = answers().query("model == @DRAWN")
    both = pd.concat([same.assign(model=EXACT), same])
    not_apart = []
    for seed in range(5):
        pairs = derive_distances(answer_grid(drawn_rows(both, 40, [DRAWN], seed), human()), study())["pairs"]
        rows = pairs.query("model_a == @EXACT and model_b == @DRAWN and language_a == language_b")
        not_apart += (rows["cramer_unit2_low"] <= 0).tolist()
        assert abs(rows["cramer_unit2"].mean()) < 0.5 * grid().cramer_noise[grid().model_of == DRAWN].mean()
    assert np.mean(not_apart) >= 0.95


@pytest.mark.slow
def test_correlations_are_not_shortened_by_draws_and_p_is_that_of_the_answers_as_drawn():
    def correlations(one):
        return derive_signal(one, study(resamples=19))["correlations"].query("model == @DRAWN").set_index("kind")

    exact = correlations(exact_grid())["r"]
    corrected, plain = [], []
    for seed in range(100, 110):
        now, then = correlations(grid(20, seed)), correlations(replace(grid(20, seed), draws=None))
        assert now["p"].tolist() == then["p"].tolist()
        corrected.append(now["r"])
        plain.append(then["r"])
    for kind in ("item-centred", "double-centred"):
        shortened, mended = (np.mean([each[kind] for each in rs]) for rs in (plain, corrected))
        assert shortened < exact[kind] - 0.1
        assert mended == pytest.approx(exact[kind], abs=0.04)


@pytest.mark.slow
def test_the_order_of_options_has_no_larger_effect_where_answers_are_drawn():
    def effects(one):
        return derive_position_bias(one, study())["by_response_type"].query("response_type == 'all'").set_index("model")

    exact, drawn = effects(exact_grid()), [effects(grid(20, seed)) for seed in range(5)]
    for name in ("order_sd_unit", "language_sd_unit"):
        now = np.sqrt(np.mean([each.at[DRAWN, name] ** 2 for each in drawn]))
        assert now == pytest.approx(exact.at[DRAWN, name], rel=0.15)
        assert drawn[0].at[EXACT, name] == exact.at[EXACT, name]
    assert drawn[0].at[DRAWN, "position_bias_magnitude"] > exact.at[DRAWN, "position_bias_magnitude"] + 0.02


@pytest.mark.slow
def test_entropies_of_drawn_answers_are_not_too_low():
    is_drawn = grid().is_drawn
    wanted = exact_grid().entropy_bits[is_drawn].mean()
    plain, mended = (
        np.mean([each(grid(20, seed))[is_drawn].mean() for seed in range(8)]) - wanted
        for each in (lambda one: entropy_bits_of(one.answers), lambda one: one.entropy_bits)
    )
    assert plain < -0.02
    assert abs(mended) < abs(plain) / 3


def test_leans_of_drawn_answers_are_finite_where_an_option_was_never_drawn():
    few = grid(10)
    assert (few.sides[:, :, few.model_of == DRAWN] == 0).any()
    leans = few.scales.lean(few.log_sides)[..., few.scales.is_ordinal]
    assert np.nanmax(np.abs(leans[:, :, few.model_of == DRAWN])) < 12
    exact = few.model_of == EXACT
    assert np.array_equal(few.log_sides[:, :, exact], few.sides[:, :, exact], equal_nan=True)


def test_a_study_of_read_probabilities_may_use_the_distance_of_draws_and_gets_it_everywhere():
    compared = derive_human_comparison(exact_grid(), human(), study())
    assert compared["cells"][[*PLUG_INS, "cramer_unit2"]].query("w1_unit == w1_unit").notna().any(axis=None)
    assert not any("shares of draws" in note for note in compared["notes"]["note"])
    measures = set(compared["resources"]["measure"])
    assert measures == {"cramer_unit2", "own_country_advantage"}
    for name in ("human_comparison/cells", "distances/pairs", "distances/baselines"):
        assert TABLES[name].where_used == {"cramer_unit2", "cramer_unit2_low", "cramer_unit2_high"}
