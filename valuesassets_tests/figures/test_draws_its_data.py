"""What each figure shows is what its frame holds."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import QuadMesh

from valuesassets.figures.cell_distances import (
    _span_of_colours,
    draw_distance_structure,
    draw_jsd_heatmap,
    draw_mds_map,
    draw_nearest_neighbours,
)
from valuesassets.figures.example_distributions import choose_examples, draw_example_distributions
from valuesassets.figures.mono_vs_multi import draw_mono_vs_multi
from valuesassets.figures.own_country_ranks import draw_own_country_ranks
from valuesassets.figures.p_valid_heatmap import draw_p_valid_by_language, draw_p_valid_heatmap
from valuesassets.figures.position_bias import draw_order_effect, draw_position_bias_dist
from valuesassets.figures.probe_cell import draw_probe_cell
from valuesassets_tests.figures.made_up import LANGUAGES, human_frame, probe_frame
from valuesassets_tests.figures.made_up_analyses import (
    mds_frame,
    mono_multi_frames,
    neighbours_frame,
    order_frame,
    own_country_frames,
    pairs_frame,
    structure_frames,
)
from valuesassets_tests.figures.pictures import legend_labels, mesh, outside, overlapping, places, words

BIG = {"hplt2c": "mono", "eurollm-22b": "multi"}


@pytest.fixture(scope="module")
def probe():
    return probe_frame()


def one_cell(probe):
    return probe[(probe.model == "reference-mono") & (probe.language == "ell")]


def every_figure(planted, languages=None, families=None, n_questions=30):
    probe = probe_frame(languages, families, n_questions)
    return {
        "p_valid_heatmap": draw_p_valid_heatmap(probe, dropped=["v3"], planted=planted),
        "p_valid_by_language": draw_p_valid_by_language(probe, planted=planted),
        "position_bias_dist": draw_position_bias_dist(probe, planted=planted),
        "jsd_heatmap": draw_jsd_heatmap(pairs_frame(languages, families), planted),
        "mds_map": draw_mds_map(mds_frame(languages, families), planted),
        "mono_vs_multi": draw_mono_vs_multi(*mono_multi_frames(languages, families), planted=planted),
        "example_distributions": draw_example_distributions(
            probe, human_frame(languages, source="planted" if planted else "EVS 2017"), planted=planted
        ),
        "own_country_ranks": draw_own_country_ranks(*own_country_frames(languages, families), planted),
        "distance_structure": draw_distance_structure(*structure_frames(families), planted),
        "nearest_neighbours": draw_nearest_neighbours(neighbours_frame(languages, families), planted),
        "order_effect": draw_order_effect(order_frame(families), planted),
        "probe_cell": draw_probe_cell(probe[probe.language == "ell"].head(200), planted=planted),
    }


@pytest.mark.parametrize(("languages", "families", "n_questions"), [(None, None, 30), (LANGUAGES, BIG, 110)])
@pytest.mark.slow
def test_no_text_leaves_the_page_and_planted_stands_where_it_must(languages, families, n_questions):
    for name, figure in every_figure(True, languages, families, n_questions).items():
        assert "planted" in words(figure), name
        assert outside(figure) == [], name
        for axes in figure.axes:
            assert overlapping(axes.get_xticklabels()) == [], name
            assert overlapping(axes.get_yticklabels()) == [], name


@pytest.mark.slow
def test_planted_stands_nowhere_else():
    for name, figure in every_figure(False).items():
        assert "planted" not in words(figure).lower(), name


def test_p_valid_heatmap_holds_the_p_valid_of_each_question(probe):
    values = mesh(draw_p_valid_heatmap(probe))
    asked = probe[(probe.model == "reference-multi") & (probe.language == "pol") & (probe.question_id == "v10")]
    assert values.shape == (12, 30)
    assert values[11, 9] == pytest.approx(asked.p_valid.iloc[0])
    assert (
        np.isnan(values).sum() == probe[probe.status != "ok"].groupby(["model", "language"]).question_id.nunique().sum()
    )


def test_p_valid_heatmap_crosses_out_what_is_unreliable_and_points_at_what_is_dropped(probe):
    figure = draw_p_valid_heatmap(probe, 0.3, dropped=["v3"])
    values = mesh(figure)
    marked = {(int(row), int(column)) for column, row in places(figure, "unreliable")}
    assert marked == {(int(r), int(c)) for r, c in zip(*np.nonzero(values < 0.3), strict=True)}
    assert places(figure, "dropped")[:, 0].tolist() == [2.5]
    assert {"unreliable: below 0.30", "could not be read", "question dropped"} == set(legend_labels(figure))


def test_p_valid_by_language_holds_medians_and_frames_flagged_cells(probe):
    figure = draw_p_valid_by_language(probe, p_valid_cell=0.6)
    values = mesh(figure)
    asked = probe.drop_duplicates(["model", "language", "question_id"])
    median = asked[(asked.model == "reference-mono") & (asked.language == "bul")].p_valid.median()
    assert values[0, 0] == pytest.approx(median)
    frames = figure.findobj(lambda one: one.get_gid() == "flagged")
    assert len(frames) == (values < 0.6).sum()


def test_a_cell_that_is_not_there_is_not_a_number(probe):
    partial = probe[~((probe.model == "reference-multi") & (probe.language == "bul"))]
    values = mesh(draw_p_valid_by_language(partial))
    assert np.isnan(values[1, 0])
    assert np.isnan(values).sum() == 1


def test_position_bias_medians_and_counts_are_those_of_the_readings(probe):
    figure = draw_position_bias_dist(probe, position_bias=0.2)
    axes = figure.axes[0]
    readings = probe.drop_duplicates(["model", "language", "question_id"]).dropna(subset=["position_bias_magnitude"])
    first = readings[(readings.model == "reference-mono") & (readings.response_type == "action")]
    medians = [line.get_xdata()[0] for line in axes.lines if line.get_linewidth() == 1.8]
    assert medians[0] == pytest.approx(first.position_bias_magnitude.median())
    assert [label.get_text() for label in axes.get_yticklabels()][:2] == ["action", "binary"]
    assert f" {len(first)} " in f" {words(figure)} "
    assert "threshold 0.20" in legend_labels(figure)


def test_jsd_heatmap_is_the_matrix_with_zeros_on_its_diagonal():
    pairs = pairs_frame()
    values = mesh(draw_jsd_heatmap(pairs))
    np.testing.assert_allclose(values.ravel(), pairs.jsd_distance)
    np.testing.assert_allclose(np.diag(values), 0)


def test_jsd_heatmap_leaves_pairs_without_common_items_empty():
    pairs = pairs_frame()
    pairs.loc[1, "jsd_distance"] = np.nan
    figure = draw_jsd_heatmap(pairs)
    assert np.isnan(mesh(figure)).sum() == 1
    assert "no common items" in legend_labels(figure)


def test_jsd_heatmap_takes_its_colours_from_the_distances_between_cells():
    pairs = pairs_frame()
    apart = pairs.jsd_distance[pairs.jsd_distance > 0]
    (drawn,) = draw_jsd_heatmap(pairs).findobj(QuadMesh)[:1]
    assert drawn.get_clim() == pytest.approx((apart.min(), apart.max()))


def test_jsd_heatmap_puts_the_cells_of_a_family_together():
    pairs = pairs_frame()
    languages_first = pairs.sort_values(["language_a", "model_a", "language_b", "model_b"])
    figure = draw_jsd_heatmap(languages_first)
    assert len(figure.findobj(lambda one: one.get_gid() == "family")) == 2


def test_a_plane_that_holds_the_distances_badly_says_so():
    assert "badly" not in words(draw_mds_map(mds_frame()))
    assert "holds these distances badly" in words(draw_mds_map(mds_frame().assign(stress=0.34)))


def test_own_country_ranks_show_advantages_nulls_and_ranks():
    cells, families = own_country_frames()
    figure = draw_own_country_ranks(cells, families)
    mono = cells[cells.model == "reference-mono"]
    assert places(figure, "reference-mono")[:, 0].tolist() == mono.own_country_advantage.tolist()
    flat = cells[cells.model == "uniform answers"]
    shown = places(figure, "reference-multi uniform answers")
    assert shown[:, 0].tolist() == flat.own_country_advantage.tolist()
    assert f"{mono.own_country_rank.iloc[0]:.0f}/6" in words(figure)
    assert "reference-mono: mean rank 2.2, by chance 3.5." in words(figure)


def test_a_language_that_a_family_lacks_keeps_its_row_empty():
    cells, _ = own_country_frames()
    fewer = cells[~((cells.model == "reference-multi") & (cells.language == "fra"))]
    shown = places(draw_own_country_ranks(fewer), "reference-multi")
    assert np.isnan(shown[:, 0]).tolist() == [language == "fra" for language in cells.language.unique()]


def test_distance_structure_shows_differences_shares_and_what_chance_gives():
    groups, shares = structure_frames()
    figure = draw_distance_structure(groups, shares)
    assert places(figure, "groups")[:, 0].tolist() == groups.difference.tolist()
    assert places(figure, "shares")[:, 0].tolist() == shares.r2.tolist()
    assert places(figure, "by chance")[:, 0].tolist() == shares.r2_by_chance.tolist()
    assert words(figure).count("p < .001") == len(groups)
    no_groups, no_shares = groups.assign(difference=np.nan), shares.assign(r2=np.nan)
    assert draw_distance_structure(no_groups, no_shares) is None
    for only in (draw_distance_structure(groups, no_shares), draw_distance_structure(no_groups, shares)):
        assert len(only.axes) == 1  # no empty half


def test_neighbours_are_counted_out_over_all_languages():
    counts = neighbours_frame()
    figure = draw_nearest_neighbours(counts)
    bars = {}
    for name in ("other family, same language", "own family, another language", "other family, another language"):
        bars[name] = [bar.get_width() for bar in figure.findobj(lambda one, name=name: one.get_gid() == name)]
    assert bars["other family, same language"] == counts.n_same_language.tolist()
    assert np.sum(list(bars.values()), axis=0).tolist() == counts.n_languages.tolist()
    assert "1.6 (3.5)" in words(figure)


def test_neighbours_of_families_without_a_language_in_common_are_no_picture():
    assert draw_nearest_neighbours(neighbours_frame().assign(n_same_language=np.nan)) is None


@pytest.mark.parametrize("factor", [1, 60, 1e9])
def test_marks_of_the_order_effect_stand_whole_inside(factor):
    frame = order_frame()
    figure = draw_order_effect(frame.assign(order_to_language=frame["order_to_language"] * factor))
    low, high = np.log(figure.axes[0].get_xlim())
    spread = np.log(next(line.get_xdata() for line in figure.axes[0].lines if line.get_gid() == "reference-mono"))
    shown = spread[np.isfinite(spread)]
    margin = 0.01 * (high - low)
    assert shown.min() > low + margin
    assert shown.max() < high - margin


def test_distances_that_are_nearly_alike_do_not_span_all_colours():
    apart = np.array([[0, 0.03], [0.05, 0]])
    assert _span_of_colours(apart) == pytest.approx((0, 0.2))
    assert _span_of_colours(apart + 0.5) == pytest.approx((0.35, 0.55))
    assert _span_of_colours(np.array([[0, 0.1], [0.6, 0]])) == pytest.approx((0.1, 0.6))


def test_order_effect_shows_the_ratio_of_each_type_and_none_without_an_order():
    figure = draw_order_effect(order_frame())
    assert places(figure, "reference-mono")[:, 0].tolist() == [1.1, 0.7, 2.0]
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["all together", "likert4", "likert10"]


def test_mds_map_shows_each_cell_and_its_stress():
    frame = mds_frame()
    figure = draw_mds_map(frame)
    mono = frame[frame.model == "reference-mono"]
    np.testing.assert_allclose(places(figure, "reference-mono"), mono[["x", "y"]])
    assert "stress 0.087" in words(figure)


def test_mono_vs_multi_pairs_families_per_language_in_order_of_their_difference():
    pairs, summary = mono_multi_frames()
    figure = draw_mono_vs_multi(pairs, summary, ["Size and training data differ."])
    ordered = pairs.assign(apart=pairs.agreement_mono - pairs.agreement_multi).sort_values("apart")
    assert places(figure, "agreement reference-mono")[:, 0].tolist() == ordered.agreement_mono.tolist()
    assert places(figure, "advantage reference-mono")[:, 0].tolist() == ordered.advantage_mono.tolist()
    assert places(figure, "entropy_bits reference-multi")[:, 0].tolist() == ordered.entropy_bits_multi.tolist()
    said = words(figure)
    assert "own country agreement, mono - multi: +0.012 [-0.004, +0.031] (95% interval over languages)" in said
    assert "sign test p = 0.219" in said
    assert "Size and training data differ." in said


def test_a_corrected_p_value_stands_beside_its_own_and_none_where_no_test_was_made():
    pairs, summary = mono_multi_frames()
    said = words(draw_mono_vs_multi(pairs, summary.assign(p_corrected=[0.438, np.nan, np.nan, np.nan])))
    assert "sign test p = 0.219 (= 0.438 corrected), 6 languages" in said
    untested = words(draw_mono_vs_multi(pairs, summary.assign(p_sign_test=np.nan)))
    assert "sign test" not in untested
    assert "interval over languages), 6 languages." in untested


def test_a_small_p_value_is_not_written_as_nothing():
    pairs, summary = mono_multi_frames()
    assert "sign test p < 0.001" in words(draw_mono_vs_multi(pairs, summary.assign(p_sign_test=1e-7)))


def test_rows_of_one_family_share_its_name_where_it_fits_beside_them(probe):
    def rows(figure):
        return [label.get_text() for label in figure.axes[0].get_yticklabels()]

    grouped = draw_p_valid_heatmap(probe)
    assert rows(grouped)[:2] == ["bul", "deu"]
    families = grouped.findobj(lambda one: one.get_gid() == "family")
    assert [name.get_text() for name in families] == ["reference-mono", "reference-multi"]
    assert overlapping(families) == []
    two = draw_p_valid_heatmap(probe[probe.language == "pol"])
    assert rows(two) == ["reference-mono pol", "reference-multi pol"]
    assert outside(two) == []


def test_mono_vs_multi_without_humans_says_what_is_not_available():
    pairs, _ = mono_multi_frames()
    unknown = [name for name in pairs if name.startswith(("agreement", "advantage", "distance"))] + ["difference"]
    figure = draw_mono_vs_multi(pairs.assign(**dict.fromkeys(unknown, np.nan)))
    assert words(figure).count("not available") == 3
    assert np.isfinite(places(figure, "entropy_bits reference-mono")[:, 0]).all()


def test_people_who_all_answer_alike_have_an_interval_of_no_width(probe):
    human = human_frame()
    of_question = (human["language"] == "pol") & (human["question_id"] == "v2")
    human.loc[of_question, "prob"] = np.nextafter(1, 2) * (human["response_value"] == 1)
    figure = draw_example_distributions(probe, human, [("reference-multi", "pol", "v2")])
    *_, intervals = figure.axes[0].containers
    low, high = intervals[2][0].get_segments()[0][:, 1]
    assert low == high == pytest.approx(1)


def test_examples_show_averaged_forward_reversed_and_human(probe):
    human = human_frame()
    example = ("reference-multi", "pol", "v2")
    figure = draw_example_distributions(probe, human, [example])
    axes = figure.axes[0]
    rows = probe[(probe.model == example[0]) & (probe.language == "pol") & (probe.question_id == "v2")]
    people = human[(human.language == "pol") & (human.question_id == "v2")]
    model, humans, intervals = axes.containers
    np.testing.assert_allclose([bar.get_height() for bar in model], rows.prob_averaged)
    np.testing.assert_allclose([bar.get_height() for bar in humans], people.prob)
    low, high = intervals[2][0].get_segments()[0][:, 1]
    first = people.prob.iloc[0]
    assert (high - low) / 2 == pytest.approx(1.96 * np.sqrt(first * (1 - first) / 1000), rel=1e-4)
    np.testing.assert_allclose(places(figure, "prob_forward")[:, 1], rows.prob_forward)
    np.testing.assert_allclose(places(figure, "prob_reversed")[:, 1], rows.prob_reversed)
    assert legend_labels(figure) == ["model, averaged", "model, forward", "model, reversed", "respondents (planted)"]


def test_examples_without_humans_promise_none(probe):
    assert not [label for label in legend_labels(draw_example_distributions(probe)) if "respondents" in label]


def test_chosen_examples_are_readable_different_and_of_every_type(probe):
    chosen = choose_examples(probe)
    readable = set(
        zip(*(probe.loc[probe.status == "ok", c] for c in ("model", "language", "question_id")), strict=True)
    )
    assert len(set(chosen)) == len(chosen) == 9
    assert set(chosen) <= readable
    kinds = probe.set_index(["model", "language", "question_id"]).response_type.sort_index()
    assert {kinds.loc[example].iloc[0] for example in chosen} == set(probe.response_type)


def test_one_cell_stacks_each_answer_to_one_and_hatches_the_unread(probe):
    cell = one_cell(probe).copy()
    read = ["prob_forward", "prob_reversed", "prob_averaged", "p_valid", "position_bias_magnitude"]
    cell.loc[cell.question_id == "v4", read] = np.nan
    figure = draw_probe_cell(cell)
    above, below = figure.axes
    heights = [bar.get_height() for bar in above.containers[0]]
    assert heights[0] == pytest.approx(cell[cell.question_id == "v1"].p_valid.iloc[0])
    answers, unread = below.containers
    tops = pd.Series(
        [bar.get_height() for bar in answers], index=[round(bar.get_x() + bar.get_width() / 2) for bar in answers]
    )
    np.testing.assert_allclose(tops.groupby(level=0).sum(), 1)
    assert [round(bar.get_x() + bar.get_width() / 2) for bar in unread] == [3]
    assert "could not be read" in legend_labels(figure)
