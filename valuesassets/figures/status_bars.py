"""Bars of shares by status: each status with a colour and a hatch of its own."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from valuesassets.figures import style

COLORS = (style.VERMILLION, style.BLUE, style.ORANGE, style.PURPLE, style.GREEN, style.SKY, style.BLACK, style.GREY)
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo", "****")
LEAST_SHARE = 0.01
"""The axis reaches this far where there is next to nothing."""


def status_looks(statuses: Sequence[str]) -> Mapping[str, style.Keywords]:
    """A colour and a hatch for each status; the ninth has the first colour and another hatch."""
    n = len(COLORS)
    return {
        name: {
            "facecolor": COLORS[place % n],
            "hatch": HATCHES[(place + place // n) % n],
            "edgecolor": "white",
            "lw": 0,
        }
        for place, name in enumerate(statuses)
    }


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
