"""What the drawn texts of a cell say, question by question, for the page of a materialisation."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.marks import name_columns, rule
from valuesassets.figures.status_bars import draw_statuses, status_handles, status_looks
from valuesassets.records.frames import column

OPTION = "option"
LEAST = 5
"""Draws of a prompt that must be an option; a question with fewer in an order is not read."""


@style.styled
def draw_drawn_answers(drawn: pd.DataFrame, planted: bool = False) -> Figure:
    """For each question of a cell, the share of its texts that are an option, and above it what the others are.

    Args:
        drawn: rows of `DRAWN_ANSWERS` of one cell.
    """
    questions = sorted(set(drawn["question_id"]), key=style.natural_order)
    counts = pd.crosstab(column(drawn, "question_id"), column(drawn, "standing")).reindex(questions)
    others = [
        str(name) for name in counts.drop(columns=OPTION, errors="ignore").sum().sort_values(ascending=False).index
    ]
    shares = counts.div(counts.sum(axis=1), axis=0).reindex(columns=[OPTION, *others], fill_value=0)
    looks = {OPTION: style.Keywords(facecolor=style.PALE, edgecolor="white", lw=0)} | dict(status_looks(others))
    figure = style.new_figure(height_in=3.1 + style.upright_height(questions, style.SMALL_PT - 1))
    axes = figure.subplots()
    floor = np.zeros(len(questions))
    for name, look in looks.items():
        height = shares[name].to_numpy(dtype=float)
        axes.bar(range(len(questions)), height, 0.9, bottom=floor, **look)
        floor += height
    per_prompt = drawn.groupby(["trial_id"]).size().median()
    axes.axhline(LEAST / per_prompt, color=style.BLACK, lw=1, ls="--")
    axes.set_xlabel(name_columns(axes, questions, middle=0))
    axes.set(ylim=(0, 1), ylabel="share of the draws", yticks=(0, 0.5, 1), xlim=(-0.6, len(questions) - 0.4))
    handles = [
        Patch(label=OPTION, **looks[OPTION]),
        *status_handles(status_looks(others)),
        rule(f"least for a prompt: {LEAST} of {per_prompt:.0f}", style.BLACK, "--"),
    ]
    n_options = int((drawn["standing"] == OPTION).sum())
    title = f"{n_options:,} of {len(drawn):,} draws are an option"
    return style.finish(figure, title, [], handles, n_columns=4, planted=planted)


@style.styled
def draw_standings(standings: pd.DataFrame, planted: bool = False) -> Figure:
    """A bar for each cell: the share of its draws that are no option, by standing.

    Args:
        standings: `model`, `language`, `standing`, `n` draws.
    """
    counts = standings.rename(columns={"standing": "status"})
    label = "share of the draws that are no option"
    return draw_statuses(counts, OPTION, "What do the draws say that are no option?", label, planted)
