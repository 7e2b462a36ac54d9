"""Bars of shares by status: each status with a colour and a hatch of its own."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.backgrounds import legend_in, short
from valuesassets.figures.marks import name_rows, row_pt, say_nothing, write_beside

COLORS = (style.VERMILLION, style.BLUE, style.ORANGE, style.PURPLE, style.GREEN, style.SKY, style.BLACK, style.GREY)
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo", "****")
LEAST_SHARE = 0.01
"""The axis reaches this far where there is next to nothing."""
MOST_ROWS = 48
"""Maximum number of rows; those with the largest losses are drawn."""


def status_looks(statuses: Sequence[str]) -> Mapping[str, style.Keywords]:
    """A colour and a hatch for each status; the ninth has the first colour and another hatch."""
    n, looks = len(COLORS), {}
    for place, name in enumerate(statuses):
        hatch = HATCHES[(place + place // n) % n]
        looks[name] = style.Keywords(facecolor=COLORS[place % n], hatch=hatch, edgecolor="white", lw=0)
    return looks


def status_handles(looks: Mapping[str, style.Keywords]) -> list[Patch]:
    """A legend's entries for statuses."""
    return [Patch(label=name.replace("_", " "), **look) for name, look in looks.items()]


def draw_shares(axes: Axes, shares: pd.DataFrame, looks: Mapping[str, style.Keywords]) -> None:
    """A bar for each row, made of the shares of its statuses; the axis is in percent.

    Args:
        shares: (rows, statuses); a part of a bar is called `<status> <row>`.
    """
    left = np.zeros(len(shares))
    for name, look in looks.items():
        width = shares[name].to_numpy(float)
        bars = axes.barh(range(len(shares)), width, left=left, height=0.72, **look)
        for number, bar in enumerate(bars):
            bar.set_gid(f"{name} {shares.index[number]}")
        left += width
    axes.set_xlim(0, max(LEAST_SHARE, float(left.max()) * 1.03))
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")


def draw_losses(
    shares: pd.DataFrame, words: Sequence[str], things: str, label: str, title: str, planted: bool
) -> Figure:
    """A figure with a bar for each row, its name at the left and words at the right; the worst rows where many lose.

    Args:
        shares: (rows, statuses), see `draw_shares`; the index names the rows.
        things: what the rows are, for the note on those that are left out.
        label: of the axis.
    """
    places, notes = np.arange(len(shares)), []
    if len(shares) > MOST_ROWS:
        places = np.argsort(-shares.sum(axis=1).to_numpy(), kind="stable")[:MOST_ROWS]
        notes = [f"The {MOST_ROWS} of {len(shares)}{things} with the largest losses; the table has all of them."]
    drawn = shares.iloc[places]
    looks = status_looks(list(shares.columns))
    handles = status_handles(looks)
    row_in = 0.17 if len(drawn) > 12 else 0.24
    figure = style.new_figure(height_in=1.3 + row_in * max(2, len(drawn)) + legend_in(handles, 4))
    axes = figure.add_subplot()
    if not len(drawn):
        say_nothing(axes)
        axes.set_yticks([])
    else:
        draw_shares(axes, drawn, looks)
        name_rows(axes, [short(str(name), 44) for name in drawn.index], row_pt(row_in))
        for row, place in enumerate(places):
            write_beside(axes, row, words[place])
        axes.set_xlabel(label)
    return style.finish(figure, title, notes, handles, 4, planted)
