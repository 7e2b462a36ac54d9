"""Figures of models that are told a person's background: each shows what its tables hold, whatever is missing."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.answer_distributions import draw_answer_distributions
from valuesassets.figures.awareness_plane import draw_awareness_plane
from valuesassets.figures.backgrounds import looks_beside, short, shown_models
from valuesassets.figures.group_moves import draw_group_moves
from valuesassets.figures.noise_floor import draw_noise_floor
from valuesassets.figures.one_question import draw_one_question
from valuesassets.figures.question_distances import draw_question_distances
from valuesassets.figures.readouts import draw_readouts
from valuesassets.figures.threshold_curves import draw_threshold_curves
from valuesassets_tests.figures.made_up_benchmark import (
    PROMPT,
    SCALE,
    SIX,
    made,
    published,
    published_shares,
    some_people,
)
from valuesassets_tests.figures.pictures import artist, legend_labels, outside, overlapping, places, words

LONG = {f"an-organisation-with-a-name/a-model-of-it-{n}B-Instruct-v{n}.1": n / 10 for n in range(8)}


def every_figure(models, planted=True) -> dict[str, Figure]:
    frames = made(models)
    awareness = frames["awareness"]
    return {
        "threshold_curves": draw_threshold_curves(frames["threshold_shares"], published_shares(), planted=planted),
        "own_curves": draw_threshold_curves(frames["threshold_shares"], planted=planted),
        "question_distances": draw_question_distances(frames["benchmark_scores"], published(), planted=planted),
        "answer_distributions": draw_answer_distributions(frames["answers"], ["Q1", "Q106"], planted=planted),
        "awareness_plane": draw_awareness_plane(awareness, planted=planted),
        "group_moves": draw_group_moves(frames["group_means"], awareness, planted=planted),
        "one_question_moves": draw_group_moves(frames["group_means"], question="Q1", planted=planted),
        "noise_floor": draw_noise_floor(frames["group_distances"], frames["benchmark_scores"], planted=planted),
        "readouts": draw_readouts(frames["readout_comparison"], planted=planted),
        "one_question": draw_one_question("Q1", SCALE, PROMPT, some_people(tuple(models)), planted=planted),
    }


def firsts(n):
    return dict(list(SIX.items())[:n])


@pytest.mark.parametrize("models", [firsts(1), SIX, LONG], ids=["one", "six", "long"])
@pytest.mark.slow
def test_no_text_leaves_the_page_or_lies_over_another(models):
    for name, figure in every_figure(models).items():
        assert outside(figure) == [], name
        for axes in figure.axes:
            assert overlapping(axes.get_xticklabels()) == [], name
            assert overlapping(axes.get_yticklabels()) == [], name
            assert overlapping([text for text in axes.texts if text.get_gid() in ("model", "reference")]) == [], name


@pytest.mark.slow
def test_planted_stands_where_it_must_and_nowhere_else():
    for name, figure in every_figure(firsts(1), planted=True).items():
        assert style.PLANTED in words(figure), name
    for name, figure in every_figure(firsts(1), planted=False).items():
        assert "Planted:" not in words(figure), name


def test_a_curve_goes_through_the_shares_of_its_table():
    shares = made(firsts(2))["threshold_shares"]
    figure = draw_threshold_curves(shares, subsets=["all"])
    for asked, ls in (("with", "-"), ("without", "--")):
        expected = shares[(shares.model == "blind") & (shares.attributes == asked) & (shares.subset == "all")]
        assert np.allclose(places(figure, f"blind {asked}"), expected[["threshold", "share"]])
        assert artist(figure, f"blind {asked}").get_linestyle() == ls
    assert {"uniform", "majority", "perfect model, 95% of draws"} <= set(legend_labels(figure))
    assert all(axes.get_ylim()[0] <= 0 and axes.get_ylim()[1] >= 1 for axes in figure.axes), "a share is not shown"


def test_a_question_has_its_dot_at_its_distance_filled_with_attributes_and_hollow_without():
    scores = made(firsts(1))["benchmark_scores"]
    figure = draw_question_distances(scores)
    with_, without = (artist(figure, f"aware {asked}") for asked in ("with", "without"))
    expected = scores[scores.attributes == "with"].set_index("question_id")["w1_seed"]
    names = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert dict(zip(names, with_.get_xdata(), strict=True)) == pytest.approx(dict(expected))
    assert with_.get_markerfacecolor() == with_.get_color()
    assert without.get_markerfacecolor() == "white"


@pytest.mark.slow
def test_more_questions_than_fit_are_counted_in_a_note():
    questions = {f"Q{number}": 4 for number in range(1, 80)}
    figure = draw_question_distances(made(firsts(1), questions)["benchmark_scores"])
    assert "19 more questions are in the table." in words(figure)


@pytest.mark.slow
def test_a_model_stands_at_its_direction_and_exaggeration_and_one_that_is_still_hollow_at_the_foot():
    awareness = made(SIX)["awareness"]
    figure = draw_awareness_plane(awareness)
    row = awareness[(awareness.model == "caricature") & (awareness.factor == "all")].iloc[0]
    assert places(figure, "point caricature")[0] == pytest.approx([row.direction, row.exaggeration])
    assert places(figure, "point blind").tolist() == [[0, 0]]
    assert artist(figure, "point blind").get_markerfacecolor() == "white"
    assert "differs too little between groups for a direction (blind)" in words(figure)
    assert places(figure, "slope contrary")[:, 0] == pytest.approx(awareness[awareness.model == "contrary"]["slope"])


@pytest.mark.slow
def test_intervals_of_direction_and_exaggeration_are_drawn_where_they_are_known():
    awareness = made(firsts(1))["awareness"]
    lines = len(draw_awareness_plane(awareness).axes[0].lines)
    known = awareness.assign(direction_low=0.5, direction_high=1.0, exaggeration_low=0.6, exaggeration_high=1.1)
    assert len(draw_awareness_plane(known).axes[0].lines) == lines + 2


def test_moves_are_means_of_groups_less_the_mean_of_all_groups():
    means = made(firsts(1), {"Q1": 4})["group_means"]
    figure = draw_group_moves(means, factor="settlement")
    urban = means[means.settlement == "urban"]
    expected = np.column_stack([
        urban.human_mean_unit - means.human_mean_unit.mean(), urban.model_mean_unit - means.model_mean_unit.mean()
    ])  # fmt: skip
    assert np.allclose(places(figure, "moves urban"), expected)


def test_the_floor_falls_with_the_square_root_of_the_number_of_people():
    figure = draw_noise_floor(made(firsts(1))["group_distances"])
    n, floor = places(figure, "floor").T
    assert np.ptp(floor * np.sqrt(n)) == pytest.approx(0, abs=1e-12)
    assert "a perfect model is below 0.1 from" in words(figure)


def test_people_stand_at_their_answers_and_long_scales_name_their_ends_alone():
    people = some_people(("aware",))
    scale = {code: f"label {code}" for code in range(1, 11)}
    figure = draw_one_question("Q1", scale, PROMPT, people)
    assert places(figure, "answers")[:, 0].tolist() == people["answer"].tolist()
    assert "label 1" in words(figure)
    assert "label 5" not in words(figure)


@pytest.mark.slow
def test_nothing_fails_where_all_is_missing():
    frames = made(firsts(2))
    awareness = frames["awareness"].assign(slope=np.nan, slope_low=np.nan, slope_high=np.nan, direction=np.nan)
    figures = [
        draw_awareness_plane(awareness.assign(exaggeration=np.nan)),
        draw_question_distances(frames["benchmark_scores"].assign(w1_seed=np.nan, w1_floor_unit=np.nan)),
        draw_noise_floor(frames["group_distances"].assign(w1_floor_unit=np.nan)),
        draw_readouts(frames["readout_comparison"].assign(w1_unit=np.nan, w1_seed=np.nan, slope=np.nan)),
        draw_group_moves(frames["group_means"].assign(model_mean_unit=np.nan)),
        draw_answer_distributions(frames["answers"][frames["answers"].model == "people"]),
        draw_threshold_curves(frames["threshold_shares"].query("subset == 'all'"), subsets=["all", "rural"]),
    ]
    for figure in figures:
        assert outside(figure) == []


def test_readouts_are_of_one_prompt_but_for_those_of_the_paper():
    table = made(firsts(2))["readout_comparison"]
    assert "All readouts of one and the same prompt." in words(draw_readouts(table))
    own = table[table.readout == "sampled"].assign(readout="figure 9", slope=np.nan, w1_expected_unit=np.nan)
    figure = draw_readouts(pd.concat([table, own]))
    assert "All readouts of one and the same prompt, but for the paper's own (figure 5 to 10)." in words(figure)
    assert "figure 9" in legend_labels(figure)
    assert outside(figure) == []


def test_models_beside_ours_look_as_none_of_ours_does_where_there_are_looks_enough():
    ours = shown_models(pd.DataFrame({"model": ["a", "b"]}))
    theirs = looks_beside(ours, pd.DataFrame({"model": ["b", "c", "d"]}))
    assert theirs.looks["b"] == ours.looks["b"]
    assert not {theirs.looks["c"], theirs.looks["d"]} & set(ours.looks.values())


def test_more_models_than_can_be_told_apart_are_counted():
    shown = shown_models(pd.DataFrame({"model": [f"m{number}" for number in range(11)]}))
    assert len(shown.looks) == style.MOST_SERIES
    assert shown.notes == ("3 more models are in the table.",)


@pytest.mark.parametrize("length", [5, 26, 27, 60])
def test_a_short_name_is_never_longer_than_asked(length):
    assert len(short("x" * length)) == min(length, 26)
