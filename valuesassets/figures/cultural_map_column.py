"""The Inglehart-Welzel map at a column's width: few words, none below 7 pt, and the small print beside the picture."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from valuesassets.figures import style
from valuesassets.figures.cultural_map import (
    AXIS_NAMES,
    CAVEAT,
    draw_countries,
    draw_models,
    draw_people,
    draw_references,
    interval_strokes,
    is_named_by_people,
    limits_of,
    lines_of,
    names_of,
    zone_looks,
)
from valuesassets.figures.labels import write_names
from valuesassets.figures.marks import mark
from valuesassets.records.frames import column, rows, rows_where

COLUMN_IN = 85 / 25.4
"""Width of a journal's column."""
LEAST_PT = 7
PLANE_IN = 3.3
"""Height of the map itself, its axis with it."""
ROW_IN = 0.15
ZONES = "published countries, by zone"
SMALL_LETTERS: Any = dict.fromkeys(
    ("font.size", "axes.labelsize", "xtick.labelsize", "ytick.labelsize", "legend.fontsize"), LEAST_PT
)


@style.styled
@mpl.rc_context(SMALL_LETTERS)
def draw_cultural_map_column(points: pd.DataFrame) -> Figure:
    """The points of the map, nothing below 7 pt, one legend's entry for each family and zone.

    Its small print is the figure's label, and not in it: what it shows, which published countries lie outside or have
    no room for their name, and what stands under the map of a page's width.

    Args:
        points: as `draw_cultural_map` takes them.
    """
    drawn = rows(points, points["drawn"].astype(bool) & points["x"].notna() & points["y"].notna())
    is_planted = bool((points["source"] == "planted").any())
    frame = limits_of(drawn)
    is_shown = drawn["x"].between(*frame[0]) & drawn["y"].between(*frame[1])
    visible = rows(drawn, is_shown)
    families = set(column(rows_where(visible, kind="published"), "zone").fillna(""))
    zones = {zone: look for zone, look in zone_looks(drawn).items() if zone in families}
    of_zones = [mark(zone or "no zone", **look) for zone, look in zones.items()]
    figure = style.new_figure(PLANE_IN, COLUMN_IN)
    axes = figure.add_subplot()
    handles = [*draw_models(axes, visible), *draw_people(axes, visible), *draw_references(axes, visible)]
    handles += draw_countries(axes, visible, zones)
    axes.set(xlim=frame[0], ylim=frame[1])
    unlike = points.attrs.get("unlike", [])
    for axis, write in (("x", axes.set_xlabel), ("y", axes.set_ylabel)):
        write("a component unlike the published axis" if axis in unlike else AXIS_NAMES[axis].replace("  ", " "))
    axes.grid()
    if is_planted:
        axes.set_title("planted", loc="right", fontsize=LEAST_PT, weight="bold", bbox=style.PLANTED_BOX)
    _write_legends(figure, {ZONES: of_zones, "": handles})
    named_elsewhere = rows(visible, is_named_by_people(visible))
    nameless = list(zip(named_elsewhere["x"], named_elsewhere["y"], strict=True))
    names = [
        replace(name, size_pt=LEAST_PT, is_optional=str(name.gid).startswith("name-published-"))
        for name in names_of(visible)
    ]
    written = write_names(axes, names, interval_strokes(visible), nameless)
    unwritten = sorted({name.text for name in names} - {each.get_text() for each in written})
    figure.set_label("\n".join(_small_print(points, drawn, int((~is_shown).sum()), unwritten)))
    return figure


def _write_legends(figure: Figure, handles: Mapping[str, Sequence[Any]]) -> None:
    """Legends at the foot, the first by its title lowest, for which the figure grows."""
    present = {title: each for title, each in handles.items() if each}
    n_rows = sum(
        bool(title) + -(-len(each) // 2) + sum("\n" in str(legend.get_label()) for legend in each)
        for title, each in present.items()
    )
    height_in = PLANE_IN + n_rows * ROW_IN
    figure.set_figheight(height_in)
    bottom = 0.0
    for title, each in present.items():
        look = style.Keywords(handletextpad=0.4, columnspacing=1, labelspacing=0.35, markerscale=0.75)
        legend = style.fitting_legend(
            figure, each, bottom, 2, title=title or None, title_fontsize=LEAST_PT, alignment="left", **look
        )
        bottom = style.top_of(legend, figure)
    engine = figure.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)  # noqa: S101
    engine.set(rect=(0, bottom, 1, 1 - bottom), w_pad=0.04, h_pad=0.04)


def _small_print(points: pd.DataFrame, drawn: pd.DataFrame, n_outside: int, unwritten: Sequence[str]) -> list[str]:
    """What stands beside the picture, a sentence or two a line."""
    lines = [
        "Models and countries on the Inglehart-Welzel map. A model's mark bears its language and a pale box, which "
        "asking otherwise gave; a country's bears its code and bars, an interval over respondents."
    ]
    if n_outside:
        lines.append(f"{n_outside} published countries lie outside of the part that is shown.")
    if unwritten:
        lines.append(f"Published countries without room for their name: {', '.join(unwritten)}.")
    lines += [*(points.attrs.get("caption") or lines_of(points, drawn)), CAVEAT]
    return [*lines, style.PLANTED] if (points["source"] == "planted").any() else lines
