"""Do answers differ by culture where no country is named, and does a named country override it?"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.backgrounds import short
from valuesassets.figures.labels import Name, write_names
from valuesassets.figures.marks import rule
from valuesassets.figures.panels import is_crowd, looks_of
from valuesassets.records.frames import column, records, rows

FARTHEST = (-1.0, 2.0)
"""Limits of the plane: intervals are cut there, and points beyond are named in the notes."""
LEAST = (-0.15, 1.15)
MOST_SAID = 8
"""Maximum number of models without a point that the notes name."""
MOST_NAMED = 40
RATIOS = ("diversity", "robustness")


@style.styled
def draw_diversity_robustness(
    models: pd.DataFrame, refused: Sequence[tuple[str, str]] = (), planted: bool = False
) -> Figure:
    """Models in the plane of diversity and robustness, with intervals; lines cross at no signal.

    Args:
        models: `model`, and `diversity` and `robustness` with their ends.
        refused: name and reason of each model without a point.
    """
    measured = rows(models, models["diversity"].notna() & models["robustness"].notna())
    is_near = measured[list(RATIOS)].astype(float).apply(lambda ratio: ratio.between(*FARTHEST)).all(axis=1)
    near = rows(measured, is_near)
    ends = near[[f"{name}{end}" for name in RATIOS for end in ("_low", "_high")]].to_numpy(float)
    is_cut = bool(((ends < FARTHEST[0]) | (ends > FARTHEST[1])).any())
    caption = [
        "(U − A)/V across, (C − A)/V upward: 0 is no more than by chance, 1 as much as the model's own answers differ "
        "between two countries. Bars: intervals over questions.",
        *(["A bar that reaches the edge goes on beyond it; the table has its ends."] if is_cut else []),
        *_without_a_point(refused, rows(measured, ~is_near)),
    ]
    n_lines = sum(style.wrap(line, style.PAGE_WIDTH_IN, style.SMALL_PT).count("\n") + 1 for line in caption)
    figure = style.new_figure(height_in=4.6 + 0.14 * n_lines)
    axes = figure.add_subplot()
    for line, name in ((axes.axvline, "diversity"), (axes.axhline, "robustness")):
        line(0, color=style.BLACK, lw=1, zorder=1, gid=f"no {name}")
        line(1, color=style.GREY, lw=0.9, ls=":", zorder=1, gid=f"full {name}")
    _draw_models(axes, near)
    axes.set(xlim=_limits(near, "diversity"), ylim=_limits(near, "robustness"))
    axes.set_xlabel("diversity: what the language alone carries")
    axes.set_ylabel("robustness: what a named country overrides")
    if not len(near):
        axes.text(0.5, 0.5, "no model has both", transform=axes.transAxes, ha="center", style="italic")
    title = "Do answers differ by culture, and does a named country override it?"
    handles = [rule("0: no signal", style.BLACK), rule("1: as much as countries differ", style.GREY, ":", 0.9)]
    style.finish(figure, title, caption, handles, 2, planted)
    _write_names(axes, near)
    return figure


def _draw_models(axes: Axes, models: pd.DataFrame) -> None:
    looks = looks_of(column(models, "model"))
    for model, look in looks.items():
        (row,) = records(rows(models, models["model"] == model))
        x, y = row["diversity"], row["robustness"]
        drawn: style.Keywords = {"color": look.color, "lw": 0.7 if is_crowd(looks) else 1.2, "zorder": 2}
        axes.hlines(y, row["diversity_low"], row["diversity_high"], **drawn)
        axes.vlines(x, row["robustness_low"], row["robustness_high"], **drawn)
        axes.plot([x], [y], ls="", marker=look.marker, color=look.color, markersize=6, zorder=3, gid=f"point {model}")


def _write_names(axes: Axes, models: pd.DataFrame) -> None:
    looks = looks_of(column(models, "model"))
    labelled = records(models.head(MOST_NAMED))
    names = [
        Name(row["diversity"], row["robustness"], short(str(row["model"])), style.text_ink(looks[row["model"]].color))
        for row in labelled
    ]
    others = [(row["diversity"], row["robustness"]) for row in records(models.iloc[MOST_NAMED:])]
    strokes = [stroke for row in records(models) for stroke in _strokes(row)]
    if names:
        write_names(axes, names, strokes, others)


def _strokes(row: Mapping[str, Any]) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """The intervals of a model as lines; missing ones are left out."""
    x, y = row["diversity"], row["robustness"]
    lines = [((row["diversity_low"], y), (row["diversity_high"], y))]
    lines.append(((x, row["robustness_low"]), (x, row["robustness_high"])))
    return [line for line in lines if np.isfinite(line).all()]


def _limits(models: pd.DataFrame, name: str) -> tuple[float, float]:
    """Limits of an axis that hold all points and intervals within `FARTHEST`, and always 0 and 1."""
    values = models[[name, f"{name}_low", f"{name}_high"]].to_numpy(float)
    values = np.clip(values[np.isfinite(values)], *FARTHEST)
    low, high = min(LEAST[0], *values, *LEAST), max(LEAST[1], *values, *LEAST)
    return (low - 0.05 if low < LEAST[0] else low), (high + 0.05 if high > LEAST[1] else high)


def _without_a_point(refused: Sequence[tuple[str, str]], far: pd.DataFrame) -> list[str]:
    lines = [f"Not in the plane: {short(model)}: {why}." for model, why in refused[:MOST_SAID]]
    if len(refused) > MOST_SAID:
        lines.append(f"{len(refused) - MOST_SAID} more models have no point; the table says why.")
    lines += [
        f"Beyond the plane: {short(str(row['model']))}, diversity {row['diversity']:.2f}, robustness "
        f"{row['robustness']:.2f}."
        for row in records(far.head(MOST_SAID))
    ]
    return lines
