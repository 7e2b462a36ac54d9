"""`Block`, the lines of one question; `Reading`, one variable as read; and how blocks become readings."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from valuesassets.instruments.survey.material.forms.layout.answers import read_answers
from valuesassets.instruments.survey.material.forms.layout.lines import Line, join_lines
from valuesassets.instruments.survey.material.forms.layout.wording import is_note, spoken, without_notes
from valuesassets.instruments.survey.material.forms.layout.words import Box, Word, union

NUMBER = re.compile(r"([^\W\d_]{1,2}|\(cid:\d+\))(\d{1,3}[a-zA-Z]{0,2})[.:)]?")
"""A printed question number such as `Q12`, `P3` or `Q13a.`; its letter may be damaged."""


@dataclass
class Block:
    """The lines from one question number to the next.

    Attributes:
        code: the variable that the number names, in forms without other codes.
        lead: the text before the number, for this question and those that follow.
        offers_all: whether every printed code is an answer, since codes for don't know and the like are negative.
    """

    source_id: str
    section: str | None
    lines: list[Line] = field(default_factory=list)
    code: str | None = None
    lead: Sequence[Line] = ()
    offers_all: bool = False


@dataclass(frozen=True)
class Reading:
    """One variable as read; parts that could not be read are empty."""

    code: str | None
    source_id: str
    section: str | None
    page: int
    box: Box
    stem: str
    item: str | None
    options: tuple[tuple[int, str], ...]


def is_heading(line: Line) -> bool:
    """Whether a line may be a section heading: outside tables, in capitals, without figures or a colon."""
    return not line.is_ruled and is_note(line.text) and not re.search(r"[\d:=()<>\[\]]", line.text)


def section_of(heading: Sequence[Line]) -> str | None:
    """The name of the section in lines of a heading, or None."""
    return " ".join(line.text for line in heading if line.is_bold) or None


def question_stem(lines: Sequence[Line]) -> str:
    """The question's own words, without variable codes and notes."""
    return without_notes(join_lines([*filter(None, (line.without(line.codes).words for line in spoken(lines)))]))


def read_at(
    block: Block,
    code: Word | None,
    lines: Sequence[Line],
    stem: str,
    item: str | None,
    options: Sequence[tuple[int, str]],
) -> Reading:
    """The reading on the page of its code; its box holds the lines of that page."""
    home = next((line for line in lines if code in line.words), lines[0])
    box = union(line.box for line in lines if line.page == home.page)
    name = code.code if code else block.code
    if block.lead:
        stem, item = question_stem(block.lead), item or stem
    return Reading(name, block.source_id, block.section, home.page, box, stem, item or None, tuple(options))


def read_list(block: Block) -> list[Reading]:
    """A question with answers, or with a code and no readable answers; else empty."""
    code = next((code for line in block.lines for code in line.codes), None)
    answers = read_answers(block.lines, block.offers_all)
    if answers is not None:
        return [
            read_at(
                block, code, [*answers.before, *answers.lines], question_stem(answers.before), None, answers.options
            )
        ]
    return [read_at(block, code, block.lines, question_stem(block.lines[:1]), None, ())] if code else []


def longest_rising(values: Sequence[Any]) -> list[int]:
    """The places of the longest strictly rising sequence of values; of several, the one that ends last.

    >>> longest_rising([0, 1, 7, 2, 3])
    [0, 1, 3, 4]
    """
    rising: list[list[int]] = []  # by place, the longest one that ends there
    for place, value in enumerate(values):
        before = [sequence for sequence in rising if values[sequence[-1]] < value]
        rising.append([*max(reversed(before), key=len, default=[]), place])
    return max(reversed(rising), key=len, default=[])
