"""How far the cells' answers lie apart: the matrix of Jensen-Shannon distances."""

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from valuesassets.figures import style
from valuesassets.figures.cell_rows import label_rows, row_pt

SIDE_IN = 5.75
"""Of the matrix in a full page's width, beside its names and the colour bar."""


@style.styled
def draw_jsd_heatmap(pairs: pd.DataFrame, planted: bool = False) -> Figure:
    """Jensen-Shannon distance between every two cells, mean over the items that both answered.

    Args:
        pairs: columns model_a, language_a, model_b, language_b, jsd_distance in [0, 1] (null where there is none) and
            n_items; every ordered pair of cells, in the order in which they shall stand within their family.
        planted: whether the answers are planted.
    """
    families = list(dict.fromkeys(pairs["model_a"]))
    cells = list(dict.fromkeys(zip(pairs["model_a"], pairs["language_a"], strict=True)))
    cells.sort(key=lambda cell: families.index(cell[0]))
    index = pd.MultiIndex.from_tuples(cells)
    wide = pairs.pivot(index=["model_a", "language_a"], columns=["model_b", "language_b"], values="jsd_distance")
    values = wide.reindex(index=index, columns=index).to_numpy(dtype=float)
    size = len(cells)
    side_in = min(SIDE_IN, 0.5 * size + 1)
    figure = style.new_figure(height_in=side_in + 1.35)
    axes = figure.add_subplot()
    axes.patch.set(hatch="////", edgecolor=style.GREY, facecolor="white")
    low, high = _span_of_colours(values)
    mesh = axes.pcolormesh(
        np.ma.masked_invalid(values), cmap=style.COLOR_MAP, vmin=low, vmax=high, rasterized=size > 20
    )
    if size <= 14:
        for (row, column), value in np.ndenumerate(values):
            if np.isfinite(value):
                ink = style.ink_on(colormaps[style.COLOR_MAP](float(np.clip((value - low) / (high - low), 0, 1))))
                text = f"{value:.2f}".removeprefix("0")
                axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink, fontsize=style.SMALL_PT)
    starts = [n for n in range(1, size) if cells[n][0] != cells[n - 1][0]]
    axes.hlines(starts, 0, size, color="white", lw=2)
    axes.vlines(starts, 0, size, color="white", lw=2)
    axes.invert_yaxis()
    label_rows(axes, cells, side_in / size)
    axes.set_xticks(
        np.arange(size) + 0.5, [language for _, language in cells], rotation=90, fontsize=row_pt(side_in / size)
    )
    axes.set_aspect("equal")
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(mesh, ax=axes, pad=0.01, fraction=0.04, aspect=25, extend="min" if low > 0 else "neither")
    bar.set_label("Jensen-Shannon distance (root of the divergence in bits)")
    style.write_heading(figure, "How far the cells' answers lie apart", planted)
    others = pairs.loc[pairs["n_items"] > 0, "n_items"]
    notes = (
        [f"Mean over {_span(others)} items per pair; columns stand in the order of the rows."] if len(others) else []
    )
    missing = [Patch(facecolor="white", edgecolor=style.GREY, hatch="////", label="no common items")]
    style.write_footer(figure, notes, missing if np.isnan(values).any() else (), planted=planted)
    return figure


def _span_of_colours(values: NDArray[np.float64]) -> tuple[float, float]:
    """From the least distance between two cells to the largest: the zeros of the diagonal take no room."""
    apart = values[~np.eye(len(values), dtype=bool)]
    known = apart[np.isfinite(apart)]
    if not known.size or known.max() == 0:
        return 0.0, 1.0
    return (float(known.min()), float(known.max())) if known.min() < known.max() else (0.0, float(known.max()))


def _span(counts: pd.Series) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"
