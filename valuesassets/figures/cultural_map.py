"""The Inglehart-Welzel map: models among countries, beside the points of answers that carry no content."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from valuesassets.figures import style
from valuesassets.figures.frames import column, records, rows, rows_where
from valuesassets.figures.labels import Name, Segment, write_names

CAVEAT = (
    "Whether these dimensions mean the same in every country is disputed (measurement invariance), "
    "and more so for models: a place on the map is a summary of ten answers, not an attitude."
)
NOT_DISTINGUISHABLE = "not distinguishable from no content"
MARKER_PT, REFERENCE_PT, BACKGROUND_PT = 6.5, 10.5, 5.0
ZONE_MARKERS = ("x", "+", "1", "2", "|", "3", "_", "4")
"""Strokes without a face, so that no country is taken for a model."""
COUNTRY_INK = "#5E5E5E"


@style.styled
def draw_cultural_map(points: pd.DataFrame, notes: Sequence[str] | None = None) -> Figure:
    """Every drawn point with its interval and name; hollow where a model cannot be told from no content.

    Args:
        points: one row per point: kind (model, human, published, pooled_human, content_free), label, model, language,
            country, zone, x, y, x_low, x_high, y_low, y_high (null where there is no interval), residual_sd_x,
            residual_sd_y, n_indicators, drawn, is_distinguishable (False for hollow), source, note.
        notes: lines under the figure; those in `points.attrs["notes"]` where not given. Where there are none, the
            residual sd, the points not drawn and the caveat are said.
    """
    drawn = rows(points, points["drawn"].astype(bool) & points["x"].notna() & points["y"].notna())
    planted = bool((points["source"] == "planted").any())
    said = list(points.attrs.get("notes", [])) if notes is None else list(notes)
    said = said or [*_lines(points, drawn), CAVEAT]
    figure = style.new_figure(height_in=style.PAGE_HEIGHT_IN - 0.6)
    axes = figure.add_subplot()
    handles = [*_draw_countries(axes, drawn), *_draw_references(axes, drawn), *_draw_models(axes, drawn)]
    _set_limits(axes, drawn)
    axes.set_xlabel("survival values  ←  →  self-expression values")
    axes.set_ylabel("traditional values  ←  →  secular-rational values")
    axes.grid()
    style.write_heading(figure, "Models and countries on the Inglehart-Welzel map", planted)
    style.write_footer(figure, said, handles, n_columns=3, planted=planted)
    write_names(axes, _names(drawn), _interval_strokes(drawn))
    return figure


def _draw_countries(axes: Axes, drawn: pd.DataFrame) -> list[Line2D]:
    """Published countries as pale strokes by zone, respondents' countries as pentagons with intervals."""
    handles = []
    published = rows_where(drawn, kind="published")
    zones = column(published, "zone").fillna("")
    for number, zone in enumerate(sorted(set(zones))):
        look: dict[str, Any] = {
            "ls": "",
            "marker": ZONE_MARKERS[number % len(ZONE_MARKERS)],
            "color": COUNTRY_INK,
            "markersize": BACKGROUND_PT,
        }
        countries = rows(published, zones == zone)
        axes.plot(countries["x"], countries["y"], zorder=2, gid=f"published {zone}", markeredgewidth=0.8, **look)
        handles.append(Line2D([], [], label=f"{zone or 'no zone'} (published)", **look))
    people = rows_where(drawn, kind="human")
    if len(people):
        look = {"ls": "", "marker": "p", "color": style.BLACK, "markersize": MARKER_PT}
        _draw_intervals(axes, people, style.BLACK)
        axes.plot(people["x"], people["y"], zorder=4, gid="human", **look)
        source = ", ".join(sorted(set(column(people, "source").dropna())))
        handles.append(Line2D([], [], label=f"respondents ({source})", **look))
    return handles


def _draw_references(axes: Axes, drawn: pd.DataFrame) -> list[Line2D]:
    """The content-free points and the pooled human point."""
    handles = []
    for kind, marker, label in (("content_free", "X", "content-free answers"), ("pooled_human", "*", "pooled human")):
        references = rows_where(drawn, kind=kind)
        if len(references):
            look: dict[str, Any] = {
                "ls": "", "marker": marker, "markersize": REFERENCE_PT, "markerfacecolor": "white",
                "markeredgecolor": style.BLACK, "markeredgewidth": 1.2,
            }  # fmt: skip
            _draw_intervals(axes, references, style.BLACK)
            axes.plot(references["x"], references["y"], zorder=5, gid=kind, **look)
            handles.append(Line2D([], [], label=label, **look))
    return handles


