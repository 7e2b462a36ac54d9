"""The plain figures that give a first look at a table: each shows what it was given."""

import numpy as np
import pandas as pd
import pytest

from valuesassets.figures.overviews import (
    MOST_BARS,
    draw_bars,
    draw_matrix,
    draw_page_boxes,
    draw_spread,
    draw_status_grid,
)
from valuesassets_tests.figures.pictures import artist, legend_labels, mesh, outside, overlapping, words

LANGUAGES = ["bul", "ces", "dan", "deu", "ell", "eng", "est", "fin", "fra", "gle", "hrv"]


def table(n_columns=40):
    values = np.linspace(0, 1, len(LANGUAGES) * n_columns).reshape(len(LANGUAGES), n_columns)
    names = pd.Index([f"v{number}" for number in range(1, n_columns + 1)])
    return pd.DataFrame(values, index=pd.Index(LANGUAGES), columns=names)


def every_figure(planted=False):
    numbers = {f"model of {language}": 1000.0 * place for place, language in enumerate(LANGUAGES)}
    statuses = {f"v{number}": ("missing", "unfit", "aligned")[min(number % 9, 2)] for number in range(1, 200)}
    boxes = [
        (f"v{number}", 1 + number // 6, (50.0, 100.0 * (number % 6 + 1), 500.0, 100.0 * (number % 6 + 1) + 60))
        for number in range(100)
    ]
    return {
        "matrix": draw_matrix(table(), "Means", "mean, scale from 0 to 1", planted),
        "two": draw_matrix(table(200).round(), "Which has which", ("lacks it", "has it"), planted),
        "bars": draw_bars(numbers, "Sizes", "GiB", planted),
        "spread": draw_spread({"forward": [0.1, 0.5, 0.9], "reversed": [0.2]}, "P_valid", "P_valid", planted),
        "status_grid": draw_status_grid(statuses, "aligned", "What became of them"),
        "page_boxes": draw_page_boxes(boxes, 62, {"v3"}, "Where they are"),
    }


@pytest.mark.slow
def test_no_text_leaves_a_page_or_lies_over_another():
    for name, figure in every_figure(planted=True).items():
        assert outside(figure) == [], name
        for axes in figure.axes:
            assert overlapping(axes.get_xticklabels()) == [], name
            assert overlapping(axes.get_yticklabels()) == [], name


@pytest.mark.slow
def test_planted_stands_where_it_must_and_nowhere_else():
    for name in ("matrix", "two", "bars", "spread"):
        assert "planted" in words(every_figure(planted=True)[name]), name
        assert "planted" not in words(every_figure(planted=False)[name]), name


def test_a_matrix_holds_its_table_and_hatches_what_is_null():
    given = table()
    given.iloc[2, 3] = np.nan
    figure = draw_matrix(given, "Means", "mean")
    assert np.allclose(mesh(figure), given.to_numpy(), equal_nan=True)
    assert legend_labels(figure) == ["none"]
    assert "none" not in legend_labels(draw_matrix(table(), "Means", "mean"))


def test_a_matrix_of_yes_and_no_names_both():
    figure = draw_matrix(table().round(), "Coverage", ("lacks it", "has it"))
    assert legend_labels(figure) == ["has it", "lacks it"]
    all_there = draw_matrix(table() * 0 + 1, "Coverage", ("lacks it", "has it"))
    colors = {draw.findobj(lambda one: hasattr(one, "get_clim"))[0].get_clim() for draw in (figure, all_there)}
    assert colors == {(0, 1)}


def test_bars_say_their_numbers_and_how_many_are_left_out():
    figure = draw_bars({f"n{number}": float(number) for number in range(MOST_BARS + 5)}, "Many", "things")
    bars = figure.axes[0].containers[0]
    assert [bar.get_width() for bar in bars] == [float(number) for number in range(MOST_BARS)]
    assert "5 more are not shown." in words(figure)


def test_a_spread_marks_every_number_at_its_place_and_counts_what_is_null():
    figure = draw_spread({"a": [0.25, 0.75, float("nan")], "b": [0.5]}, "Title", "label")
    first, median, second, _ = figure.axes[0].lines
    assert first.get_xdata().tolist() == [0.25, 0.75]
    assert median.get_xdata().tolist() == [0.5, 0.5]
    assert second.get_xdata().tolist() == [0.5]
    assert "1 could not be read" in words(figure)
    assert "a (3)" in words(figure)


def test_a_status_grid_counts_every_status_and_marks_what_is_not_good():
    figure = draw_status_grid({"v1": "aligned", "v2": "missing", "v3": "aligned"}, "aligned", "Title")
    assert legend_labels(figure) == ["aligned (2)", "missing (1)"]
    good, bad = (
        figure.findobj(lambda one, status=status: one.get_gid() == status) for status in ("aligned", "missing")
    )
    assert len(good) == 2
    assert len(bad) == 1
    assert bad[0].get_facecolor() != good[0].get_facecolor()


def test_page_boxes_lie_on_their_pages_and_the_doubtful_ones_stand_out():
    boxes = [("v1", 1, (50.0, 100.0, 500.0, 160.0)), ("v2", 2, (50.0, 100.0, 500.0, 160.0))]
    figure = draw_page_boxes(boxes, 3, {"v2"}, "Title")
    first, second = artist(figure, "v1"), artist(figure, "v2")
    assert (first.get_width(), first.get_height()) == (450.0, 60.0)
    assert second.get_x() - first.get_x() == pytest.approx(595 * 1.08)
    assert first.get_edgecolor() != second.get_edgecolor()
    assert legend_labels(figure) == ["found, sound (1)", "found, in doubt (1)"]
