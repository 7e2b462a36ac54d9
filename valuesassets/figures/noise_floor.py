"""How near to people can a model be at all, given how few were asked? And where thresholds lie on that."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.backgrounds import legend_in, model_marks, shown_models
from valuesassets.figures.marks import mark, rule, say_nothing
from valuesassets.records.frames import rows, rows_where

FLOOR, DISTANCE = "w1_floor_unit", "w1_unit"
THRESHOLDS = (0.1, 0.2)
"""Distances that count as near."""
TICKS = {True: (1, 2, 5), False: (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8)}
"""Named numbers of people, in tens, over a wide range and over a narrow one."""
BAND: style.Keywords = {"facecolor": style.PALE, "edgecolor": style.GREY, "lw": 0.6}


@style.styled
def draw_noise_floor(distances: pd.DataFrame, scores: pd.DataFrame | None = None, planted: bool = False) -> Figure:
    """A perfect model's distance by the number of answers, thresholds across it, and what models come to beside it.

    Args:
        distances: a row per model, question and group: `n`, `w1_unit`, `w1_floor_unit`.
        scores: the same of whole questions, `n_ratings` in place of `n`.
    """
    measured = rows(distances, distances[FLOOR].notna() & (distances["n"] > 0))
    models = shown_models(distances)
    handles: list[Line2D | Patch] = [*model_marks(models, ls="-", markersize=5)]
    handles += [rule("perfect model, median question", style.BLACK)]
    handles += [Patch(label="90% of questions and groups", **BAND), rule("thresholds", style.VERMILLION, "--")]
    if scores is not None and len(scores):
        handles.append(mark("all groups pooled", "o", style.BLACK, markerfacecolor="white", markersize=6))
    figure = style.new_figure(height_in=4.7 + legend_in(handles, 3))
    axes = figure.add_subplot(xscale="log", xlabel="people per group, or per question", ylabel="W1 (scale from 0 to 1)")
    if not len(measured):
        say_nothing(axes)
        return style.finish(figure, "How near can a model be at all?", planted=planted)
    constant = measured[FLOOR].astype(float) * np.sqrt(measured["n"].astype(float))
    low, middle, high = np.quantile(constant, [0.05, 0.5, 0.95])
    most = float(measured["n"].max())
    if scores is not None and len(scores):
        most = max(most, float(scores["n_ratings"].max()))
    across = np.geomspace(max(1.0, float(measured["n"].min()) / 1.5), most * 1.5, 80)
    axes.fill_between(across, low / np.sqrt(across), high / np.sqrt(across), **BAND)
    axes.plot(across, middle / np.sqrt(across), color=style.BLACK, lw=1.4, gid="floor")
    crossings = []
    for threshold in THRESHOLDS:
        axes.axhline(threshold, color=style.VERMILLION, lw=1, ls="--", zorder=1)
        crossings.append(f"{threshold:g} from {int(np.ceil((middle / threshold) ** 2))} people on")
    for name, look in models.looks.items():
        sizes, medians = _by_size(rows_where(measured, model=name))
        axes.plot(
            sizes, medians, ls="-", lw=0.8, marker=look.marker, color=look.color, markersize=4.5, gid=f"groups {name}"
        )
        if scores is not None and len(scores):
            pooled = rows_where(scores, model=name)
            if len(pooled):
                axes.plot([float(pooled["n_ratings"].median())], [float(pooled[DISTANCE].median())], ls="",
                          marker=look.marker, color=look.color, markerfacecolor="white", markersize=7,
                          gid=f"pooled {name}")  # fmt: skip
    axes.set_ylim(0, None)
    axes.set_xlim(across[0], across[-1])
    places = (number * 10**power for power in range(6) for number in TICKS[across[-1] > 8 * across[0]])
    ticks = [each for each in places if across[0] <= each <= across[-1]]
    axes.set_xticks(ticks, [f"{each:,g}" for each in ticks])
    axes.minorticks_off()
    axes.grid(axis="x")
    caption = [
        f"In the median question a perfect model is below {', '.join(crossings)}. Marks: medians of models over groups "
        "of like size.",
        *models.notes,
    ]
    return style.finish(figure, "How near to people can a model be at all?", caption, handles, 3, planted)


def _by_size(part: pd.DataFrame) -> tuple[list[float], list[float]]:
    """Median number of people and median distance, in classes of groups from one power of two to the next."""
    sizes = part["n"].astype(float)
    classes = np.floor(np.log2(sizes)).astype(int)
    grouped = pd.DataFrame({"n": sizes, "w1": part[DISTANCE].astype(float)}).groupby(classes)
    return list(grouped["n"].median()), list(grouped["w1"].median())
