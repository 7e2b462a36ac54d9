"""The page of two studies side by side."""

from collections.abc import Mapping

import pandas as pd

from valuesassets.comparing.two_studies import LEVEL, sentences
from valuesassets.figures.interval_panels import draw_interval_panels
from valuesassets.reporting.page_parts import tabulate
from valuesassets.reporting.parts import Refused, Section
from valuesassets.reporting.report import PageTitle, render_page

Compared = Mapping[str, pd.DataFrame | Refused]
MOST_QUESTIONS = 60
ASKED = {
    "settings": ("Settings of the two study files that are not the same.", "The settings are the same."),
    "read": (
        "Cells that only one has, and what their files say of model and reading.",
        "The same cells were read alike.",
    ),
    "prompts": (
        "Prompts that are not the same word for word, with the first of each part.",
        "Every prompt is the same word for word.",
    ),
}
"""By table its caption, and what is said where it has no rows."""


def render_two_studies(compared: Compared, names: tuple[str, str], planted: bool = False) -> str:
    """One self-contained page: what was asked otherwise, which answers differ, how far points on the map move.

    Args:
        compared: `settings`, `read`, `prompts`, `cells`, `questions`, `points`, or why one was not made.
        names: of the first and the second.
    """
    page = PageTitle(" and ".join(names), f"{names[0]} and {names[1]}, side by side", planted)
    conditions, answers, places = (
        Section("asked", "What was asked otherwise"),
        Section("answers", "Which answers differ"),
        Section("map", "Where points on the map have gone"),
    )
    for name, (caption, sentence) in ASKED.items():
        rows = conditions.need(compared[name])
        if rows is not None and len(rows):
            tabulate(conditions, caption, rows)
        elif rows is not None:
            conditions.paragraphs.append(sentence)
    frames = {name: table for name, table in compared.items() if isinstance(table, pd.DataFrame)}
    answers.paragraphs += [each for each in sentences(frames) if "map" not in each]
    places.paragraphs += [each for each in sentences(frames) if "map" in each]
    cells, questions, points = (
        section.need(compared[name])
        for section, name in ((answers, "cells"), (answers, "questions"), (places, "points"))
    )
    if cells is not None and len(cells):
        figure = draw_interval_panels(
            cells,
            "difference",
            title="Mean answer of each cell, second minus first",
            label="difference (scale units)",
            row="language",
            planted=planted,
        )
        answers.draw(
            figure, "A dot and an interval for each cell, around zero.", f"Intervals hold at once ({LEVEL:.0%})."
        )
        tabulate(answers, "Mean answers of cells over questions, second minus first.", cells)
    if questions is not None:
        caption = "Questions of a family over its languages, second minus first, the largest difference first."
        tabulate(answers, caption, questions, most=MOST_QUESTIONS)
    if points is not None:
        tabulate(places, "Points on the map, second minus first.", points)
    return render_page(page, [conditions, answers, places], [], [])
