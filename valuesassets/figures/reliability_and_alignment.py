"""Does a model agree with itself, and does it agree with people? Two questions with separate numbers."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.backgrounds import legend_in, short
from valuesassets.figures.labels import Name, write_names
from valuesassets.figures.marks import mark, say_nothing
from valuesassets.records.frames import column, records, rows

HISTORIES = {"alone": style.BLUE, "own": "white"}
"""Face colours of the points of each history."""
LOWEST = -1.0
"""Skill below this is drawn at the edge."""
LEFT = -0.04
FEW = 12
"""Maximum number of scales whose lines are drawn strong."""


@style.styled
def draw_reliability_and_alignment(points: pd.DataFrame, planted: bool = False) -> Figure:
    """A point for each scale: its reliability over models (across) and the skill in predicting people (upward).

    Args:
        points: `name`, `history` (that reliability was measured after: alone, own), `generalizability` and `skill` with
            their ends (of skill: the least and the greatest of the models).
    """
    measured = rows(points, points["generalizability"].notna() & points["skill"].notna())
    present = [name for name in HISTORIES if name in set(measured["history"])]
    handles = [
        mark(f"reliability after history {name}", "o", style.BLUE, markerfacecolor=HISTORIES[name], markersize=6)
        for name in present
    ]
    figure = style.new_figure(height_in=5.3 + legend_in(handles, 3))
    axes = figure.add_subplot()
    caption = [
        "Right and low: models answer consistently, but do not predict people. Left and high: they predict people, but "
        "answer inconsistently. Lines across: interval over items. Upright lines: from the lowest to the highest model."
    ]
    if len(points) > len(measured):
        caption.append(f"{len(points) - len(measured)} rows lack one of the two and are left to the tables.")
    title = "Agreeing with oneself, and with people: never one number"
    if not len(measured):
        say_nothing(axes)
        axes.set_yticks([])
        return style.finish(figure, title, caption[1:], planted=planted)
    strokes = _draw_points(axes, measured)
    axes.axhline(0, color=style.BLACK, lw=0.8)
    axes.annotate("as even chances", (LEFT, 0), xytext=(2, 2), textcoords="offset points", ha="left", va="bottom",
                  fontsize=style.SMALL_PT - 1, color=style.GREY)  # fmt: skip
    axes.set_xlabel("generalizability of scale scores over models (1: the same with other items)")
    axes.set_ylabel("skill in predicting people (1: certain)")
    style.finish(figure, title, caption, handles, 3, planted)
    figure.draw_without_rendering()
    once = measured.drop_duplicates("name")
    names = [Name(*_place(row), short(str(row["name"])), gid="scale") for row in records(once)]
    write_names(axes, names, strokes)
    return figure


def _draw_points(axes: Axes, measured: pd.DataFrame) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Points with their lines, which are returned so that names keep off them."""
    strokes = []
    look: style.Keywords = {"lw": 0.8, "alpha": 0.6} if measured["name"].nunique() <= FEW else {"lw": 0.5, "alpha": 0.3}
    for row in records(measured):
        x, y = _place(row)
        for name, is_across in (("generalizability", True), ("skill", False)):
            ends = np.array([row.get(f"{name}_low"), row.get(f"{name}_high")], dtype=float)
            if not np.isfinite(ends).all():
                continue
            low, high = np.clip(ends, 0, 1) if is_across else np.clip(ends, LOWEST, 1)
            pair = ((low, y), (high, y)) if is_across else ((x, low), (x, high))
            axes.plot(*zip(*pair, strict=True), color=style.BLUE, zorder=2, **look)
            strokes.append(pair)
        axes.plot([x], [y], ls="", marker="o", color=style.BLUE, markersize=6, zorder=4, clip_on=False,
                  markerfacecolor=HISTORIES.get(str(row["history"]), "white"),
                  gid=f"point {row['history']} {row['name']}")  # fmt: skip
    skills = np.concatenate([column(measured, f"skill{end}").dropna().astype(float) for end in ("", "_low", "_high")])
    axes.set_xlim(LEFT, 1.06)
    axes.set_ylim(max(LOWEST, min(-0.25, float(skills.min()) - 0.1)), 1.04)
    return strokes


def _place(row: dict[str, float]) -> tuple[float, float]:
    return float(row["generalizability"]), max(LOWEST, float(row["skill"]))
