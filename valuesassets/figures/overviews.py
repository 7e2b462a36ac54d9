"""Plain figures that give a first look at a table or a form: bars, spreads, a matrix, fields, places on pages."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from valuesassets.figures import style
from valuesassets.figures.marks import GAP_PT, HATCH, missing, name_columns

MOST_BARS = 40
GOLDEN = 0.618033988749895
"""Multiples of it modulo 1 are evenly spread: marks are jittered without randomness."""
FIELDS_PER_ROW, PAGES_PER_ROW = 24, 12
PAGE = (595.0, 842.0)
"""Width and height of A4 in points; a form of another size is drawn in the least page that holds its frames."""

Box = tuple[float, float, float, float]


@style.styled
def draw_bars(numbers: Mapping[str, float], title: str, label: str, planted: bool = False) -> Figure:
    """A bar for each name, its number beside it; the first forty where there are more, and a note says so.

    Args:
        numbers: by name, in the order in which they are shown.
        label: what the numbers are, with their unit.
    """
    drawn = dict(list(numbers.items())[:MOST_BARS])
    figure = style.new_figure(height_in=style.axes_height(len(drawn), 0.22, 0.8, 7) + 1.1)
    axes = figure.add_subplot(xlabel=label, ylim=(len(drawn) - 0.4, -0.6))
    places, values = np.arange(len(drawn)), np.array(list(drawn.values()), float)
    bars = axes.barh(places, values, color=style.BLUE, height=0.7)
    axes.bar_label(bars, [f"{value:,.4g}" for value in values], padding=3, fontsize=style.SMALL_PT)
    axes.set_yticks(places, list(drawn), fontsize=style.SMALL_PT)
    axes.margins(x=0.12)
    left_out = len(numbers) - len(drawn)
    return style.finish(figure, title, [f"{left_out} more are not shown."] if left_out else [], planted=planted)


@style.styled
def draw_spread(groups: Mapping[str, Sequence[float]], title: str, label: str, planted: bool = False) -> Figure:
    """A row of marks for each group, one mark per number, and the group's median.

    Args:
        groups: numbers by name; those that are null are left out, and counted in a note.
        label: what the numbers are, with their unit.
    """
    figure = style.new_figure(height_in=style.axes_height(len(groups), 0.42, 0.9, 7) + 1.1)
    axes = figure.add_subplot(xlabel=label)
    n_null = 0
    for row, numbers in enumerate(groups.values()):
        values = np.asarray(numbers, float)
        n_null += int(np.isnan(values).sum())
        values = values[~np.isnan(values)]
        jitter = (np.arange(len(values)) * GOLDEN % 1 - 0.5) * 0.6
        axes.plot(values, row + jitter, "o", color=style.BLUE, markersize=3, alpha=0.5, markeredgewidth=0)
        if len(values):
            axes.plot(np.full(2, np.median(values)), [row - 0.38, row + 0.38], color=style.VERMILLION, lw=2)
    names = [f"{name} ({len(numbers)})" for name, numbers in groups.items()]
    axes.set_yticks(np.arange(len(groups)), names, fontsize=style.SMALL_PT)
    axes.set_ylim(len(groups) - 0.4, -0.6)
    axes.grid(axis="x")
    note = "Line: median." + (f" {n_null} could not be read and are not shown." if n_null else "")
    return style.finish(figure, title, [note], planted=planted)


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
    low, high = (0, 1) if is_two else (None, None)
    mesh = axes.pcolormesh(np.ma.masked_invalid(values), cmap=colors, vmin=low, vmax=high, edgecolor="white", lw=GAP_PT)
    for row, column in np.argwhere(np.isnan(values)):
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor="white", edgecolor=style.GREY, hatch=HATCH, lw=0))
    axes.set(xlim=(0, n_columns), ylim=(n_rows, 0))
    name_columns(axes, names)
    axes.set_yticks(np.arange(n_rows) + 0.5, [str(name) for name in table.index], fontsize=style.SMALL_PT)
    axes.tick_params(length=0)
    handles = []
    if isinstance(label, tuple):
        handles += [Patch(facecolor=colors(float(value)), label=label[value]) for value in (1, 0)]
    else:
        figure.colorbar(mesh, ax=axes, fraction=0.05, aspect=30).set_label(label, fontsize=style.SMALL_PT)
    handles += [missing("none")] if np.isnan(values).any() else []
    return style.finish(figure, title, handles=handles, planted=planted)


@style.styled
def draw_status_grid(statuses: Mapping[str, str], good: str, title: str) -> Figure:
    """A field per item, row by row; the good ones pale, every other status in its own look and named.

    Args:
        statuses: what became of each item, by its id.
        good: the status that needs nobody's eye.
    """
    counts = Counter(statuses.values())
    looks: dict[str, style.Keywords] = {good: {"facecolor": style.PALE, "edgecolor": "white"}}
    for status, look in style.looks(set(counts) - {good}).items():
        looks[status] = {"facecolor": style.tint(look.color), "edgecolor": look.color, "hatch": look.hatch}
    n_rows = math.ceil(len(statuses) / FIELDS_PER_ROW) or 1
    figure = style.new_figure(height_in=0.26 * n_rows + 1.0)
    axes = figure.add_subplot(xlim=(0, FIELDS_PER_ROW), ylim=(n_rows, 0))
    axes.set_axis_off()
    for place, (name, status) in enumerate(statuses.items()):
        row, column = divmod(place, FIELDS_PER_ROW)
        axes.add_patch(Rectangle((column + 0.04, row + 0.06), 0.92, 0.88, gid=status, **looks[status]))
        axes.text(column + 0.5, row + 0.52, name, ha="center", va="center", fontsize=style.SMALL_PT - 2.5)
    looks[good] = {"facecolor": style.PALE}
    handles = [Patch(label=f"{status} ({counts[status]})", **look) for status, look in looks.items()]
    return style.finish(figure, title, handles=handles)


@style.styled
def draw_page_boxes(
    boxes: Sequence[tuple[str, int, Box]], n_pages: int, doubtful: Collection[str], title: str
) -> Figure:
    """Every page of a form as a sheet with a frame where each question was found, the doubtful ones marked.

    Args:
        boxes: question id, page (from 1) and left, top, right, bottom in points from the page's top left.
        doubtful: ids of the questions that fail a check.
    """
    width = max([PAGE[0], *(box[2] for _, _, box in boxes)])
    height = max([PAGE[1], *(box[3] for _, _, box in boxes)])
    n_columns = min(PAGES_PER_ROW, n_pages)
    n_rows = math.ceil(n_pages / n_columns)
    sheet_in = style.PAGE_WIDTH_IN / PAGES_PER_ROW
    figure = style.new_figure(height_in=n_rows * sheet_in * 1.12 * height / width + 0.9)
    step_x, step_y = width * 1.08, height * 1.1
    across, along = (-width * 0.02, n_columns * step_x), (n_rows * step_y + height * 0.03, -height * 0.02)
    axes = figure.add_subplot(aspect="equal", xlim=across, ylim=along)
    axes.set_axis_off()
    for page in range(n_pages):
        left, top = page % n_columns * step_x, page // n_columns * step_y
        axes.add_patch(Rectangle((left, top), width, height, facecolor="white", edgecolor=style.GREY))
        axes.text(left + width / 2, top + height * 1.01, str(page + 1), ha="center", va="top", fontsize=5)
    colors = {"sound": style.BLUE, "in doubt": style.VERMILLION}
    looks: dict[str, style.Keywords] = {
        name: {"facecolor": style.tint(color), "edgecolor": color} for name, color in colors.items()
    }
    for name, page, (left, top, right, bottom) in boxes:
        row, column = divmod(page - 1, n_columns)
        place = (column * step_x + left, row * step_y + top)
        look = looks["in doubt" if name in doubtful else "sound"]
        axes.add_patch(Rectangle(place, right - left, bottom - top, lw=0.8, gid=name, **look))
    n_doubtful = sum(name in doubtful for name, _, _ in boxes)
    handles = [Patch(label=f"found, sound ({len(boxes) - n_doubtful})", **looks["sound"])]
    handles += [Patch(label=f"found, in doubt ({n_doubtful})", **looks["in doubt"])] if n_doubtful else []
    return style.finish(figure, title, handles=handles)
