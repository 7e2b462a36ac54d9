"""Reads a form: the layout that its pages show, and the questions in that layout."""

import functools
import re
from dataclasses import dataclass

from valuesassets.instruments.survey.material.forms.layout.blocks import Reading
from valuesassets.instruments.survey.material.forms.layout.form_lines import PrintedForm
from valuesassets.instruments.survey.material.forms.layout.layouts import (
    card_list,
    field_grid,
    numbered_list,
    web_script,
)
from valuesassets.instruments.survey.material.forms.layout.pages import Page

LAYOUTS = {"web_script": web_script, "card_list": card_list, "field_grid": field_grid, "numbered_list": numbered_list}
"""The known layouts in the order of their trial. Each module has `evidence` (the evidence on the pages that a form has
the layout, in words, or None), `divide` (a form into blocks) and `read` (blocks into questions)."""
NUMBERED = re.compile(r"[\[({]?[^\W\d_]{0,2}\d{1,3}[^\W\d_]?[\])}.:]*\s")
LONGEST_EXAMPLE = 80  # letters of a quoted line


@dataclass(frozen=True)
class FormReading:
    """The layout and the questions of a form.

    Attributes:
        layout: its name; None if the pages show no known layout.
        why: the evidence for the layout, or what the pages show instead.
        numbers: the numbers of all blocks, in reading order, also of unreadable ones.
        readings: the questions in order; those without a code are a country's own.
    """

    layout: str | None
    why: str
    numbers: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()


@functools.lru_cache(maxsize=2)
def read_form(pages: tuple[Page, ...]) -> FormReading:
    """The questions of a form in the first layout that its pages show."""
    form = PrintedForm(pages)
    for name, layout in LAYOUTS.items():
        if why := layout.evidence(form):
            blocks = layout.divide(form)
            return FormReading(name, why, tuple(each.source_id for each in blocks), tuple(layout.read(blocks)))
    return FormReading(None, _summary(form))


def _summary(form: PrintedForm) -> str:
    """What the pages of a form without a known layout show, in words."""
    words = sum(len(line.words) for line in form.lines)
    numbers = sum(NUMBERED.match(line.text) is not None for line in form.lines)
    longest = max(form.lines, key=lambda line: len(line.words), default=None)
    example = f"; page {longest.page} has {longest.text[:LONGEST_EXAMPLE]!r}" if longest else ""
    pages = f"{len(form.pages)} page{'s' * (len(form.pages) != 1)}"
    return (
        f"{pages}, {words} words, {len(form.codes)} variable codes such as v39, {numbers} lines that begin with a "
        f"question number{example}"
    )
