"""Panels of rows with a dot and an interval for each of several series, with their values by chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.backgrounds import has_numbers, legend_in
from valuesassets.figures.marks import draw_dots, mark, name_rows, rule, say_nothing, shift
from valuesassets.figures.panels import is_crowd, looks_of, model_handles
from valuesassets.records.frames import column, records, rows_where

ROW_IN, MOST_ACROSS = 0.26, 3


@dataclass(frozen=True)
class Chance:
    """The marks of chance beside dots: a bar between two columns of the frame, or a mark at one column.

    Attributes:
        low, high: columns; `high` is empty where there is a mark.
        label: in the legend.
    """

    low: str
    label: str
    high: str = ""


@style.styled
def draw_interval_panels(
    frame: pd.DataFrame,
    value: str,
    *,
    title: str,
    label: str,
    row: str,
    series: str = "model",
    panel: str = "",
    chance: Chance | None = None,
    line: float | None = 0.0,
    limits: tuple[float, float] | None = None,
    notes: Sequence[str] = (),
    planted: bool = False,
) -> Figure:
    """A panel for each value of one column and a row for each value of another, with dots and their intervals.

    Args:
        value: column of the dots; `<value>_low` and `<value>_high` are the ends of intervals, if they exist.
        label: of the axis.
        row, series, panel: columns with the row, series and panel of each row of the frame.
        chance: marks of chance beside each dot.
        line: position of a vertical line through all panels.
        limits: limits of the axis, by default those of the numbers.
    """
    whole = frame.assign(**{name: np.nan for name in (f"{value}_low", f"{value}_high") if name not in frame})
    whole = whole.assign(_panel=whole[panel].astype(str) if panel else "")
    looks, names = looks_of(column(whole, series)), list(dict.fromkeys(map(str, whole[row])))
    panels = list(dict.fromkeys(whole["_panel"]))
    handles = model_handles(looks, markersize=5)
    if chance:
        handles.append(
            rule(chance.label, style.GREY, lw=5) if chance.high else mark(chance.label, "|", style.BLACK, markersize=10)
        )
    across = min(MOST_ACROSS, len(panels))
    down = -(-len(panels) // across)
    row_in = ROW_IN + 0.07 * (min(len(looks), style.MOST_SERIES) - 1)
    height = down * (0.62 + row_in * max(2, len(names))) + 1.15 + legend_in(handles, 3)
    figure = style.new_figure(height_in=height)
    axes_list = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, name in zip(axes_list, panels, strict=False):
        _draw_panel(axes, rows_where(whole, _panel=name), value, row, series, names, looks, chance)
        axes.set_title(name, fontsize=style.BODY_PT)
        if line is not None:
            axes.axvline(line, color=style.BLACK, lw=0.8, zorder=0)
        axes.grid(visible=True, axis="x")
        axes.tick_params(axis="y", length=0)
    for axes in axes_list[len(panels) :]:
        axes.set_visible(False)
    for axes in axes_list[::across]:
        name_rows(axes, names, style.SMALL_PT)
    for axes in axes_list[max(0, len(panels) - across) : len(panels)]:
        axes.set_xlabel(label)
        axes.tick_params(labelbottom=True)
    if limits:
        axes_list[0].set_xlim(*limits)
    return style.finish(figure, title, notes, handles, 3, planted)


def _draw_panel(
    axes: Axes,
    part: pd.DataFrame,
    value: str,
    row: str,
    series: str,
    names: Sequence[str],
    looks: Mapping[str, style.Look],
    chance: Chance | None,
) -> None:
    if not has_numbers(part, value):
        say_nothing(axes)
    step = min(0.22, 0.7 / max(1, len(looks)))
    crowd = is_crowd(looks)
    for number, (name, look) in enumerate(looks.items()):
        series_rows = part.loc[part[series].astype(str) == name]
        places = np.array([names.index(str(each)) for each in series_rows[row]], dtype=float)
        places += 0 if crowd else shift(number, len(looks), step)
        for place, values in zip(places, records(series_rows), strict=True):
            _draw_chance(axes, place, values, chance)
        draw_dots(axes, places, series_rows, value, look.color, look.marker, size=4 if crowd else 5, gid=f"dots {name}")


def _draw_chance(axes: Axes, place: float, values: Mapping[str, Any], chance: Chance | None) -> None:
    if chance is None or not np.isfinite(float(values[chance.low] if values[chance.low] is not None else np.nan)):
        return
    if chance.high:
        axes.hlines(place, values[chance.low], values[chance.high], color=style.PALE, lw=6, zorder=0)
    else:
        axes.plot([values[chance.low]], [place], "|", color=style.BLACK, markersize=9, markeredgewidth=1.6, zorder=2)
