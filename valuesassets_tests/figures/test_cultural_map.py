import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Annotation

from valuesassets.figures.cultural_map import draw_cultural_map, point_gid
from valuesassets.figures.saving import svg_text
from valuesassets_tests.figures.made_up import LANGUAGES
from valuesassets_tests.figures.made_up_analyses import map_frame
from valuesassets_tests.figures.pictures import grey, legend_labels, outside, overlapping, places, words

BIG = {"hplt2c": "mono", "eurollm-22b": "multi"}


def names(figure):
    return [text for text in figure.findobj(Annotation) if text.get_text()]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.slow
def test_names_hide_neither_each_other_nor_a_point_with_twelve_cells(seed):
    assert_nothing_collides(map_frame(seed=seed))


@pytest.mark.slow
def test_names_hide_neither_each_other_nor_a_point_with_44_cells():
    assert_nothing_collides(map_frame(LANGUAGES, BIG, source="EVS 2017"))


@pytest.mark.slow
def test_names_hide_nothing_among_all_the_countries_of_the_world():
    frame = map_frame(LANGUAGES, BIG, source="EVS 2017")
    world = frame[frame.kind == "published"].sample(83, replace=True, random_state=0)
    rng = np.random.default_rng(0)
    world = world.assign(x=rng.uniform(-1.5, 3.5, len(world)), y=rng.uniform(-2, 2, len(world)))
    assert_nothing_collides(pd.DataFrame(pd.concat([frame, world], ignore_index=True)))


def assert_nothing_collides(frame):
    figure = draw_cultural_map(frame)
    figure.draw_without_rendering()
    texts = names(figure)
    assert sorted(text.get_text() for text in texts) == sorted(expected_names(figure, frame))
    assert overlapping(texts) == []
    points = figure.axes[0].transData.transform(frame[["x", "y"]].to_numpy(dtype=float))
    for text in texts:
        box = text.get_window_extent()
        covered = (points > [box.x0, box.y0]).all(axis=1) & (points < [box.x1, box.y1]).all(axis=1)
        assert not covered.any(), text.get_text()
    assert outside(figure) == []


def shown(figure, frame):
    """The points within the limits of the map."""
    axes = figure.axes[0]
    return frame[frame.x.between(*axes.get_xlim()) & frame.y.between(*axes.get_ylim())]


def expected_names(figure, frame):
    """One per point that the map shows, but for published countries whose respondents carry the name."""
    beyond = frame.drop(shown(figure, frame).index)
    assert set(beyond.kind) <= {"published"}
    people = set(frame[frame.kind == "human"].country)
    named = {"model": "language", "human": "country", "published": "country"}
    return [
        row[named.get(row["kind"], "label")]
        for row in shown(figure, frame).to_dict("records")
        if row["kind"] != "published" or row["country"] not in people
    ]


def far_frame():
    """All as before, and two countries where no model is."""
    frame = map_frame()
    far = frame[frame.kind == "published"].head(2).assign(country=["QA", "GH"], x=-9.0, y=[-8.0, -9.0])
    return pd.DataFrame(pd.concat([frame, far], ignore_index=True))


@pytest.mark.slow
def test_countries_outside_of_the_map_stand_in_the_small_map_with_its_frame():
    frame = far_frame()
    figure = draw_cultural_map(frame)
    big, small = figure.axes[:2]
    assert big.get_xlim()[0] > -9
    drawn = np.concatenate([line.get_xydata() for line in small.lines])
    published = frame[frame.kind == "published"][["x", "y"]].to_numpy(dtype=float)
    assert sorted(map(tuple, drawn)) == sorted(map(tuple, published))
    (left, bottom), (right, top) = small.patches[0].get_bbox().get_points()
    assert ((left, right), (bottom, top)) == (pytest.approx(big.get_xlim()), pytest.approx(big.get_ylim()))
    assert "2 published countries lie outside the map" in words(figure)
    assert outside(figure) == []


def test_without_countries_outside_there_is_no_small_map():
    frame = map_frame()
    assert len(draw_cultural_map(frame[frame.kind != "published"]).axes) == 1


def test_a_published_country_is_joined_to_its_respondents():
    frame = map_frame()
    lines = draw_cultural_map(frame).findobj(lambda one: one.get_gid() == "same country")
    ends = {tuple(map(tuple, line.get_xydata())) for line in lines}
    at = frame[frame.country == "PL"].set_index("kind")
    assert (tuple(at.loc["published", ["x", "y"]]), tuple(at.loc["human", ["x", "y"]])) in ends
    assert len(ends) == 6


@pytest.mark.slow
def test_every_point_is_drawn_where_it_lies_under_its_own_id():
    frame = map_frame()
    figure = draw_cultural_map(frame)
    seen = shown(figure, frame)
    ids = [point_gid(row) for row in seen.to_dict("records")]
    assert len(set(ids)) == len(ids)
    for gid, place in zip(ids, seen[["x", "y"]].to_numpy(dtype=float), strict=True):
        assert re.fullmatch(r"[A-Za-z0-9_.-]+", gid)
        np.testing.assert_allclose(places(figure, gid), [place], err_msg=gid)


@pytest.mark.slow
def test_the_svg_holds_every_point_under_its_id_once():
    frame = map_frame()
    figure = draw_cultural_map(frame)
    text = svg_text(figure)
    for row in shown(figure, frame).to_dict("records"):
        assert text.count(f'id="{point_gid(row)}"') == 1


