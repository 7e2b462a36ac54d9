"""What several figures draw alike: named rows, dots with intervals, entries of a legend, heat maps of cells."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import ArrayLike

from valuesassets.figures import style
from valuesassets.measure.arrays import Array

HATCH = "////"
"""Of what is missing."""
LANGUAGE_IN = 0.36
"""Room for three letters between a family's name and the rows."""
GAP_PT = 0.4
"""Between cells."""
MOST_NAMED = 40


def mark(label: str, marker: str | None, color: str, **look: Any) -> Line2D:
    """A legend's entry for marks; with `ls="-"` for marks on a line."""
    return Line2D([], [], **{"ls": "", "marker": marker, "color": color, "label": label} | look)


def family_marks(looks: Mapping[str, style.Look], **look: Any) -> list[Line2D]:
    """A legend's entries for families."""
    return [mark(name, each.marker, each.color, **look) for name, each in looks.items()]


def rule(label: str, color: str, ls: str = "-", lw: float = 1) -> Line2D:
    """A legend's entry for a line without marks."""
    return Line2D([], [], color=color, ls=ls, lw=lw, label=label)


def missing(label: str) -> Patch:
    """A legend's entry for what is hatched because it is not there."""
    return Patch(facecolor="white", edgecolor=style.GREY, hatch=HATCH, label=label)


def name_rows(
    axes: Axes,
    names: Sequence[str],
    size_pt: float = style.BODY_PT - 1,
    above: float = 0.6,
    below: float = 0.6,
    has_grid: bool = True,
    has_names: bool = True,
) -> None:
    """Rows at 0, 1, ... from the top, named at the left; upright lines of a grid run through them.

    Args:
        above, below: room beyond the middle of the first and the last row, in rows.
        has_names: whether the names are written; not where a panel at the left has them.
    """
    written = names if has_names else []
    axes.set_yticks(np.arange(len(written)), written, fontsize=size_pt)
    axes.set_ylim(max(len(names), 1) - 1 + below, -above)
    axes.tick_params(axis="y", length=0)
    if has_grid:
        axes.grid(visible=True, axis="x")


def draw_dots(
    axes: Axes,
    places: ArrayLike,
    frame: pd.DataFrame,
    name: str,
    color: str,
    marker: str = "o",
    size: float = 6,
    lw: float = 1.4,
    line: str | None = None,
    **look: Any,
) -> None:
    """A dot per row of a frame at column `name`, and a line from `<name>_low` to `<name>_high` where there are such.

    Nulls are left out.
    """
    middle = frame[name].astype(float)
    if f"{name}_low" in frame:
        low, high = (frame[f"{name}{end}"].astype(float).where(middle.notna()) for end in ("_low", "_high"))
        axes.hlines(places, low, high, color=line or color, lw=lw)
    axes.plot(middle, places, ls="", marker=marker, color=color, markersize=size, **look)


def shift(number: int, count: int, step: float) -> float:
    """How far the marks of one of several families stand from the middle of their row."""
    return (number - (count - 1) / 2) * step


def write_beside(axes: Axes, place: float, text: str, size_pt: float = style.SMALL_PT - 1, **look: Any) -> None:
    """A small text at the right of a row."""
    axes.text(
        1.02, place, text, transform=axes.get_yaxis_transform(), fontsize=size_pt, **style.Keywords(va="center") | look
    )


def say_nothing(axes: Axes) -> None:
    """Say in an empty panel that there is nothing to show."""
    axes.text(0.5, 0.5, "not available", transform=axes.transAxes, ha="center", style="italic")
    axes.set_xticks([])


def draw_heat(
    figure: Figure, axes: Axes, values: Array, limits: tuple[float, float], label: str, **bar: Any
) -> Colorbar:
    """A shade per value, rows from the top, on a hatched ground that shows where there is none, and its colour bar.

    Args:
        limits: values of the darkest and the lightest shade.
        label: of the colour bar.
    """
    n_rows, n_columns = values.shape
    axes.patch.set(hatch=HATCH, edgecolor=style.GREY, facecolor="white")
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(values), cmap=style.COLOR_MAP, vmin=limits[0], vmax=limits[1], rasterized=values.size > 400
    )
    axes.set(xlim=(0, n_columns), ylim=(n_rows, 0), autoscale_on=False)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    drawn = figure.colorbar(mesh, ax=axes, pad=0.01, fraction=0.04, aspect=25, **bar)
    drawn.set_label(label)
    return drawn


def write_values(axes: Axes, values: Array, limits: tuple[float, float], size_pt: float) -> None:
    """Each value in its cell, in the ink that its shade asks for: two decimals without the leading 0, one from 1 on."""
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            share = float(np.clip((value - limits[0]) / (limits[1] - limits[0]), 0, 1))
            ink = style.ink_on(colormaps[style.COLOR_MAP](share))
            text = f"{value:.2f}".removeprefix("0") if value < 0.995 else f"{value:.1f}"
            axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink, fontsize=size_pt)


def name_columns(axes: Axes, names: Sequence[str], middle: float = 0.5) -> str:
    """Write the names of as many questions as can be read, upright, and give the axis' label for them.

    Args:
        middle: of the first column; the others follow at a distance of 1.
    """
    step = max(1, -(-len(names) // MOST_NAMED))
    places = middle + np.arange(0, len(names), step)
    axes.set_xticks(places, names[::step], rotation=90, fontsize=style.SMALL_PT - 1)
    return "question" if step == 1 else f"question (one in {step} named)"


def label_rows(axes: Axes, cells: Sequence[tuple[str, str]], row_in: float) -> None:
    """Names of the rows at .5, 1.5, ...: grouped by family where each family's name fits beside its rows.

    Args:
        axes: rows run downwards; its limits are set.
        cells: (family, language) from the top.
        row_in: height of a row in inches.
    """
    size_pt = row_pt(row_in)
    places = np.arange(len(cells)) + 0.5
    groups = [(family, len(list(group))) for family, group in groupby(cells, key=lambda cell: cell[0])]
    if any(style.upright_height([family], style.SMALL_PT) > count * row_in for family, count in groups):
        axes.set_yticks(places, [f"{family} {language}" for family, language in cells], fontsize=size_pt)
        return
    axes.set_yticks(places, [language for _, language in cells], fontsize=size_pt)
    top = 0
    for family, count in groups:
        axes.annotate(
            family, (0, top + count / 2), xycoords=axes.get_yaxis_transform(), xytext=(-72 * LANGUAGE_IN, 0),
            textcoords="offset points", rotation=90, ha="right", va="center", fontsize=style.SMALL_PT,
            annotation_clip=False, gid="family",
        )  # fmt: skip
        top += count


def family_ends(cells: Sequence[tuple[str, str]]) -> list[int]:
    """The rows at which another family begins."""
    return [row for row in range(1, len(cells)) if cells[row][0] != cells[row - 1][0]]


def row_pt(row_in: float) -> float:
    """Size of the letters that a row of this height holds, at most the body's."""
    return float(np.clip(0.8 * 72 * row_in, style.SMALL_PT - 2, style.BODY_PT - 1))
