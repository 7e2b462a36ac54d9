"""The map in the report: the figure itself, every point named, reachable and, where it is a model, a link."""

import re

import pytest

from valuesassets.figures.cultural_map import draw_cultural_map, part_gid, point_gid
from valuesassets.figures.saving import svg_text
from valuesassets.instruments.survey.report.map import map_view, point_lines
from valuesassets_tests.figures.made_up_analyses import map_frame
from valuesassets_tests.instruments.survey.whole_report import Elements

CELLS = [(model, language) for model in ("reference-mono", "reference-multi") for language in ("eng", "fra")]


@pytest.fixture(scope="module")
def points():
    return map_frame(["eng", "fra"])


@pytest.fixture(scope="module")
def tags(points):
    elements = Elements(map_view(points, CELLS[:-1]).svg)
    assert elements.open == []
    return elements


def test_every_drawn_point_is_there_once_under_its_own_id_and_says_what_it_is(points, tags):
    marked = [mark for mark in tags.of("g") if mark.get("class") == "point"]
    drawn = set(re.findall(r'id="(point-[^"]+)"', svg_text(draw_cultural_map(points))))
    ids = [mark["id"] for mark in marked]
    assert len(set(ids)) == len(ids)
    assert drawn <= set(ids)
    assert {point_gid(row) for row in points.to_dict("records") if row["kind"] == "model"} <= drawn
    assert len(tags.of("title")) == len(marked) == len(tags.of("circle"))


def test_model_points_lead_to_their_provenance_and_one_without_it_takes_the_focus_alone(tags):
    assert [link["href"] for link in tags.of("a")] == [f"#trace-{model}-{language}" for model, language in CELLS[:-1]]
    alone = next(mark for mark in tags.of("g") if mark.get("id") == "point-model-reference-multi-fra-FR")
    assert (alone["tabindex"], alone["role"]) == ("0", "img")


def test_respondents_and_content_free_points_take_the_focus_and_the_background_does_not(tags):
    focus = {mark["id"].split("-")[1] for mark in tags.of("g") if mark.get("tabindex") == "0"}
    assert focus == {"model", "human", "content_free", "pooled_human"}


@pytest.mark.slow
def test_nothing_in_the_figure_refers_to_anything_outside(points):
    svg = map_view(points, CELLS).svg
    assert "http" not in svg
    assert "xmlns" not in svg
    assert all(reference.startswith("#") for reference in re.findall(r'href="([^"]*)"', svg))
    assert len(svg) < len(svg_text(draw_cultural_map(points)))


def test_switches_name_every_family_and_kind_with_its_number_of_points(points):
    switches = {switch.group: switch.count for switch in map_view(points).switches}
    assert switches["family reference-mono"] == 2
    assert switches["published"] == (points.kind == "published").sum()
    assert list(switches)[:2] == ["family reference-mono", "family reference-multi"]


def test_names_intervals_and_regions_belong_to_the_group_of_their_point(points, tags):
    groups = {mark["id"]: mark["data-group"] for mark in tags.of("g") if "data-group" in mark}
    people = points[points.kind == "human"].iloc[0].to_dict()
    assert groups[part_gid(people, "interval")] == groups[part_gid(people, "point")] == "human"
    for part in ("point", "name", "region"):
        assert groups[f"{part}-model-reference-mono-eng-GB"] == "family reference-mono"


def test_what_is_said_of_a_point_has_intervals_coverage_distance_verdict_and_note():
    row = {
        "kind": "model", "label": "m eng", "model": "m", "language": "eng", "x": 0.25, "x_low": 0.1, "x_high": 0.4,
        "y": -1.0, "y_low": -1.25, "y_high": -0.75, "n_indicators": 8.0, "missing": "F063, Y002",
        "distance_from_content_free": 0.9, "distance_low": 0.2, "distance_high": 1.5, "is_distinguishable": False,
        "source": "model", "note": "seen in one order",
    }  # fmt: skip
    assert point_lines(row) == (
        "m eng",
        "survival to self-expression: +0.25 (+0.10 to +0.40)",
        "traditional to secular: -1.00 (-1.25 to -0.75)",
        "8 of 10 indicators; missing F063, Y002",
        "0.90 (0.20 to 1.50) from the nearest content-free point",
        "not distinguishable from no content",
        "seen in one order",
        "source: model",
    )


def test_a_point_without_intervals_says_none(points):
    free = points[points.kind == "content_free"].iloc[0].to_dict()
    assert point_lines(free) == (
        "uniform answers (content-free answers)",
        "survival to self-expression: +0.50",
        "traditional to secular: +2.00",
    )
