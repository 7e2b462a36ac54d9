"""One question in full: the prompt, the scale, some people, their answers and those of models."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from valuesassets.figures import style
from valuesassets.figures.backgrounds import folded, legend_in, model_marks, shown_models
from valuesassets.figures.marks import mark
from valuesassets.records.frames import records

MOST_PEOPLE = 12
MOST_LABELS = 5
"""Scales with more answers have only their ends named."""
ANSWER = "answer"
LINE_IN = 0.165
"""Height of a line of the prompt."""
BACKGROUND_LETTERS = 30
SCALE_IN = 4.7
"""Width of the scale."""
PERSON: style.Keywords = {"ls": "", "marker": "s", "color": style.BLACK, "markersize": 7}


@style.styled
def draw_one_question(
    name: str, scale: Mapping[int, str], prompt: str, people: pd.DataFrame, planted: bool = False
) -> Figure:
    """At the top a prompt as a model gets it; under it a row per person, the answer given and what models expect.

    Args:
        name: of the question.
        scale: labels by code; where a label is empty its code stands alone.
        prompt: as it is put, line by line.
        people: a row per person: columns of text (their background), `answer`, and the expected answer of each model
            for that person under the model's name; at most twelve rows are shown.
    """
    sample = people.head(MOST_PEOPLE).reset_index(drop=True)
    numbers = [str(each) for each in sample if pd.api.types.is_numeric_dtype(sample[each]) and each != ANSWER]
    models = shown_models(pd.DataFrame({"model": numbers}))
    background = [str(each) for each in sample if each not in (*numbers, ANSWER)]
    backgrounds = [", ".join(str(row[each]) for each in background if pd.notna(row[each])) for row in records(sample)]
    rows = [folded(each, BACKGROUND_LETTERS) for each in backgrounds]
    lines = _lines(prompt)
    labels = _labels(scale)
    handles: list[Line2D] = [mark("what this person answered", **PERSON)]
    handles += model_marks(models, ": expected answer", markersize=5, markerfacecolor="white")
    row_in = 0.3 if max([0, *(each.count("\n") for each in rows)]) < 2 else 0.42
    prompt_in, people_in = LINE_IN * (len(lines) + 0.8), row_in * max(len(sample), 1) + 0.1
    labels_in = 0.14 * max(label.count("\n") for label in labels) + 0.3
    figure = style.new_figure(height_in=1.15 + prompt_in + people_in + labels_in + legend_in(handles, 3))
    # The prompt spans a second, empty column, so that the people's names at the left do not narrow it.
    grid = figure.add_gridspec(2, 2, height_ratios=(prompt_in, people_in), width_ratios=(0.001, 1))
    _write_prompt(figure.add_subplot(grid[0, :]), lines)
    axes = figure.add_subplot(grid[1, 1])
    places = np.arange(len(sample))
    axes.set_yticks(places, rows, fontsize=style.SMALL_PT)
    axes.set_ylim(len(sample) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.plot(sample[ANSWER].astype(float), places, gid="answers", **PERSON)
    for number, (model, look) in enumerate(models.looks.items()):
        offset = (number - (len(models.looks) - 1) / 2) * 0.13
        axes.plot(sample[model].astype(float), places + offset, ls="", marker=look.marker, color=look.color,
                  markersize=5, markerfacecolor="white", gid=f"expected {model}")  # fmt: skip
    codes = list(scale)
    axes.set_xticks(codes, labels, fontsize=style.SMALL_PT)
    axes.set_xlim(min(codes) - 0.4, max(codes) + 0.4)
    axes.grid(axis="both")
    left_out = len(people) - len(sample)
    caption = [*([f"{left_out} more people are not shown."] if left_out else []), *models.notes]
    return style.finish(figure, f"One question: {name}", caption, handles, 3, planted)


def _lines(prompt: str) -> list[str]:
    """The prompt in lines that fit the page."""
    width = style.PAGE_WIDTH_IN - 0.5
    return [part for line in prompt.split("\n") for part in style.wrap(line, width, style.SMALL_PT + 0.5).split("\n")]


def _labels(scale: Mapping[int, str]) -> list[str]:
    """Each code over its label; of long scales only the ends are named."""
    ends, room = {min(scale), max(scale)}, int(SCALE_IN / len(scale) * 72 / (0.56 * style.SMALL_PT))
    if len(scale) > MOST_LABELS:
        return [f"{code}\n{folded(text, 14)}" if text and code in ends else str(code) for code, text in scale.items()]
    return [f"{code}\n{folded(text, max(room - 1, 8))}" if text else str(code) for code, text in scale.items()]


def _write_prompt(axes: Axes, lines: Sequence[str]) -> None:
    """The prompt in a box."""
    axes.set(xticks=[], yticks=[], xlim=(0, 1), ylim=(0, 1))
    axes.spines[:].set_visible(True)
    axes.patch.set_facecolor("#FAFAFA")
    axes.text(0.012, 0.5, "\n".join(lines), va="center", fontsize=style.SMALL_PT + 0.5, gid="prompt", linespacing=1.2)
    axes.set_title("what a model is shown")
