"""A form as read: which layout its pages show, and the questions that it reads there."""

from collections.abc import Sequence
from dataclasses import dataclass

from valuesassets.instruments.survey.forms.layout.blocks import Reading
from valuesassets.instruments.survey.forms.layout.layouts import card_list, field_grid, web_script
from valuesassets.instruments.survey.forms.layout.pages import Page
from valuesassets.instruments.survey.forms.layout.printed_form import PrintedForm

LAYOUTS = (web_script.LAYOUT, card_list.LAYOUT, field_grid.LAYOUT)
"""The layouts that are known, in the order in which a form is held against them."""


@dataclass(frozen=True)
class FormReading:
    """What was read of a form.

    Attributes:
        layout: name of the layout that its pages show; None where they show none that is known.
        why: what on the pages told it.
        numbers: what its blocks are numbered by, in reading order, those of which nothing could be read included.
        readings: the questions in their order; those without a code are a country's own.
    """

    layout: str | None
    why: str
    numbers: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()


def read_form(pages: Sequence[Page]) -> FormReading:
    """The questions of a form, read as its layout asks for."""
    form = PrintedForm(tuple(pages))
    for layout in LAYOUTS:
        if why := layout.evidence(form):
            blocks = layout.divide(form)
            return FormReading(layout.name, why, tuple(each.source_id for each in blocks), tuple(layout.read(blocks)))
    return FormReading(None, "")
