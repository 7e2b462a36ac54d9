"""How numbers spread within groups: a mark for each, the median as a line."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from valuesassets.figures import style

GOLDEN = 0.618033988749895
"""Shares of it, taken modulo 1, lie evenly: marks are set apart without chance."""


@style.styled
def draw_spread(groups: Mapping[str, Sequence[float]], title: str, label: str, planted: bool = False) -> Figure:
    """A row of marks for each group, one mark per number, and the group's median.

    Args:
        groups: numbers by name; those that are null are left out, and counted in a note.
        label: what the numbers are, with their unit.
    """
    figure = style.new_figure(height_in=style.axes_height(len(groups), 0.42, 0.9, 7) + 1.1)
    axes = figure.add_subplot()
    n_null = 0
    for row, numbers in enumerate(groups.values()):
        values = np.asarray(numbers, float)
        n_null += int(np.isnan(values).sum())
        values = values[~np.isnan(values)]
        apart = (np.arange(len(values)) * GOLDEN % 1 - 0.5) * 0.6
        axes.plot(values, row + apart, "o", color=style.BLUE, markersize=3, alpha=0.5, markeredgewidth=0)
        if len(values):
            axes.plot(np.full(2, np.median(values)), [row - 0.38, row + 0.38], color=style.VERMILLION, lw=2)
    names = [f"{name} ({len(numbers)})" for name, numbers in groups.items()]
    axes.set_yticks(np.arange(len(groups)), names, fontsize=style.SMALL_PT)
    axes.set_ylim(len(groups) - 0.4, -0.6)
    axes.set_xlabel(label)
    axes.grid(axis="x")
    style.write_heading(figure, title, planted)
    notes = ["Line: median."] + ([f"{n_null} could not be read and are not shown."] if n_null else [])
    style.write_footer(figure, [" ".join(notes)], planted=planted)
    return figure
