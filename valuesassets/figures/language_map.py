"""Which languages answer alike, beyond effects of language and by plain distances?"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from valuesassets.figures import style
from valuesassets.figures.backgrounds import short
from valuesassets.figures.labels import Name, write_names
from valuesassets.figures.marks import mark, say_nothing
from valuesassets.figures.panels import CROWD
from valuesassets.records.frames import column, records, rows, rows_where

SIDES = {"culture gain": "beyond language: U − A", "plain distance": "plain distance: U"}
"""Columns: what lies in which plane, and its name."""
MOST_MODELS = 3
PANEL_IN = 2.65
ROOM = 1.35
"""Half the height of a panel, in units of its farthest point: names want room."""
WIDER = 1.25
"""Width of a panel by its height."""


@style.styled
def draw_language_map(points: pd.DataFrame, planted: bool = False, notes: Sequence[str] = ()) -> Figure:
    """Two planes for each model: languages by what they differ in beyond language, and by plain distances.

    Args:
        points: `model`, `distance` (of `SIDES`), `language`, `script`, `x`, `y`, `stress`, `group` (null: none named).
    """
    models = [str(name) for name in dict.fromkeys(points["model"])]
    drawn_models = models[:MOST_MODELS]
    looks = _looks(rows(points, points["model"].isin(drawn_models)))
    caption = [
        "Metric scaling of the square root of twice the distance; negative distances count as 0. Left: the increase of "
        "the distance between two languages where no country is named, compared with naming the same country. Right: "
        "plain distances of answers without a country, including effects of language and script. Stress: 0 perfect, "
        ".2 poor.",
        *([f"{len(models) - len(drawn_models)} more models are in the tables."] * (len(models) > len(drawn_models))),
        *notes,
    ]
    handles = _handles(looks)
    figure = style.new_figure(height_in=1.5 + PANEL_IN * max(1, len(drawn_models)))
    panels = figure.subplots(max(1, len(drawn_models)), len(SIDES), squeeze=False)
    for model, pair in zip(drawn_models, panels, strict=False):
        for axes, side in zip(pair, SIDES, strict=True):
            _draw_points(axes, rows_where(points, model=model, distance=side), looks, side)
        pair[0].set_ylabel(short(model, 30))
    if not drawn_models:
        for axes in panels.ravel():
            say_nothing(axes)
            axes.set_yticks([])
    title = "Which languages answer alike, beyond effects of language?"
    style.finish(figure, title, caption, handles, 4, planted)
    style.settle(figure)
    for model, pair in zip(drawn_models, panels, strict=False):
        for axes, side in zip(pair, SIDES, strict=True):
            _write_languages(axes, rows_where(points, model=model, distance=side), looks, side)
    return figure


def _looks(points: pd.DataFrame) -> dict[int, style.Look]:
    """A look for each group; the ninth and later have none of their own."""
    groups = sorted({int(each) for each in points["group"].dropna()})
    looks_of_groups = dict(zip(groups, style.looks(map(str, range(style.MOST_SERIES))).values(), strict=False))
    return {group: looks_of_groups.get(group, CROWD) for group in groups}


def _handles(looks: Mapping[int, style.Look]) -> list[Line2D]:
    group_marks = [
        mark(f"group {group}", look.marker, look.color) for group, look in looks.items() if look is not CROWD
    ]
    return group_marks or [mark("no groups are named", CROWD.marker, CROWD.color)]


def look_of(group: object, looks: Mapping[int, style.Look]) -> style.Look:
    """The look of a language's group; grey where it has none."""
    return CROWD if group is None or pd.isna(group) else looks[int(group)]  # type: ignore[call-overload, arg-type]


def _draw_points(axes: Axes, part: pd.DataFrame, looks: Mapping[int, style.Look], side: str) -> None:
    axes.set(xticks=[], yticks=[])
    if not len(part):
        axes.text(0.5, 0.5, "not available", transform=axes.transAxes, ha="center", style="italic")
        axes.set_title(SIDES[side], fontsize=style.BODY_PT - 1)
        return
    for row in records(part):
        look = look_of(row["group"], looks)
        axes.plot(
            [row["x"]], [row["y"]], ls="", marker=look.marker, color=look.color, markersize=6, zorder=3,
            gid=f"{side} {row['model']} {row['language']}",
        )  # fmt: skip
    axes.set_title(f"{SIDES[side]} (stress {float(column(part, 'stress').iloc[0]):.2f})", fontsize=style.BODY_PT - 1)
    room = ROOM * float(np.abs(part[["x", "y"]].to_numpy(float)).max()) or 1.0
    axes.set(xlim=(-WIDER * room, WIDER * room), ylim=(-room, room), aspect="equal")


def _write_languages(axes: Axes, part: pd.DataFrame, looks: Mapping[int, style.Look], side: str) -> None:
    """Codes beside the points; in the plain plane with the script where that is not Latin."""
    axes.apply_aspect()  # names are placed in pixels
    names = []
    for row in records(part):
        has_script = side == "plain distance" and row["script"] != "Latin"
        text = f"{row['language']} ({row['script']})" if has_script else str(row["language"])
        names.append(Name(row["x"], row["y"], text, style.text_ink(look_of(row["group"], looks).color)))
    if names:
        write_names(axes, names)
