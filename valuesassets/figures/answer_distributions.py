"""Answers of people and models to single questions, with and without a person's background."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.backgrounds import folded, shown_models
from valuesassets.figures.marks import mark
from valuesassets.records.frames import rows_where

PEOPLE = "people"
"""Name of people's own answers in the column `model`."""
PEOPLE_BARS: style.Keywords = {"facecolor": style.PALE, "edgecolor": style.GREY, "lw": 0.6}
MOST_ACROSS = 3
ASKED: dict[str, style.Keywords] = {
    "without": style.Keywords(color=style.VERMILLION, ls="--", lw=2, marker="s", markersize=7, markerfacecolor="white"),
    "with": {"color": style.BLUE, "ls": "-", "lw": 1.2, "marker": "o", "markersize": 4},
}
"""The first is drawn first and larger, so that it shows below the second where both are equal."""


@style.styled
def draw_answer_distributions(
    answers: pd.DataFrame, questions: Sequence[str] = (), texts: Mapping[str, str] | None = None, planted: bool = False
) -> Figure:
    """A row of panels per model and a column per question: people's answers as bars, the model's answers as lines.

    Args:
        answers: `question_id`, `model` (`people` too), `attributes` (`with`, `without`; null for people),
            `response_value`, `prob`.
        questions: ids of the questions to draw, at most three; by default the first two.
        texts: texts of the questions, by id.
    """
    available = sorted(set(answers["question_id"]), key=style.natural_order)
    chosen = [each for each in questions if each in available][:MOST_ACROSS] or available[:2]
    models = shown_models(answers, [PEOPLE])
    names = list(models.looks) or [PEOPLE]
    figure = style.new_figure(height_in=1.7 + 1.15 * len(names))
    panels = figure.subplots(len(names), max(len(chosen), 1), sharex="col", sharey=True, squeeze=False)
    for row, name in zip(panels, names, strict=True):
        for axes, question in zip(row, chosen, strict=False):
            _draw_panel(axes, rows_where(answers, question_id=question), name)
        row[0].set_ylabel("share of answers", fontsize=style.SMALL_PT)
        row[-1].annotate(folded(name, 14), (1.03, 0.5), xycoords="axes fraction", va="center", fontsize=style.SMALL_PT)
    highest = answers.loc[answers["question_id"].isin(chosen), "prob"].max() if chosen else 1.0
    panels[0, 0].set_ylim(0, 1.1 * float(highest))
    width = (style.PAGE_WIDTH_IN - 1.6) / max(len(chosen), 1)
    for axes, question in zip(panels[0], chosen, strict=False):
        text = f"{question}: {texts[question]}" if texts and question in texts else question
        axes.set_title(_within(text, width), fontsize=style.SMALL_PT)
    for axes, _ in zip(panels[-1], chosen, strict=False):
        axes.set_xlabel("answer, by its code", fontsize=style.SMALL_PT)
    attributes = [name for name in ("with", "without") if name in set(answers["attributes"].dropna())]
    handles = [Patch(label=PEOPLE, **PEOPLE_BARS)]
    handles += [mark(f"model {name} attributes", **ASKED[name]) for name in attributes]
    return style.finish(figure, "What people and models answer", models.notes, handles, 3, planted)


def _draw_panel(axes: Axes, answers: pd.DataFrame, name: str) -> None:
    people = rows_where(answers, model=PEOPLE).sort_values("response_value")
    values = sorted(set(answers["response_value"]))
    axes.bar(people["response_value"], people["prob"], 0.8, **PEOPLE_BARS)
    for attributes, look in ASKED.items():
        line = rows_where(answers, model=name, attributes=attributes).sort_values("response_value")
        axes.plot(line["response_value"], line["prob"], gid=f"{name} {attributes}", **look)
    axes.set_xticks(np.array(values))
    axes.locator_params(axis="y", nbins=4)
    axes.tick_params(labelsize=style.SMALL_PT)
    axes.grid(axis="y")


def _within(text: str, width_in: float) -> str:
    """The text in at most three lines of a width."""
    lines = style.wrap(text, width_in, style.SMALL_PT).split("\n")
    return "\n".join(lines if len(lines) <= 3 else [*lines[:2], f"{lines[2].rstrip('.,')} …"])
