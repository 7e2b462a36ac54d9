"""Numbered lists: questions `1.`, `2.` or `Q1`, `Q2`, with lettered or numbered answers and no variable codes.

Questions are named by their numbers, `q1`, `q2`. Of two columns the left one is read first.
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
from valuesassets.instruments.survey.material.forms.layout.form_lines import PrintedForm, form_lines
from valuesassets.instruments.survey.material.forms.layout.grids import read_grid
from valuesassets.instruments.survey.material.forms.layout.lines import Cell, Line
from valuesassets.instruments.survey.material.forms.layout.pages import Page

NUMBER = re.compile(r"(?P<letter>[^\W\d_]{0,2})(?P<number>\d{1,3})(?P<mark>[.:)]?)")
LETTER = re.compile(r"[\[(]?[^\W\d_][.:)\]]+")  # the letter before an answer, with its mark
FEWEST_QUESTIONS = 2
LEAST_ANSWERED = 0.5  # least share of questions with readable answers; with fewer, the numbers are no questions'
FEWEST_ANSWERS = 2
SAME_EDGE = 12.0  # most points between the left edges of a column's numbers
GUTTER = 9.0  # least points between columns
MIDDLE = (0.3, 0.7)  # range of the gutter as shares of the page's width
LEAST_APART = 100.0  # least points between the left edges of two columns; answers are indented by less
MOST_CROSSING = 1  # words across the gutter, such as those of a title


def evidence(form: PrintedForm) -> str | None:
    """The evidence that rising numbers open the questions of a form without variable codes, in words; else None."""
    blocks = [] if form.codes else divide(form)
    answered = [reading for reading in read(blocks) if reading.options]
    if len(answered) < max(FEWEST_QUESTIONS, LEAST_ANSWERED * len(blocks)):
        return None
    span = f"{blocks[0].source_id} to {blocks[-1].source_id}"
    return f"questions numbered {span} without variable codes, {len(answered)} of them with answers"


def divide(form: PrintedForm) -> list[Block]:
    """The blocks of a form in one column or two, whichever gives more questions with answers."""
    in_columns = form_lines([column for page in form.pages for column in _columns(page)])
    ways = [
        _blocks(lines, columns, are_answers_alike)
        for columns, lines in ((1, form.lines), (2, in_columns))
        for are_answers_alike in (False, True)
    ]
    return max(ways, key=lambda blocks: (sum(bool(each.options) for each in read(blocks)), len(blocks)))


def read(blocks: Sequence[Block]) -> list[Reading]:
    """The questions of blocks, also those without readable answers."""
    return [reading for block in blocks for reading in _question(block)]


def _question(block: Block) -> list[Reading]:
    if not block.lines:  # a number without any text
        return []
    counted = dataclasses.replace(block, lines=_with_figures(block.lines))
    readings = [reading for reading in (*read_grid(counted), *read_list(counted)) if reading.options]
    return readings[:1] or [read_at(block, None, block.lines, question_stem(block.lines), None, ())]


def _columns(page: Page) -> list[Page]:
    """The two columns beside a gutter in the middle of a page, or the whole page without a gutter."""
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
    """A block for each number of the longest sequence 1, 2, 3 … that opens lines, in one style at one edge.

    Args:
        columns: number of edges, far from each other.
        are_answers_alike: whether answers and questions are numbered alike, so that 1 follows a question's number.
    """
    numbered = [(place, match) for place, line in enumerate(lines) if (match := NUMBER.fullmatch(line.words[0].text))]
    starts: list[int] = []
    for first, match in numbered:
        if int(match["number"]) == 1 and len(lines[first].words) > 1:
            style = match["letter"].casefold(), match["mark"]
            in_style = ((n, m) for n, m in numbered if (m["letter"].casefold(), m["mark"]) == style and n >= first)
            same = [(n, int(m["number"])) for n, m in in_style]
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
    """The places of the numbers 1, 2, 3 … at the edge of the first number, or of another column."""
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
    """Lines with numbers in place of the letters of answers: `1.`, `2.` for `a)`, `b)`."""
    lettered = [cell.words[0] for line in lines for cell in line.cells if len(cell.words) + len(line.cells) > 2]
    lettered = [word for word in lettered if LETTER.fullmatch(word.text)]
    if len(lettered) < FEWEST_ANSWERS or len({word.text.casefold() for word in lettered}) < len(lettered):
        return list(lines)
    figures = {word: dataclasses.replace(word, text=f"{n}.") for n, word in enumerate(lettered, 1)}

    def with_figures(cell: Cell) -> Cell:
        return dataclasses.replace(cell, words=tuple(figures.get(word, word) for word in cell.words))

    return [dataclasses.replace(line, cells=tuple(map(with_figures, line.cells))) for line in lines]
