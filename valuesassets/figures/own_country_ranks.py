"""Own-country advantage of each cell, and the rank of its own country."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.marks import draw_dots, family_marks, mark, name_rows, write_beside
from valuesassets.records.frames import records, rows, rows_where

MOST_ACROSS = 3
ADVANTAGE = "own_country_advantage"
DIVERGENCES = {
    "jsd": "Jensen-Shannon divergence from the other countries minus that from the own, in bits, corrected for sample "
    "sizes",
    "cramer": "squared Cramér distance from the other countries minus that from the own, corrected for the "
    "numbers of people and draws",
}
NULL_MARKS = {"uniform answers": "|", "always the first option": "x"}
"""Null answers that are drawn beside every cell."""


@style.styled
def draw_own_country_ranks(
    cells: pd.DataFrame, families: pd.DataFrame | None = None, planted: bool = False, distance: str = "jsd"
) -> Figure:
    """Own-country advantage of every cell with its interval, one panel per family, the own country's rank at the right.

    Args:
        cells: rows of `human_comparison/cells`; null families and null answers have kind null.
        families: rows of `human_comparison/own_country`, said under the figure.
    """
    measured = rows(cells, cells[ADVANTAGE].notna())
    names = [name for name in dict.fromkeys(measured["model"]) if name not in NULL_MARKS]
    countries = {row["language"]: row["country"] for row in records(rows(measured, measured["model"].isin(names)))}
    looks = style.looks(names)
    across = min(MOST_ACROSS, len(names))
    down = -(-len(names) // across)
    figure = style.new_figure(height_in=1.4 + down * (0.7 + 0.2 * len(countries)))
    panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, name in zip(panels, names, strict=False):
        _draw_family(axes, name, looks[name], measured, list(countries))
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    for axes in panels[::across]:
        labels = [f"{language} ({country})" for language, country in countries.items()]
        name_rows(axes, labels, style.SMALL_PT, above=1.1)
    nulls = {name: marker for name, marker in NULL_MARKS.items() if name in set(measured["model"])}
    handles = family_marks(looks, ls="-", markersize=5)
    handles += [mark(name, marker, style.GREY, markersize=5) for name, marker in nulls.items()]
    notes = [
        f"Own-country advantage: mean {DIVERGENCES[distance]}. Bars: interval over items. At the right: rank of the "
        "own country, 1 the nearest.",
        *(
            f"{row['model']}: mean rank {row['mean_rank']:.1f}, by chance {row['mean_rank_by_chance']:.1f}."
            for row in (records(families) if families is not None else [])
            if pd.notna(row["mean_rank"])
        ),
    ]
    title = "Are answers nearer to the own country's people than to others'?"
    return style.finish(figure, title, notes, handles, planted=planted)


def _draw_family(axes: Axes, name: str, look: style.Look, measured: pd.DataFrame, languages: list[str]) -> None:
    places = np.arange(len(languages))
    for null, marker in NULL_MARKS.items():
        null_values = rows_where(measured, model=null).set_index("language").reindex(languages)[ADVANTAGE]
        axes.plot(null_values, places, ls="", marker=marker, color=style.GREY, markersize=5, gid=f"{name} {null}")
    of_family = rows_where(measured, model=name).set_index("language").reindex(languages)
    draw_dots(axes, places, of_family, ADVANTAGE, look.color, look.marker, size=5, gid=name)
    axes.axvline(0, color=style.BLACK, lw=1)
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=5)
    axes.set_title(name, fontsize=style.BODY_PT)
    axes.set_xlabel("own-country advantage", fontsize=style.SMALL_PT)
    write_beside(axes, -0.85, "rank", style="italic")
    for place, row in enumerate(records(of_family)):
        if pd.notna(row["own_country_rank"]):
            write_beside(axes, place, f"{row['own_country_rank']:g}/{row['n_countries']:.0f}")
