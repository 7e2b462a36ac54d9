"""Do a model's group means differ like people's? Each group's mean of people and of the model."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.backgrounds import folded, is_missing, short, shown_models
from valuesassets.figures.marks import family_marks, rule, say_nothing
from valuesassets.records.frames import column, records, rows_where

MOST_ACROSS = 3
PEOPLE, MODEL = "human_mean_unit", "model_mean_unit"
MOVES = ("people's move", "model's move")
GROUND: style.Keywords = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85}
FEW = 120
"""Maximum number of points that are drawn large; more are drawn small and pale."""


@style.styled
def draw_group_moves(
    means: pd.DataFrame,
    awareness: pd.DataFrame | None = None,
    factor: str = "continent",
    question: str | None = None,
    planted: bool = False,
) -> Figure:
    """A panel per model, a point per question and group: how far people's mean, and the model's, is from all groups'.

    Args:
        means: `model`, `question_id`, the factors, `n`, `human_mean_unit`, `model_mean_unit` (scale from 0 to 1).
        awareness: rows of the factor `all`: `model`, `slope`, `slope_low`, `slope_high`, drawn as a line.
        factor: the factor whose levels have different colours.
        question: one question; all of them pooled where left out.
    """
    selected = means if question is None else rows_where(means, question_id=question)
    models = shown_models(means)
    names = list(models.looks) or ["none"]
    moved = _moves(selected)
    across = min(MOST_ACROSS, len(names)) if len(names) != 4 else 2
    down = -(-len(names) // across)
    figure = style.new_figure(height_in=1.9 + down * (4.2 if across == 1 else 3.2 if across == 2 else 2.4))
    panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
    levels = style.looks(column(selected, factor).dropna().astype(str)) if factor in selected else {}
    for axes, name in zip(panels, names, strict=False):
        _draw_panel(axes, rows_where(moved, model=name), levels, factor)
        axes.set_title(folded(short(name), 26), fontsize=style.BODY_PT - 1)
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    has_slopes = awareness is not None and question is None
    if has_slopes and awareness is not None:
        for axes, name in zip(panels, names, strict=False):
            _draw_slope(axes, rows_where(awareness, model=name, factor="all"))
    reach = 1.08 * max([0.05, *moved[PEOPLE].abs(), *moved[MODEL].abs()]) if len(moved) else 0.1
    panels[0].set(xlim=(-reach, reach), ylim=(-reach, reach))
    for number, axes in enumerate(panels[: len(names)]):
        if number % across == 0:
            axes.set_ylabel(MOVES[1])
        if number + across >= len(names):
            axes.set_xlabel(MOVES[0])
            axes.tick_params(labelbottom=True)
    handles = [*family_marks(levels, markersize=5), rule("as people", style.BLACK, "--")]
    handles += [rule("slope, without sampling noise", style.BLACK, "-", 1.8)] if has_slopes else []
    caption = [
        "Move: a group's mean minus the mean over groups, in units of the scale. Groups have few people, so points "
        "scatter to the sides, which would flatten a regression line; the slope is corrected for that.",
        *models.notes,
    ]
    where = "all questions" if question is None else question
    title = f"People's moves and the model's, group by group: {where}"
    return style.finish(figure, title, caption, handles, 4, planted)


def _moves(means: pd.DataFrame) -> pd.DataFrame:
    """The rows with each mean minus the mean over the groups of its model and question."""
    centred = means.copy()
    parts = means.groupby(["model", "question_id"])
    for name in (PEOPLE, MODEL):
        centred[name] = means[name].astype(float) - parts[name].transform("mean").astype(float)
    return centred.dropna(subset=[PEOPLE, MODEL])


def _draw_panel(axes: Axes, moved: pd.DataFrame, levels: dict[str, style.Look], factor: str) -> None:
    axes.axhline(0, color=style.PALE, lw=0.8, zorder=0)
    axes.axvline(0, color=style.PALE, lw=0.8, zorder=0)
    axes.axline((0, 0), slope=1, color=style.BLACK, lw=1, ls="--", zorder=1)
    axes.set_aspect("equal")
    axes.locator_params(nbins=5)
    if not len(moved):
        say_nothing(axes)
        return
    many: style.Keywords = {"markersize": 2.6, "alpha": 0.55} if len(moved) > FEW else {"markersize": 5, "alpha": 0.9}
    drawn = levels or {"": style.Look(style.BLUE, "o", "")}
    for level, look in drawn.items():
        part = rows_where(moved, **{factor: level}) if levels else moved
        axes.plot(part[PEOPLE], part[MODEL], ls="", marker=look.marker, color=look.color, zorder=2,
                  markeredgewidth=0, gid=f"moves {level}", **many)  # fmt: skip


def _draw_slope(axes: Axes, slopes: pd.DataFrame) -> None:
    for row in records(slopes)[:1]:
        if pd.isna(row["slope"]):
            continue
        axes.axline((0, 0), slope=float(row["slope"]), color=style.BLACK, lw=1.8, zorder=3)
        low, high = row.get("slope_low"), row.get("slope_high")
        interval = "" if is_missing(low) or is_missing(high) else f"\n[{low:.2f}, {high:.2f}]"
        axes.text(0.04, 0.96, f"slope {row['slope']:.2f}{interval}", transform=axes.transAxes, va="top", zorder=5,
                  fontsize=style.SMALL_PT, bbox=GROUND)  # fmt: skip
    if np.isnan(axes.get_xlim()).any():
        axes.set_xlim(-0.1, 0.1)
