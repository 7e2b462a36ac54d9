"""A number for every row and column of a table, as shades: coverage, means, errors."""

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from valuesassets.figures import style

MISSING_HATCH = "////"


@style.styled
def draw_matrix(table: pd.DataFrame, title: str, label: str | tuple[str, str], planted: bool = False) -> Figure:
    """The table as a heat map with its rows and columns named; what is null is hatched.

    Args:
        table: numbers; its index and columns are written as they are.
        label: what the numbers are, with their unit; of a table of 0 and 1, what each of the two means.
    """
    values = table.to_numpy(float)
    n_rows, n_columns = values.shape
    rows_in = style.axes_height(n_rows, 0.16 if n_rows > 14 else 0.24, 0.8, 6.4)
    names = [str(name) for name in table.columns]
    figure = style.new_figure(height_in=rows_in + style.upright_height(names, style.SMALL_PT - 1) + 1.4)
    axes = figure.add_subplot()
    is_two = isinstance(label, tuple)
    colors = ListedColormap([style.VERMILLION, style.tint(style.BLUE)]) if is_two else colormaps[style.COLOR_MAP]
    limits = (0, 1) if is_two else (None, None)
    shown = axes.pcolormesh(
        np.ma.masked_invalid(values), cmap=colors, vmin=limits[0], vmax=limits[1], edgecolor="white", lw=0.4
    )
    for row, column in zip(*np.nonzero(np.isnan(values)), strict=True):
        axes.add_patch(
            Rectangle((column, row), 1, 1, facecolor="white", edgecolor=style.GREY, hatch=MISSING_HATCH, lw=0)
        )
    axes.set_xlim(0, n_columns)
    axes.set_ylim(n_rows, 0)
    places, labels = style.thin_ticks(names, most=40)
    axes.set_xticks([place + 0.5 for place in places], labels, rotation=90, fontsize=style.SMALL_PT - 1)
    axes.set_yticks(np.arange(n_rows) + 0.5, [str(name) for name in table.index], fontsize=style.SMALL_PT)
    axes.tick_params(length=0)
    style.write_heading(figure, title, planted)
    handles = []
    if isinstance(label, tuple):
        handles += [Patch(facecolor=colors(float(value)), label=label[value]) for value in (1, 0)]
    else:
        figure.colorbar(shown, ax=axes, fraction=0.05, aspect=30).set_label(label, fontsize=style.SMALL_PT)
    if np.isnan(values).any():
        handles.append(Patch(facecolor="white", edgecolor=style.GREY, hatch=MISSING_HATCH, label="none"))
    style.write_footer(figure, handles=handles, planted=planted)
    return figure
