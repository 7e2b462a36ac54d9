"""One number per name, as bars: respondents per country, the size of weights, what is answered most."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from valuesassets.figures import style

MOST_BARS = 40


@style.styled
def draw_bars(numbers: Mapping[str, float], title: str, label: str, planted: bool = False) -> Figure:
    """A bar for each name, its number beside it; the first forty where there are more, and a note says so.

    Args:
        numbers: by name, in the order in which they are shown.
        label: what the numbers are, with their unit.
    """
    shown = dict(list(numbers.items())[:MOST_BARS])
    figure = style.new_figure(height_in=style.axes_height(len(shown), 0.22, 0.8, 7) + 1.1)
    axes = figure.add_subplot()
    places, values = np.arange(len(shown)), np.array(list(shown.values()), float)
    bars = axes.barh(places, values, color=style.BLUE, height=0.7)
    axes.bar_label(bars, [f"{value:,.4g}" for value in values], padding=3, fontsize=style.SMALL_PT)
    axes.set_yticks(places, list(shown), fontsize=style.SMALL_PT)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.margins(x=0.12)
    axes.set_xlabel(label)
    style.write_heading(figure, title, planted)
    left_out = len(numbers) - len(shown)
    style.write_footer(figure, [f"{left_out} more are not shown."] if left_out else [], planted=planted)
    return figure
