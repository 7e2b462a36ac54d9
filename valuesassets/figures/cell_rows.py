"""Rows of a picture that are cells: the language at each row, the family once beside its rows."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from matplotlib.axes import Axes

from valuesassets.figures import style

LANGUAGE_IN = 0.36
"""Room for three letters between a family's name and the rows."""


def label_rows(axes: Axes, cells: Sequence[tuple[str, str]], row_in: float) -> None:
    """Names of the rows at .5, 1.5, ...: grouped by family where each family's name fits beside its rows.

    Args:
        axes: rows run downwards; its limits are set.
        cells: (family, language) from the top.
        row_in: height of a row in inches.
    """
    size_pt = row_pt(row_in)
    axes.tick_params(axis="y", length=0)
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


def row_pt(row_in: float) -> float:
    """Size of the letters that a row of this height holds, at most the body's."""
    return float(np.clip(0.8 * 72 * row_in, style.SMALL_PT - 2, style.BODY_PT - 1))
