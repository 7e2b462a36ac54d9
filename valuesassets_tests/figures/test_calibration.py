import numpy as np
import pytest

from valuesassets.figures.calibration import draw_calibration
from valuesassets_tests.figures.made_up import LANGUAGES, comparison_frame, sampled_columns
from valuesassets_tests.figures.pictures import artist, legend_labels, outside, overlapping, places, words


@pytest.fixture(scope="module")
def comparison():
    return comparison_frame()


def one_cell(frame):
    return frame[(frame.model == "reference-mono") & (frame.language == "deu")]


def marks(figure, gid):
    """x of the marks of a name, from the top row down."""
    return [x for x, _ in sorted(places(figure, gid).tolist(), key=lambda place: place[1])]


def test_planted_stands_against_recovered_and_the_unread_are_counted(comparison):
    figure = draw_calibration(comparison)
    for name in ("p_valid", "position_bias"):
        np.testing.assert_allclose(
            places(figure, f"{name} scored"), comparison[[f"planted_{name}", f"recovered_{name}"]].to_numpy()
        )
    assert "432 readings in 12 cells, of which 1 could not be read" in words(figure)


def test_each_response_type_shows_mean_and_95th_percentile_of_each_error(comparison):
    figure = draw_calibration(comparison)
    kinds = ["action", "binary", "categorical", "frequency", "likert3", "likert4", "likert5", "likert10"]
    for error in ("w1_unit_error", "p_valid_error", "position_bias_error"):
        parts = [comparison, *(comparison[comparison.response_type == kind] for kind in kinds)]
        assert marks(figure, f"{error} mean") == pytest.approx([part[error].mean() for part in parts])
        assert marks(figure, f"{error} p95") == pytest.approx([part[error].quantile(0.95) for part in parts])
    labels = [label.get_text() for label in figure.axes[2].get_yticklabels()]
    assert labels[0] == "all (432)"
    assert labels[1].startswith("action (")


def test_each_cell_shows_its_mean_against_the_bound(comparison):
    figure = draw_calibration(comparison, max_w1_unit=0.017)
    line = artist(figure, "w1_unit cells reference-mono")
    means = comparison[comparison.model == "reference-mono"].groupby("language").w1_unit_error.mean()
    np.testing.assert_allclose(line.get_xdata(), means.sort_index())
    bounds = [one for one in line.axes.lines if one.get_linestyle() == "--"]
    assert bounds[0].get_xdata()[0] == 0.017


def test_a_single_cell_shows_each_reading_and_its_name(comparison):
    cell = one_cell(comparison)
    figure = draw_calibration(cell)
    binary = cell[cell.response_type == "binary"]
    np.testing.assert_allclose(places(figure, "w1_unit readings binary")[:, 0], binary.w1_unit_error)
    assert "reference-mono in deu" in words(figure)
    assert not figure.findobj(lambda one: "by cell" in str(one.get_gid()))


def test_the_sampled_channel_is_drawn_hollow_with_its_own_bound(comparison):
    sampled = sampled_columns(one_cell(comparison))
    figure = draw_calibration(sampled, max_p_valid_error=0.02)
    line = artist(figure, "p_valid sampled")
    assert line.get_markerfacecolor() == "none"
    np.testing.assert_allclose(
        places(figure, "p_valid sampled"), sampled[["planted_p_valid", "sampled_p_valid"]].to_numpy()
    )
    assert marks(figure, "sampled_p_valid_error mean")[0] == pytest.approx(sampled.sampled_p_valid_error.mean())
    bounds = figure.findobj(lambda one: one.get_gid() == "p_valid sampled bound")
    assert bounds[0].get_segments()[0][0, 0] == pytest.approx(0.02 + 0.024 + 3 * 0.01 / np.sqrt(len(sampled)))
    assert "sampled, parsed" in legend_labels(figure)


def test_without_sampled_answers_nothing_is_said_of_them(comparison):
    cell = one_cell(comparison)
    nulls = sampled_columns(cell)
    added = [name for name in nulls if name not in cell]
    for frame in (cell, nulls.assign(**dict.fromkeys(added, np.nan))):
        figure = draw_calibration(frame)
        assert "ampled" not in words(figure)
        assert not figure.findobj(lambda one: "sampled" in str(one.get_gid()))


@pytest.mark.parametrize("languages", [["eng"], LANGUAGES])
@pytest.mark.slow
def test_nothing_collides_and_planted_is_said(languages):
    figure = draw_calibration(sampled_columns(comparison_frame(languages=languages)))
    assert outside(figure) == []
    assert "planted" in words(figure)
    for axes in figure.axes:
        assert overlapping(axes.get_yticklabels()) == []
        assert overlapping(axes.get_xticklabels()) == []
    titles = [axes.title for axes in figure.axes]
    assert overlapping(titles) == []


def test_errors_far_beyond_the_bounds_stay_in_the_picture(comparison):
    wrong = comparison.assign(w1_unit_error=comparison.w1_unit_error + 0.3)
    figure = draw_calibration(wrong)
    axes = figure.findobj(lambda one: one.get_gid() == "w1_unit_error mean")[0].axes
    assert axes.get_xlim()[1] > wrong.w1_unit_error.quantile(0.95)
