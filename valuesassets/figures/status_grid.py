"""A field per item in the order of the questionnaire, its shade telling what became of it."""

import math
from collections import Counter
from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from valuesassets.figures import style

PER_ROW = 24


@style.styled
def draw_status_grid(statuses: Mapping[str, str], good: str, title: str) -> Figure:
    """Fields row by row; the good ones pale, every other status in its own look and named.

    Args:
        statuses: what became of each item, by its id.
        good: the status that needs nobody's eye.
    """
    others = sorted(set(statuses.values()) - {good})
    looks = style.looks(others)
    n_rows = math.ceil(len(statuses) / PER_ROW) or 1
    figure = style.new_figure(height_in=0.26 * n_rows + 1.0)
    axes = figure.add_subplot()
    for place, (name, status) in enumerate(statuses.items()):
        row, column = divmod(place, PER_ROW)
        look = looks.get(status)
        axes.add_patch(
            Rectangle(
                (column + 0.04, row + 0.06),
                0.92,
                0.88,
                facecolor=style.tint(look.color) if look else style.PALE,
                edgecolor=look.color if look else "white",
                hatch=look.hatch if look else "",
                gid=status,
            )
        )
        axes.text(column + 0.5, row + 0.52, name, ha="center", va="center", fontsize=style.SMALL_PT - 2.5)
    axes.set_xlim(0, PER_ROW)
    axes.set_ylim(n_rows, 0)
    axes.set_axis_off()
    counts = Counter(statuses.values())
    handles = [Patch(facecolor=style.PALE, label=f"{good} ({counts[good]})")] + [
        Patch(
            facecolor=style.tint(looks[name].color),
            edgecolor=looks[name].color,
            hatch=looks[name].hatch,
            label=f"{name} ({counts[name]})",
        )
        for name in others
    ]
    style.write_heading(figure, title)
    style.write_footer(figure, handles=handles)
    return figure
