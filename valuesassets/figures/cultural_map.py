"""The Inglehart-Welzel map: models among countries, with the points of answers without content."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from valuesassets.figures import style
from valuesassets.figures.backgrounds import has_numbers
from valuesassets.figures.labels import Name, Segment, write_names
from valuesassets.figures.marks import family_marks, mark, rule
from valuesassets.records.frames import column, records, rows, rows_where

CAVEAT = (
    "Whether these dimensions mean the same in every country is disputed (measurement invariance), "
    "and more so for models: a place on the map is a summary of ten answers, not an attitude."
)
AXIS_NAMES = {
    "x": "survival values  ←  →  self-expression values",
    "y": "traditional values  ←  →  secular-rational values",
}
LEAST_SHARE = 0.5
"""Least share of the published countries' extent that the map shows, however close its models are."""
NOT_DISTINGUISHABLE = "not distinguishable from no content"
MARKER_PT, REFERENCE_PT, BACKGROUND_PT = 6.0, 12.0, 5.0
ZONE_MARKERS = ("x", "+", "1", (6, 2, 0), "|", "2", "_", "3", "4")
"""Markers without a face, so that countries do not look like models."""
ZONE_COLORS = (
    *(style.GREY, style.GREEN, style.PURPLE, style.ORANGE, style.SKY, style.BLACK, style.BLUE, style.VERMILLION),
)
COUNTRY_INK = "#5E5E5E"
NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_.-]+")


@style.styled
def draw_cultural_map(points: pd.DataFrame) -> Figure:
    """Every drawn point with its interval and name; hollow where a model cannot be distinguished from no content.

    The map shows the part of the plane with models, respondents and reference points. Where published
    countries lie outside, a small map of all of them beside the legend shows which part that is.

    Args:
        points: rows of `cultural_map/points`; the lines in `attrs["caption"]` stand under the figure. Where there are
            none, the residual sd and the points not drawn are said. The caveat stands under every map.
    """
    drawn = rows(points, points["drawn"].astype(bool) & points["x"].notna() & points["y"].notna())
    planted = bool((points["source"] == "planted").any())
    caption = [*(points.attrs.get("caption") or lines_of(points, drawn)), CAVEAT]
    frame = limits_of(drawn)
    is_shown = drawn["x"].between(*frame[0]) & drawn["y"].between(*frame[1])
    visible, n_outside = rows(drawn, is_shown), int((~is_shown).sum())
    figure = style.new_figure(height_in=style.PAGE_HEIGHT_IN - 0.2)
    layout: list[Any] = [["map", "map"], ["world", "key"]] if n_outside else [["map"]]
    ratios = style.Keywords(height_ratios=(3.4, 1), width_ratios=(1, 1.75)) if n_outside else style.Keywords()
    panels = figure.subplot_mosaic(layout, **ratios)
    axes = panels["map"]
    handles = [*draw_models(axes, visible), *draw_people(axes, visible), *draw_references(axes, visible)]
    zones = zone_looks(drawn)
    handles += draw_countries(axes, visible, zones)
    handles += [mark(f"{zone or 'no zone'} (published)", **look) for zone, look in zones.items()]
    axes.set(xlim=frame[0], ylim=frame[1])
    unlike = points.attrs.get("unlike", [])
    for axis, write in (("x", axes.set_xlabel), ("y", axes.set_ylabel)):
        write("a component unlike the published axis" if axis in unlike else AXIS_NAMES[axis])
    axes.grid()
    if n_outside:
        _draw_small_map(panels["world"], drawn, zones, frame)
        panels["key"].set_axis_off()
        legend = panels["key"].legend(
            handles=handles, loc="upper left", bbox_to_anchor=(-0.02, 1.12), ncols=2, fontsize=style.SMALL_PT,
            borderpad=0, borderaxespad=0, labelspacing=0.45,
        )  # fmt: skip
        legend.set_in_layout(False)
        caption = [f"{n_outside} published countries lie outside the map; the small map shows them, its frame is the "
                "map above.", *caption]  # fmt: skip
        handles = []  # they stand beside the small map
    title = "Models and countries on the Inglehart-Welzel map"
    style.finish(figure, title, caption, handles, n_columns=3, planted=planted)
    named_elsewhere = rows(visible, is_named_by_people(visible))
    nameless = list(zip(named_elsewhere["x"], named_elsewhere["y"], strict=True))
    write_names(axes, names_of(visible), interval_strokes(visible), nameless)
    return figure


