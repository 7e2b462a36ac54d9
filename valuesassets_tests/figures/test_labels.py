import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valuesassets.figures import style
from valuesassets.figures.labels import Name, write_names
from valuesassets_tests.figures.pictures import overlapping


def placed(points):
    figure = style.new_figure(height_in=5)
    axes = figure.add_subplot()
    axes.set(xlim=(0, 1), ylim=(0, 1))
    return figure, write_names(axes, [Name(x, y, f"n{number}") for number, (x, y) in enumerate(points)])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0.1, 0.9), st.floats(0.1, 0.9)), min_size=1, max_size=25))
@pytest.mark.slow
def test_names_never_overlap(points):
    assert overlapping(placed(points)[1]) == []


def test_names_of_points_in_one_place_are_joined_to_it_by_lines():
    figure, texts = placed([(0.5, 0.5)] * 12)
    assert overlapping(texts) == []
    leaders = figure.findobj(lambda one: one.get_gid() == "leader")
    assert leaders
    for leader in leaders:
        assert (leader.get_xdata()[0], leader.get_ydata()[0]) == pytest.approx((0.5, 0.5))


def test_a_lone_name_stands_right_of_its_point():
    figure, (text,) = placed([(0.5, 0.5)])
    x, y = figure.axes[0].transData.transform((0.5, 0.5))
    box = text.get_window_extent()
    assert box.x0 > x
    assert box.y0 < y < box.y1