def test_an_id_has_a_dash_for_what_a_point_has_not():
    row = {"kind": "model", "label": "m", "model": "eu/rollm 22b", "language": "pol", "country": float("nan")}
    assert point_gid(row) == "point-model-eu_rollm_22b-pol--"


def test_models_have_boxes_and_people_bars_from_low_to_high():
    frame = map_frame()
    axes = draw_cultural_map(frame).axes[0]
    boxes = {tuple(np.round(patch.get_bbox().get_points().ravel(), 9)) for patch in axes.patches}
    models, people = (frame[frame.kind == kind] for kind in ("model", "human"))
    for row in models.itertuples():
        assert tuple(np.round([row.x_low, row.y_low, row.x_high, row.y_high], 9)) in boxes
    segments = [s for c in axes.collections for s in c.get_segments()]
    row = people.iloc[0]
    assert any(np.allclose(s, [(row.x_low, row.y), (row.x_high, row.y)]) for s in segments)
    assert any(np.allclose(s, [(row.x, row.y_low), (row.x, row.y_high)]) for s in segments)


def of_model(figure, model, language):
    (one,) = figure.findobj(lambda each: str(each.get_gid()).startswith(f"point-model-{model}-{language}-"))
    return one


def test_a_point_not_told_from_no_content_is_hollow_and_said_to_be():
    figure = draw_cultural_map(map_frame())
    hollow, filled = (of_model(figure, "reference-mono", language) for language in ("fra", "pol"))
    assert hollow.get_markerfacecolor() == "white"
    assert filled.get_markerfacecolor() == hollow.get_markeredgecolor()
    assert "hollow: not distinguishable from no content" in legend_labels(figure)


@pytest.mark.slow
def test_a_hollow_point_lies_over_the_content_free_point_that_it_is_near():
    figure = draw_cultural_map(map_frame())
    free = figure.findobj(lambda each: str(each.get_gid()).startswith("point-content_free"))
    assert len(free) == 2
    assert max(each.get_zorder() for each in free) < of_model(figure, "reference-mono", "fra").get_zorder()
    assert min(each.get_markersize() for each in free) > of_model(figure, "reference-mono", "fra").get_markersize()


def test_unknown_is_not_hollow():
    frame = map_frame(hollow=())
    frame["is_distinguishable"] = None
    figure = draw_cultural_map(frame)
    assert of_model(figure, "reference-mono", "fra").get_markerfacecolor() != "white"
    assert "hollow" not in words(figure)


def test_families_differ_in_shape_colour_and_greyness():
    figure = draw_cultural_map(map_frame())
    mono, multi = (of_model(figure, f"reference-{kind}", "pol") for kind in ("mono", "multi"))
    assert mono.get_marker() != multi.get_marker()
    assert mono.get_markerfacecolor() != multi.get_markerfacecolor()
    assert abs(grey(mono.get_markerfacecolor()) - grey(multi.get_markerfacecolor())) > 40
    assert {"reference-mono", "reference-multi"} <= set(legend_labels(figure))


@pytest.mark.slow
def test_zones_differ_in_stroke_and_in_colour():
    frame = map_frame(LANGUAGES, BIG, source="EVS 2017")
    figure = draw_cultural_map(frame)
    zones = frame[frame.kind == "published"].drop_duplicates("zone")
    handles = [line for legend in figure.findobj(Legend) for line in legend.get_lines()]
    looks = [(str(line.get_marker()), line.get_color()) for line in handles if "(published)" in line.get_label()]
    assert len(looks) == len(zones)
    assert len({marker for marker, _ in looks}) == len({color for _, color in looks}) == len(zones)


@pytest.mark.slow
def test_the_map_says_planted_only_when_it_is():
    assert "planted" in words(draw_cultural_map(map_frame()))
    assert "planted" not in words(draw_cultural_map(map_frame(source="EVS 2017"))).lower()


@pytest.mark.slow
def test_caveat_and_residuals_stand_under_a_map_that_came_without_a_caption():
    said = words(draw_cultural_map(map_frame()))
    assert "invariance" in said
    assert "residual sd 0.16 across and 0.17 along" in said


@pytest.mark.slow
def test_the_caption_of_the_frame_stands_under_the_map_with_the_caveat():
    frame = map_frame()
    frame.attrs["caption"] = ["Intercepts fitted on five countries."]
    said = words(draw_cultural_map(frame))
    assert "Intercepts fitted on five countries." in said
    assert "residual sd" not in said
    assert "invariance" in said


@pytest.mark.slow
def test_an_axis_unlike_the_published_one_does_not_bear_its_name():
    frame = map_frame()
    frame.attrs["unlike"] = ["y"]
    axes = draw_cultural_map(frame).axes[0]
    assert "survival" in axes.get_xlabel()
    assert axes.get_ylabel() == "a component unlike the published axis"


@pytest.mark.slow
def test_a_point_with_too_few_indicators_is_named_not_drawn():
    frame = map_frame(absent=("ell",))
    figure = draw_cultural_map(frame)
    assert "Not drawn: reference-mono ell (4 of 10 indicators): fewer than 6 indicators" in words(figure)
    drawn = {str(line.get_gid()) for line in figure.findobj(Line2D)}
    assert not [gid for gid in drawn if "-ell-" in gid and gid.startswith("point-model")]
    assert not [name for name in names(figure) if name.get_text() == "ell"]


def test_a_map_without_models_still_shows_the_countries():
    frame = map_frame()
    figure = draw_cultural_map(pd.DataFrame(frame[frame.kind == "published"]))
    assert len(names(figure)) == len(LANGUAGES)