def limits_of(drawn: pd.DataFrame) -> tuple[tuple[float, float], tuple[float, float]]:
    """Limits across and along with room for every point but published ones, every interval and the names at the rim."""
    in_focus = drawn["kind"] != "published"
    focus = rows(drawn, in_focus) if in_focus.any() else drawn
    limits = []
    for low, middle, high in (("x_low", "x", "x_high"), ("y_low", "y", "y_high")):
        values, everywhere = focus[[low, middle, high]].to_numpy(dtype=float), drawn[middle].to_numpy(dtype=float)
        if not len(everywhere):
            limits.append((-1.0, 1.0))
            continue
        bottom, top = float(np.nanmin(values)), float(np.nanmax(values))
        least = LEAST_SHARE * float(np.ptp(everywhere)) or 1.0
        margin = max(0.06 * (top - bottom), (least - (top - bottom)) / 2)
        limits.append((bottom - margin, top + margin))
    return limits[0], limits[1]


def _draw_small_map(axes: Axes, drawn: pd.DataFrame, zones: dict[str, dict[str, Any]], frame: Any) -> None:
    """All published countries by zone, and the frame that the map shows."""
    published = rows_where(drawn, kind="published")
    of_zone = column(published, "zone").fillna("")
    for zone, look in zones.items():
        countries = rows(published, of_zone == zone)
        for line in axes.plot(countries["x"], countries["y"], gid=f"world {zone}", **look):
            line.set_markersize(4.0)
    (frame_left, right), (bottom, top) = frame
    axes.add_patch(
        Rectangle((frame_left, bottom), right - frame_left, top - bottom, fill=False, ec=style.BLACK, lw=1.2)
    )
    axes.margins(0.04)
    axes.autoscale_view()
    axes.tick_params(labelsize=style.SMALL_PT - 1)
    axes.set_title("all published countries", fontsize=style.SMALL_PT)


def interval_strokes(drawn: pd.DataFrame) -> list[Segment]:
    """The intervals that no name should stand on: bars, and not the boxes of models."""
    strokes: list[Segment] = []
    for row in records(rows(drawn, drawn["kind"] != "model").dropna(subset=["x_low", "x_high", "y_low", "y_high"])):
        strokes.append(((row["x_low"], row["y"]), (row["x_high"], row["y"])))
        strokes.append(((row["x"], row["y_low"]), (row["x"], row["y_high"])))
    return strokes


def names_of(drawn: pd.DataFrame) -> list[Name]:
    """Reference points first, then models, respondents' countries and the background."""
    written: dict[str, tuple[str, style.Keywords]] = {
        "content_free": ("label", {"slant": "italic", "marker_pt": REFERENCE_PT}),
        "pooled_human": ("label", {"slant": "italic", "marker_pt": REFERENCE_PT}),
        "model": ("language", {}),
        "human": ("country", {"weight": "bold"}),
        "published": ("country", {"color": COUNTRY_INK, "size_pt": style.SMALL_PT - 1.5, "marker_pt": BACKGROUND_PT}),
    }
    families = style.looks(rows_where(drawn, kind="model")["model"])
    drawn = rows(drawn, ~is_named_by_people(drawn))
    names = []
    for kind, (named_by, look) in written.items():
        for row in records(rows_where(drawn, kind=kind)):
            look_of_name = style.Keywords(marker_pt=MARKER_PT) | look
            if kind == "model":
                look_of_name["color"] = style.text_ink(families[row["model"]].color)
            text = str(row["label"] if pd.isna(row[named_by]) else row[named_by])
            names.append(Name(row["x"], row["y"], text, gid=part_gid(row, "name"), **look_of_name))
    return names


