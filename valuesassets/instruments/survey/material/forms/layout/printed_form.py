"""`PrintedForm`, the lines of a form with its codes; `Layout`, a way of setting forms that can be read."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from valuesassets.instruments.survey.material.forms.layout.blocks import Block, Reading
from valuesassets.instruments.survey.material.forms.layout.form_lines import form_lines
from valuesassets.instruments.survey.material.forms.layout.lines import Line
from valuesassets.instruments.survey.material.forms.layout.pages import Page


@dataclass(frozen=True)
class PrintedForm:
    """The pages of a form, and what is looked at to tell its layout."""

    pages: tuple[Page, ...]

    @functools.cached_property
    def lines(self) -> tuple[Line, ...]:
        """Its lines in reading order, without page furniture (`form_lines`)."""
        return tuple(form_lines(self.pages))

    @functools.cached_property
    def codes(self) -> tuple[str, ...]:
        """The variables whose codes it prints, each once, in reading order."""
        return tuple(dict.fromkeys(word.code for line in self.lines for word in line.words if word.code is not None))

    @functools.cached_property
    def widths(self) -> dict[int, float]:
        """Width of each page in points, by number."""
        return {page.number: page.width for page in self.pages}


@dataclass(frozen=True)
class Layout:
    """A way of setting forms.

    Attributes:
        name: as metadata give it.
        looks: what a question looks like in it, for whoever has a form that is read in none.
        evidence: what on the pages tells that a form is set so, in words; None where it is not.
        divide: the blocks of a form in reading order.
        read: the questions of such blocks, in their order.
    """

    name: str
    looks: str
    evidence: Callable[[PrintedForm], str | None]
    divide: Callable[[PrintedForm], list[Block]]
    read: Callable[[Sequence[Block]], list[Reading]]
