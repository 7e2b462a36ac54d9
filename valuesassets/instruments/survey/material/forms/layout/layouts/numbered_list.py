"""Numbered lists: questions counted `1.`, `2.` or `Q1`, `Q2`, their answers lettered or numbered, no variable codes.

Questions are named by their numbers, `q1`, `q2`. Where they stand in two columns, the left one is read first.
"""

import dataclasses
import itertools
import re
from collections.abc import Sequence

import numpy as np

from valuesassets.instruments.survey.material.forms.layout.blocks import (
    Block,
    Reading,
    question_stem,
    read_at,
    read_list,
)
from valuesassets.instruments.survey.material.forms.layout.form_lines import form_lines
from valuesassets.instruments.survey.material.forms.layout.grids import read_grid
from valuesassets.instruments.survey.material.forms.layout.lines import Line
from valuesassets.instruments.survey.material.forms.layout.pages import Page
from valuesassets.instruments.survey.material.forms.layout.printed_form import Layout, PrintedForm

NUMBER = re.compile(r"(?P<letter>[^\W\d_]{0,2})(?P<number>\d{1,3})(?P<mark>[.:)]?)")
LETTER = re.compile(r"[\[(]?[^\W\d_][.:)\]]+")
"""The letter before an answer, with its mark."""
FEWEST_QUESTIONS = 2
LEAST_ANSWERED = 0.5
"""Of so many of the questions the answers must be read, or the numbers are others."""
FEWEST_ANSWERS = 2
SAME_EDGE = 12.0
"""The numbers of a column begin within so many points of each other."""
GUTTER = 9.0
"""Columns are so many points apart."""
MIDDLE = (0.3, 0.7)
"""Between these shares of a page's width two columns part."""
LEAST_APART = 100.0
"""Points between the left edges of two columns at least: answers are indented by less."""
MOST_CROSSING = 1
"""So many words may cross the strip between columns: those of a title."""


def evidence(form: PrintedForm) -> str | None:
    """Whether rising numbers open the questions of a form that prints no variable codes."""
    blocks = [] if form.codes else divide(form)
    found = [reading for reading in read(blocks) if reading.options]
    if len(found) < max(FEWEST_QUESTIONS, LEAST_ANSWERED * len(blocks)):
        return None
    last = blocks[-1].source_id
    return (
        f"questions numbered {blocks[0].source_id} to {last} without variable codes, {len(found)} of them with answers"
    )


def divide(form: PrintedForm) -> list[Block]:
    """The blocks of a form, read in one column or in two: in the way that finds more questions with answers."""
    in_columns = form_lines([column for page in form.pages for column in _columns(page)])
    ways = [
        _blocks(lines, columns, are_answers_alike)
        for columns, lines in ((1, form.lines), (2, in_columns))
        for are_answers_alike in (False, True)
    ]
    return max(ways, key=lambda blocks: (sum(bool(each.options) for each in read(blocks)), len(blocks)))


def read(blocks: Sequence[Block]) -> list[Reading]:
    """The questions of such blocks, those whose answers could not be read included."""
    return [reading for block in blocks for reading in _question(block)]


def _question(block: Block) -> list[Reading]:
    if not block.lines:  # a number beside which, and below which, nothing stands
        return []
    counted = dataclasses.replace(block, lines=_with_figures(block.lines))
    found = [reading for reading in (*read_grid(counted), *read_list(counted)) if reading.options]
    return found[:1] or [read_at(block, None, block.lines, question_stem(block.lines), None, ())]


def _columns(page: Page) -> list[Page]:
    """The two columns of a page, left and right of a strip in its middle that hardly a word crosses; else the page."""
    crossing = np.zeros(int(page.width) + 2)
    for word in page.words:
        crossing[max(int(word.box[0]), 0) : int(word.box[2]) + 1] += 1
    low, high = (int(share * page.width) for share in MIDDLE)
    free = [x for x in range(low, high) if crossing[x] <= MOST_CROSSING]
    strips = [[x for _, x in run] for _, run in itertools.groupby(enumerate(free), key=lambda pair: pair[1] - pair[0])]
    strip = max(strips, key=len, default=[])
    if len(strip) < GUTTER:
        return [page]
    middle = (strip[0] + strip[-1]) / 2
    sides = [tuple(word for word in page.words if (word.box[0] > middle) == is_right) for is_right in (False, True)]
    return [dataclasses.replace(page, words=words) for words in sides]


def _blocks(lines: Sequence[Line], columns: int, are_answers_alike: bool) -> list[Block]:
    """A block for each number of the longest row 1, 2, 3 … that opens lines, all written in one way at one edge.

    Args:
        columns: at so many edges, far from each other.
        are_answers_alike: whether answers are numbered as the questions are: then 1 follows the number of a question.
    """
    found = [(place, match) for place, line in enumerate(lines) if (match := NUMBER.fullmatch(line.words[0].text))]
    starts: list[int] = []
    for first, match in found:
        if int(match["number"]) == 1 and len(lines[first].words) > 1:
            style = match["letter"].casefold(), match["mark"]
            same = [
                (n, int(m["number"])) for n, m in found if (m["letter"].casefold(), m["mark"]) == style and n >= first
            ]
            if are_answers_alike:
                same = [one for one, (_, after) in itertools.pairwise(same) if after == 1]
            starts = max(starts, _row(lines, same, columns), key=len)
    blocks = []
    for start, end in itertools.pairwise([*starts, len(lines)]):
        opening = lines[start].without(lines[start].words[:1])
        number = lines[start].words[0].text.rstrip(".:)")
        body = [line for line in (opening, *lines[start + 1 : end]) if line.cells]
        blocks.append(Block(number, None, body, code=f"q{len(blocks) + 1}", offers_all=True))
    return blocks


def _row(lines: Sequence[Line], numbered: Sequence[tuple[int, int]], columns: int) -> list[int]:
    """The places of the numbers 1, 2, 3 … at the edge of the first, or at that of another column."""
    row: list[int] = []
    edges: set[float] = set()
    for place, number in numbered:
        left = lines[place].box[0]
        is_known = any(abs(left - edge) <= SAME_EDGE for edge in edges)
        is_other = len(edges) < columns and all(abs(left - edge) > LEAST_APART for edge in edges)
        if number == len(row) + 1 and (is_known or is_other):
            row.append(place)
            edges |= set() if is_known else {left}
    return row


def _with_figures(lines: Sequence[Line]) -> list[Line]:
    """Lines in which lettered answers are numbered ones: `a)`, `b)` are `1.`, `2.`."""
    lettered = [cell.words[0] for line in lines for cell in line.cells if len(cell.words) + len(line.cells) > 2]
    lettered = [word for word in lettered if LETTER.fullmatch(word.text)]
    if len(lettered) < FEWEST_ANSWERS or len({word.text.casefold() for word in lettered}) < len(lettered):
        return list(lines)
    figures = {word: dataclasses.replace(word, text=f"{n}.") for n, word in enumerate(lettered, 1)}
    return [
        dataclasses.replace(
            line,
            cells=tuple(
                dataclasses.replace(cell, words=tuple(figures.get(word, word) for word in cell.words))
                for cell in line.cells
            ),
        )
        for line in lines
    ]


LAYOUT = Layout(
    "numbered_list",
    "questions counted 1., 2. or Q1, Q2 at one edge, without variable codes, and answers that begin with a) or 1.",
    evidence,
    divide,
    read,
)
