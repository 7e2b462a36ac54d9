"""A form as read: which layout its pages show, and the questions that it reads there."""

import functools
import re
from dataclasses import dataclass

from valuesassets.instruments.survey.material.forms.layout.blocks import Reading
from valuesassets.instruments.survey.material.forms.layout.layouts import (
    card_list,
    field_grid,
    numbered_list,
    web_script,
)
from valuesassets.instruments.survey.material.forms.layout.pages import Page
from valuesassets.instruments.survey.material.forms.layout.printed_form import PrintedForm

LAYOUTS = (web_script.LAYOUT, card_list.LAYOUT, field_grid.LAYOUT, numbered_list.LAYOUT)
"""The layouts that are known, in the order in which a form is held against them."""
NUMBERED = re.compile(r"[\[({]?[^\W\d_]{0,2}\d{1,3}[^\W\d_]?[\])}.:]*\s")
LONGEST_EXAMPLE = 80
"""Letters of the line that is quoted."""


@dataclass(frozen=True)
class FormReading:
    """What was read of a form.

    Attributes:
        layout: name of the layout that its pages show; None where they show none that is known.
        why: what on the pages told it, or what they show instead.
        numbers: what its blocks are numbered by, in reading order, those of which nothing could be read included.
        readings: the questions in their order; those without a code are a country's own.
    """

    layout: str | None
    why: str
    numbers: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()


@functools.lru_cache(maxsize=2)
def read_form(pages: tuple[Page, ...]) -> FormReading:
    """The questions of a form, read as the first layout asks for that its pages show; the last few are remembered."""
    form = PrintedForm(pages)
    for layout in LAYOUTS:
        if why := layout.evidence(form):
            blocks = layout.divide(form)
            return FormReading(layout.name, why, tuple(each.source_id for each in blocks), tuple(layout.read(blocks)))
    return FormReading(None, _shown(form))


def _shown(form: PrintedForm) -> str:
    """What the pages of a form of no known layout show: how much there is of what others are told by, and a line."""
    words = sum(len(line.words) for line in form.lines)
    numbers = sum(NUMBERED.match(line.text) is not None for line in form.lines)
    longest = max(form.lines, key=lambda line: len(line.words), default=None)
    example = f"; page {longest.page} has {longest.text[:LONGEST_EXAMPLE]!r}" if longest else ""
    pages = f"{len(form.pages)} page{'s' * (len(form.pages) != 1)}"
    return (
        f"{pages}, {words} words, {len(form.codes)} variable codes such as v39, {numbers} lines that begin with a "
        f"question number{example}"
    )
