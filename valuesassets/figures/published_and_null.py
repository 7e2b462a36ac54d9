"""Published scores and their null values, which arise without any culture."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.backgrounds import is_missing, legend_in
from valuesassets.figures.marks import mark, name_rows, say_nothing, shift, write_beside
from valuesassets.figures.panels import is_crowd, looks_of, model_handles
from valuesassets.records.frames import column, records, rows, rows_where

ROW_IN = 0.34
"""Height of a row of one model; each more adds to it."""
MOST_ROW_IN = 0.9
OF_LANGUAGES = (
    "Null: the same formula applied to the questions themselves, which mean the same in every language; for csp, to "
    "answers with a country that are permuted among questions."
)


@style.styled
def draw_published_and_null(
    scores: pd.DataFrame,
    planted: bool = False,
    *,
    title: str = "Published scores, compared with those of translations and arbitrary answers",
    meaning: str = OF_LANGUAGES,
    label: str = "score",
    most: float = 1.0,
) -> Figure:
    """A row for each published score: a dot for each model, and beside it the bar of its null.

    Args:
        scores: `model`, `score`, `value`, `null` (what it gives without culture), null where it has none.
        meaning: what the nulls are.
        label: of the axis.
        most: the axis reaches from 0 to this, or further where scores do.
    """
    measured = rows(scores, scores["value"].notna())
    looks = looks_of(column(measured, "model"))
    names = [str(name) for name in dict.fromkeys(scores["score"])]
    handles = model_handles(looks, markersize=5)
    handles += [mark("its null", "|", style.BLACK, markersize=10, markeredgewidth=1.8)] if looks else []
    row_in = min(MOST_ROW_IN, ROW_IN + 0.09 * (len(looks) - 1))
    figure = style.new_figure(height_in=1.75 + row_in * max(2, len(names)) + legend_in(handles, 3))
    axes = figure.add_subplot()
    if not len(measured):
        say_nothing(axes)
        axes.set_yticks([])
    else:
        _draw_scores(axes, measured, names, looks)
        name_rows(axes, [name.replace("_", " ") for name in names])
        lacking = {name: len(rows(scores, (scores["score"] == name) & scores["value"].isna())) for name in names}
        for place, n in enumerate(lacking.values()):
            if n:
                write_beside(axes, place, f"none in {n}")
        values = measured[["value", "null"]].to_numpy(float)
        values = values[np.isfinite(values)]
        low, high = min(0.0, float(values.min())), max(most, float(values.max()))
        high = high if high > low else low + 1
        axes.set_xlim(low - 0.03 * (high - low), high + 0.03 * (high - low))
        axes.set_xlabel(label)
    caption = f"{meaning} A score is worth as much as it differs from its null."
    return style.finish(figure, title, [caption], handles, 3, planted)


def _draw_scores(axes: Axes, measured: pd.DataFrame, names: Sequence[str], looks: Mapping[str, style.Look]) -> None:
    step, size = min(0.2, 0.62 / max(1, len(looks))), 3.5 if is_crowd(looks) else 5.5
    for number, (model, look) in enumerate(looks.items()):
        for row in records(rows_where(measured, model=model)):
            _draw_pair(axes, row, names.index(row["score"]) + shift(number, len(looks), step), look, size)
    axes.axvline(0, color=style.PALE, lw=0.8, zorder=0)


def _draw_pair(axes: Axes, row: Mapping[str, Any], place: float, look: style.Look, size: float) -> None:
    """Draw a score, its null, and a line between them."""
    gid = f"{row['score']} {row['model']}"
    if not is_missing(row["null"]):
        axes.hlines(place, row["null"], row["value"], color=look.color, lw=1.2, alpha=0.5, zorder=1)
        bar: style.Keywords = {"marker": "|", "color": style.BLACK, "markersize": 2 * size, "markeredgewidth": 1.6}
        axes.plot([row["null"]], [place], ls="", zorder=2, gid=f"null {gid}", **bar)
    dot: style.Keywords = {"marker": look.marker, "color": look.color, "markersize": size}
    axes.plot([row["value"]], [place], ls="", zorder=3, gid=f"score {gid}", **dot)