def lines_of(points: pd.DataFrame, drawn: pd.DataFrame) -> list[str]:
    """Lines on the uncertainty of the projection and on points that are not drawn."""
    lines = []
    sd = points[["residual_sd_x", "residual_sd_y"]].astype(float).max()
    if sd.notna().all():
        lines.append(
            f"Projection: residual sd {sd['residual_sd_x']:.2f} across and {sd['residual_sd_y']:.2f} along, "
            "for every point, beside the intervals drawn."
        )
    for row in records(rows(points, ~points.index.isin(drawn.index))):
        name = row["label"] if pd.isna(row["model"]) else f"{row['model']} {row['language']}"
        why = "" if pd.isna(row["note"]) or not row["note"] else f": {row['note']}"
        lines.append(f"Not drawn: {name} ({row['n_indicators']:.0f} of 10 indicators){why}")
    if len(lines) > 7:
        lines = [*lines[:6], f"... and {len(lines) - 6} more points are not drawn; the report names them."]
    return lines


def point_gid(row: Mapping[str, Any]) -> str:
    """The id of a point's mark in the SVG: kind, model, language and country, `-` for missing parts.

    A content-free point has its label in the model's place, since there are several.

    >>> point_gid({"kind": "human", "label": "Poland", "model": None, "language": "pol", "country": "PL"})
    'point-human---pol-PL'
    >>> point_gid({"kind": "content_free", "label": "uniform answers", "model": None})
    'point-content_free-uniform_answers----'
    """
    first = "label" if row["kind"] == "content_free" else "model"
    parts = (row.get(name) for name in (first, "language", "country"))
    words = ("-" if part is None or pd.isna(part) else NOT_IN_AN_ID.sub("_", str(part)) for part in parts)
    return "-".join(("point", str(row["kind"]), *words))


def part_gid(row: Mapping[str, Any], part: str) -> str:
    """The id of what belongs to a point beside its mark: its `name`, `interval` or `region`."""
    return point_gid(row).replace("point", part, 1)


