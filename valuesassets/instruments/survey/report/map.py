"""The map of the report: the publication's figure inline, with named, focusable and linked points."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from valuesassets.figures.cultural_map import NOT_DISTINGUISHABLE, draw_cultural_map, part_gid
from valuesassets.figures.saving import svg_text
from valuesassets.records.frames import records
from valuesassets.reporting.inline_svg import parse_svg
from valuesassets.reporting.parts import is_absent

KINDS = {
    "human": "respondents",
    "published": "published countries",
    "pooled_human": "pooled people",
    "content_free": "content-free answers",
}
"""Kinds of points other than models, as the switches name them."""
PARTS = ("point", "name", "interval", "region")  # of a point in the figure; the first words of their ids
REACH = 7.0  # radius of a point for the pointer, in the figure's units


@dataclass(frozen=True)
class Switch:
    """A family or kind of points that can be hidden."""

    group: str
    label: str
    count: int


@dataclass(frozen=True)
class MapView:
    """The figure as markup for an HTML page, and the switches for its groups of points."""

    svg: str
    switches: tuple[Switch, ...]


def map_view(points: pd.DataFrame, traced: Collection[tuple[str, str]] = ()) -> MapView:
    """The figure of the map with a text at every point, and links from `traced` cells to their provenance."""
    root = parse_svg(svg_text(draw_cultural_map(points)), PARTS)
    rows = records(points)
    parents = {child: parent for parent in root.iter() for child in parent}
    for part in PARTS:
        by_gid = {part_gid(row, part): row for row in rows}
        taken = Counter[str]()
        for element in [each for each in root.iter("g") if each.get("id") in by_gid]:
            gid = str(element.get("id"))
            taken[gid] += 1
            element.set("data-group", group_of(by_gid[gid]))
            if taken[gid] > 1:  # an interval across and one along
                element.set("id", f"{gid}-{taken[gid]}")
            if part == "point":
                _dress(element, parents[element], by_gid[gid], traced)
    label = "Map of models and countries; the table below holds the same points"
    root.attrib |= {"role": "group", "aria-label": label, "id": "map-figure"}
    return MapView(ElementTree.tostring(root, encoding="unicode"), _switches(rows))


def group_of(row: Mapping[str, Any]) -> str:
    """The family of a model's point, else the kind of point."""
    return f"family {row['model']}" if row["kind"] == "model" else str(row["kind"])


def trace_anchor(model: str, language: str) -> str:
    """The anchor of the provenance of a model's point."""
    return f"trace-{model}-{language}"


def point_lines(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The text of a point: name, place, intervals, indicators, and distance from content-free points."""
    kind = "" if row["kind"] == "model" else f" ({KINDS.get(str(row['kind']), row['kind'])})"
    lines = [f"{row['label']}{kind}"]
    lines += [_coordinate(row, "x", "survival to self-expression"), _coordinate(row, "y", "traditional to secular")]
    if row["kind"] in ("model", "human") and not is_absent(row.get("n_indicators")):
        missing = f"; missing {row['missing']}" if not is_absent(row.get("missing")) else ""
        lines.append(f"{row['n_indicators']:.0f} of 10 indicators{missing}")
    if not is_absent(row.get("distance_from_content_free")):
        interval = _interval(row.get("distance_low"), row.get("distance_high"))
        lines.append(f"{row['distance_from_content_free']:.2f}{interval} from the nearest content-free point")
    if row["kind"] == "model" and not is_absent(row.get("is_distinguishable")):
        lines.append("distinguishable from no content" if row["is_distinguishable"] else NOT_DISTINGUISHABLE)
    if not is_absent(row.get("note")) and row["note"] != NOT_DISTINGUISHABLE:
        lines.append(str(row["note"]))
    if not is_absent(row.get("source")) and row["kind"] != "content_free":
        lines.append(f"source: {row['source']}")
    return tuple(lines)


def _dress(
    element: ElementTree.Element,
    parent: ElementTree.Element,
    row: Mapping[str, Any],
    traced: Collection[tuple[str, str]],
) -> None:
    """Give a point its text, an area for the pointer, and a link or the focus."""
    title = ElementTree.Element("title")
    title.text = text = "\n".join(point_lines(row))
    element.insert(0, title)
    mark = element.find(".//use")
    if mark is not None:
        place = {"cx": mark.get("x", "0"), "cy": mark.get("y", "0"), "r": str(REACH)}
        element.append(ElementTree.Element("circle", place | {"class": "reach"}))
    element.set("class", "point")
    cell, label = (row["model"], row["language"]), text.replace("\n", "; ")
    if row["kind"] == "model" and cell in traced:
        link = ElementTree.Element("a", {"href": f"#{trace_anchor(*cell)}", "aria-label": label})
        parent[list(parent).index(element)] = link
        link.append(element)
    else:
        element.attrib |= {"role": "img", "aria-label": label}
        if row["kind"] != "published":
            element.set("tabindex", "0")


def _switches(rows: Sequence[Mapping[str, Any]]) -> tuple[Switch, ...]:
    visible = [row for row in rows if row["drawn"] and not is_absent(row["x"])]
    counts = Counter(group_of(row) for row in sorted(visible, key=lambda row: row["kind"] != "model"))
    named = ((group, KINDS.get(group, group.removeprefix("family "))) for group in counts)
    return tuple(Switch(group, name, counts[group]) for group, name in named)


def _coordinate(row: Mapping[str, Any], axis: str, name: str) -> str:
    return f"{name}: {row[axis]:+.2f}{_interval(row.get(f'{axis}_low'), row.get(f'{axis}_high'), '+')}"


def _interval(low: Any, high: Any, sign: str = "") -> str:
    return f" ({low:{sign}.2f} to {high:{sign}.2f})" if not is_absent(low) and not is_absent(high) else ""
