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
DIFFERENCES = {
    "settings": ("Settings that differ between the two study files.", "The settings are the same."),
    "read": (
        "Cells that only one study has, and cells whose model or reading differs.",
        "Both studies have the same cells, read in the same way.",
    ),
    "prompts": ("Prompts that differ, with the first of each part.", "Every prompt is the same word for word."),
}
"""By name of a table: its caption, and the sentence that stands in its place where it has no rows."""


def render_two_studies(compared: Compared, names: tuple[str, str], planted: bool = False) -> str:
    """One self-contained page: what differs in the settings, which answers differ, and how far points on the map move.

    Args:
        compared: the tables `settings`, `read`, `prompts`, `cells`, `questions` and `points`, or the reason why one is
            missing.
        names: the names of the first and the second study.
        planted: whether answers were planted.
    """
    page = PageTitle(" and ".join(names), f"{names[0]} and {names[1]}, side by side", planted)
    conditions, answers, places = (
        Section("asked", "Differences in settings, cells and prompts"),
        Section("answers", "Which answers differ"),
        Section("map", "How far points on the map move"),
    )
    for name, (caption, sentence) in DIFFERENCES.items():
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
            cells, "difference", title="Mean answer of each cell, second minus first",
            label="difference (scale units)", row="language", planted=planted,
        )  # fmt: skip
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