def zone_looks(drawn: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """A stroke and a colour for each zone of the published countries."""
    zones = sorted(set(column(rows_where(drawn, kind="published"), "zone").fillna("")))
    return {
        zone: {
            "ls": "", "marker": ZONE_MARKERS[number % len(ZONE_MARKERS)], "markeredgewidth": 1.0,
            "color": style.text_ink(ZONE_COLORS[number % len(ZONE_COLORS)]), "markersize": BACKGROUND_PT,
        }
        for number, zone in enumerate(zones)
    }  # fmt: skip


def _mark(axes: Axes, points: pd.DataFrame, zorder: float, **look: Any) -> None:
    """Draw each point separately, with its own `point_gid`."""
    for row in records(points):
        axes.plot([row["x"]], [row["y"]], zorder=zorder, gid=point_gid(row), **look)


def draw_countries(axes: Axes, visible: pd.DataFrame, zones: dict[str, dict[str, Any]]) -> list[Line2D]:
    """Published countries as pale strokes by zone, joined to the respondents of the same country."""
    published = rows_where(visible, kind="published")
    of_zone = column(published, "zone").fillna("")
    for zone, look in zones.items():
        _mark(axes, rows(published, of_zone == zone), 2, **look)
    people = rows_where(visible, kind="human").drop_duplicates("country").set_index("country")
    joined = rows(visible, is_named_by_people(visible))
    for row in records(joined):
        same_country = people.loc[row["country"]]
        x, y = ([row[axis], same_country[axis]] for axis in ("x", "y"))
        axes.plot(x, y, color=COUNTRY_INK, lw=0.8, ls=":", zorder=2, gid="same country")
    return [rule("same country, published", COUNTRY_INK, ":", 0.8)] if len(joined) else []


def draw_people(axes: Axes, visible: pd.DataFrame) -> list[Line2D]:
    """Respondents' countries as pentagons with intervals."""
    people = rows_where(visible, kind="human")
    if not len(people):
        return []
    look: dict[str, Any] = {"ls": "", "marker": "p", "color": style.BLACK, "markersize": MARKER_PT}
    _draw_intervals(axes, people)
    _mark(axes, people, 4, **look)
    source = ", ".join(sorted(set(column(people, "source").dropna())))
    return [mark(f"respondents ({source})", **look)]


def draw_references(axes: Axes, drawn: pd.DataFrame) -> list[Line2D]:
    """The content-free points and the pooled human point: large, and under the models that lie on them."""
    handles = []
    for kind, marker, label in (("content_free", "X", "content-free answers"), ("pooled_human", "*", "pooled human")):
        references = rows_where(drawn, kind=kind)
        if len(references):
            look: dict[str, Any] = {
                "ls": "", "marker": marker, "markersize": REFERENCE_PT, "color": style.BLACK,
                "markerfacecolor": "white", "markeredgewidth": 1.2,
            }  # fmt: skip
            _mark(axes, references, 3.5, **look)
            handles.append(mark(label, **look))
    return handles


def draw_models(axes: Axes, drawn: pd.DataFrame) -> list[Line2D | Patch]:
    """Each family in its own shape and colour, hollow where `is_distinguishable` is False."""
    models = rows_where(drawn, kind="model")
    is_hollow = column(models, "is_distinguishable").astype("boolean").eq(False).fillna(False).astype(bool)
    looks = style.looks(models["model"])
    for family, look in looks.items():
        of_family = column(models, "model") == family
        _draw_boxes(axes, rows(models, of_family), look.color)
        for which, face in ((~is_hollow, look.color), (is_hollow, "white")):
            _mark(
                axes, rows(models, of_family & which), 4, ls="", marker=look.marker, markersize=MARKER_PT,
                color=look.color, markerfacecolor=face, markeredgewidth=1.2,
            )  # fmt: skip
    handles: list[Line2D | Patch] = [*family_marks(looks, markersize=MARKER_PT)]
    if has_numbers(models, "x_low"):
        handles.append(Patch(facecolor=style.tint(style.GREY), label="box: orders and wordings"))
    if is_hollow.any():
        label = f"hollow: {NOT_DISTINGUISHABLE}".replace(" from", "\nfrom")
        handles.append(mark(label, "o", style.GREY, markersize=MARKER_PT, markerfacecolor="white"))
    return handles


def _draw_boxes(axes: Axes, points: pd.DataFrame, color: str) -> None:
    """The regions of models, the paler the more of them overlap."""
    boxes = records(points.dropna(subset=["x_low", "x_high", "y_low", "y_high"]))
    fill = min(0.08, 0.6 / max(len(boxes), 1))
    for row in boxes:
        corner, size = (row["x_low"], row["y_low"]), (row["x_high"] - row["x_low"], row["y_high"] - row["y_low"])
        gid = part_gid(row, "region")
        axes.add_patch(Rectangle(corner, *size, fc=color, ec="none", alpha=fill, zorder=1, gid=gid))
        axes.add_patch(Rectangle(corner, *size, fill=False, ec=color, lw=0.5, alpha=4 * fill, zorder=1.5, gid=gid))


def _draw_intervals(axes: Axes, points: pd.DataFrame) -> None:
    look: dict[str, Any] = {"color": style.BLACK, "lw": 0.8, "alpha": 0.5, "zorder": 3}
    for row in records(points.dropna(subset=["x_low", "x_high"])):
        axes.hlines(row["y"], row["x_low"], row["x_high"], gid=part_gid(row, "interval"), **look)
    for row in records(points.dropna(subset=["y_low", "y_high"])):
        axes.vlines(row["x"], row["y_low"], row["y_high"], gid=part_gid(row, "interval"), **look)


def is_named_by_people(drawn: pd.DataFrame) -> pd.Series:
    """Published countries joined to their respondents, who carry the name."""
    people = list(rows_where(drawn, kind="human")["country"])
    return (drawn["kind"] == "published") & drawn["country"].isin(people)
