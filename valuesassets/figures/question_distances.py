"""Distance between each model and people, by question, with the noise floor of a perfect model."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.backgrounds import Shown, has_numbers, legend_in, looks_beside, model_marks, shown_models
from valuesassets.figures.marks import mark, name_rows, say_nothing
from valuesassets.records.frames import rows, rows_where

MOST_ROWS = 60
DISTANCE, FLOOR = "w1_seed", "w1_floor_unit"
NULLS = {"w1_uniform_unit": ("uniform", "x"), "w1_majority_unit": ("majority", "+")}
"""By column: what it is of, and its mark."""
BAR: style.Keywords = {"facecolor": style.PALE, "edgecolor": style.GREY, "lw": 0.5}


@style.styled
def draw_question_distances(
    scores: pd.DataFrame, published: pd.DataFrame | None = None, planted: bool = False
) -> Figure:
    """A row per question, a dot per model (hollow: without attributes), bars up to a perfect model's distance.

    Args:
        scores: a row per model, `attributes` (`with`, `without`) and `question_id`: `w1_seed`, `w1_floor_unit`,
            `w1_uniform_unit`, `w1_majority_unit`, all on the scale 0 to 1.
        published: the same as printed elsewhere, without floors; a panel beside ours.
    """
    every = sorted(set(scores["question_id"]), key=style.natural_order)
    questions = every[:MOST_ROWS]
    frames = [("here", scores)] + ([("published", published)] if published is not None and len(published) else [])
    ours = shown_models(scores)
    sets = [ours, *(looks_beside(ours, frame) for _, frame in frames[1:])]
    handles: list[Line2D | Patch] = [*model_marks(ours, markersize=5)]
    for models in sets[1:]:
        handles += model_marks(models, " (published)", markersize=5)
    handles += _other_marks([frame for _, frame in frames])
    figure = style.new_figure(height_in=2.3 + style.axes_height(len(questions), 0.17, 0.8, 9.6) + legend_in(handles, 4))
    panels = figure.subplots(1, len(frames), sharey=True, sharex=True, squeeze=False)[0]
    for axes, (title, frame), models in zip(panels, frames, sets, strict=True):
        _draw_rows(axes, frame, questions, models)
        axes.set_xlabel("W1 (scale from 0 to 1)")
        if len(frames) > 1:
            axes.set_title(title)
    name_rows(panels[0], questions, style.SMALL_PT)
    highest = max([0.3, *(float(frame[DISTANCE].max()) for _, frame in frames if has_numbers(frame, DISTANCE))])
    panels[0].set_xlim(-0.015, min(1.02, highest + 0.03))
    left_out = len(every) - len(questions)
    caption = [
        "Pooled over groups. A dot inside its bar is as close as a perfect model would be to this small sample of "
        "people.",
        *[f"{left_out} more questions are in the table."][:left_out],
        *ours.notes,
    ]
    return style.finish(figure, "How far from people is each question's answer?", caption, handles, 4, planted)


def _other_marks(frames: Sequence[pd.DataFrame]) -> list[Line2D | Patch]:
    """Entries of the legend that are no model's, those of them that are there."""
    handles: list[Line2D | Patch] = []
    if {"with", "without"} <= {each for frame in frames for each in frame["attributes"].dropna()}:
        handles += [
            mark("with attributes", "o", style.BLACK, markersize=5),
            mark("without attributes", "o", style.BLACK, markersize=5, markerfacecolor="white"),
        ]
    present = [name for name in NULLS if any(has_numbers(frame, name) for frame in frames)]
    handles += [mark(NULLS[name][0], NULLS[name][1], style.GREY, markersize=5) for name in present]
    has_floors = any(has_numbers(frame, FLOOR) for frame in frames)
    return handles + ([Patch(label="distance of a perfect model", **BAR)] if has_floors else [])


def _draw_rows(axes: Axes, frame: pd.DataFrame, questions: list[str], models: Shown) -> None:
    places = np.arange(len(questions))
    measured = rows(frame, frame["question_id"].isin(questions))
    axes.grid(axis="x")
    if not len(measured):
        say_nothing(axes)
        return
    if FLOOR in measured:
        floors = measured.groupby("question_id")[FLOOR].median().reindex(questions).astype(float)
        axes.barh(places, floors, height=0.72, **BAR)
    for name, (label, marker) in NULLS.items():
        if name in measured:
            null = measured.groupby("question_id")[name].median().reindex(questions).astype(float)
            axes.plot(null, places, ls="", marker=marker, color=style.GREY, markersize=4.5, gid=f"{label} null")
    for name, look in models.looks.items():
        for attributes in ("without", "with"):
            dots = rows_where(measured, model=name, attributes=attributes).drop_duplicates("question_id")
            values = dots.set_index("question_id")[DISTANCE].reindex(questions).astype(float)
            face = look.color if attributes == "with" else "white"
            axes.plot(values, places, ls="", marker=look.marker, color=look.color, markersize=4.5,
                      markerfacecolor=face, markeredgewidth=1, gid=f"{name} {attributes}")  # fmt: skip