def _draw_models(axes: Axes, drawn: pd.DataFrame) -> list[Line2D]:
    """Each family in its own shape and colour, hollow where `is_distinguishable` is False."""
    handles = []
    models = rows_where(drawn, kind="model")
    is_hollow = column(models, "is_distinguishable").astype("boolean").eq(False).fillna(False).astype(bool)
    for family, look in style.looks(models["model"]).items():
        of_family = column(models, "model") == family
        _draw_intervals(axes, rows(models, of_family), look.color)
        for face, which, fill in (("filled", ~is_hollow, look.color), ("hollow", is_hollow, "white")):
            cells = rows(models, of_family & which)
            axes.plot(
                cells["x"], cells["y"], ls="", marker=look.marker, markersize=MARKER_PT, markeredgecolor=look.color,
                markerfacecolor=fill, markeredgewidth=1.2, zorder=4, gid=f"{face} {family}",
            )  # fmt: skip
        handles.append(Line2D([], [], ls="", marker=look.marker, markersize=MARKER_PT, color=look.color, label=family))
    if is_hollow.any():
        label = style.wrap(f"hollow: {NOT_DISTINGUISHABLE}", 2.0, style.BODY_PT - 1)
        handles.append(
            Line2D([], [], ls="", marker="o", markersize=MARKER_PT, label=label, mfc="white", mec=style.GREY)
        )
    return handles


def _draw_intervals(axes: Axes, points: pd.DataFrame, color: str) -> None:
    across = points.dropna(subset=["x_low", "x_high"])
    axes.hlines(across["y"], across["x_low"], across["x_high"], color=color, lw=0.9, alpha=0.55, zorder=3)
    along = points.dropna(subset=["y_low", "y_high"])
    axes.vlines(along["x"], along["y_low"], along["y_high"], color=color, lw=0.9, alpha=0.55, zorder=3)


def _interval_strokes(drawn: pd.DataFrame) -> list[Segment]:
    strokes: list[Segment] = []
    for row in records(drawn.dropna(subset=["x_low", "x_high", "y_low", "y_high"])):
        strokes.append(((row["x_low"], row["y"]), (row["x_high"], row["y"])))
        strokes.append(((row["x"], row["y_low"]), (row["x"], row["y_high"])))
    return strokes


def _set_limits(axes: Axes, drawn: pd.DataFrame) -> None:
    """Room for every point and interval, and a little for the names at the rim."""
    for low, high, middle, place in (("x_low", "x_high", "x", "xlim"), ("y_low", "y_high", "y", "ylim")):
        values = drawn[[low, middle, high]].to_numpy(dtype=float)
        if not np.isfinite(values).any():
            continue
        bottom, top = float(np.nanmin(values)), float(np.nanmax(values))
        margin = 0.08 * (top - bottom) or 0.5
        axes.set(**{place: (bottom - margin, top + margin)})


def _names(drawn: pd.DataFrame) -> list[Name]:
    """Reference points first, then models, respondents' countries and the background."""
    written = {
        "content_free": ("label", style.BLACK, "normal", "italic"),
        "pooled_human": ("label", style.BLACK, "normal", "italic"),
        "model": ("language", None, "normal", "normal"),
        "human": ("country", style.BLACK, "bold", "normal"),
        "published": ("country", COUNTRY_INK, "normal", "normal"),
    }
    families = style.looks(rows_where(drawn, kind="model")["model"])
    marker_pt = {"content_free": REFERENCE_PT, "pooled_human": REFERENCE_PT, "published": BACKGROUND_PT}
    names = []
    for kind, (named_by, color, weight, slant) in written.items():
        for row in records(rows_where(drawn, kind=kind)):
            text = str(row["label"] if pd.isna(row[named_by]) else row[named_by])
            ink = families[row["model"]].color if color is None else color
            size_pt = style.SMALL_PT - 1.5 if kind == "published" else style.SMALL_PT
            size = marker_pt.get(kind, MARKER_PT)
            names.append(Name(row["x"], row["y"], text, ink, weight, slant, size_pt, marker_pt=size))
    return names


def _lines(points: pd.DataFrame, drawn: pd.DataFrame) -> list[str]:
    """What the marks mean, how uncertain the projection is and which points are not drawn."""
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
