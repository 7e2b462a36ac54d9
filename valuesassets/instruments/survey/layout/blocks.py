"""Blocks: the lines from one question number to the next, page furniture left out, with the section they stand in."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from valuesassets.instruments.survey.layout.block import Block, OpenBlock, is_heading, section_of
from valuesassets.instruments.survey.layout.lines import Cell, Line, page_lines, without_notes_in_italics
from valuesassets.instruments.survey.layout.numbered_blocks import numbered_blocks
from valuesassets.instruments.survey.layout.pages import Page
from valuesassets.instruments.survey.layout.rows import with_whole_rows

NUMBER = re.compile(r"([^\W\d_]{1,2}|\(cid:\d+\))(\d{1,3}[a-zA-Z]{0,2})[.:)]?")
"""A printed question number such as `Q12`, `P3` or `Q13a.`; a damaged letter counts as one."""
MARGIN = 0.3
"""Question numbers stand in this left part of a page, or alone on a line."""


def read_blocks(pages: Sequence[Page]) -> list[Block]:
    """The blocks of a form in reading order. What stands before the first question number is no question."""
    furniture = _furniture(pages)
    printed = [line for page in pages for line in page_lines(page) if not _is_furniture(line, page, furniture)]
    lines = with_whole_rows([heard for line in printed if (heard := without_notes_in_italics(line))])
    if any(word.code is not None and word.code[0] == "Q" for line in lines for word in line.words):
        return numbered_blocks(lines)
    widths = {page.number: page.width for page in pages}
    letter = _number_letter(lines, widths)
    blocks: list[OpenBlock] = []
    heading: list[Line] = []
    section = None
    for line in lines:
        number = _question_number(line, widths[line.page])
        if number is not None and letter is not None and number.startswith(letter):
            section = section_of(heading) or section
            blocks.append(OpenBlock(number, section))
            line = _without_number(line)
            heading = []
            if line is None:
                continue
        elif is_heading(line):
            heading.append(line)
        elif not line.is_boxed_note:
            heading = []
        if blocks:
            blocks[-1].lines.append(line)
    return [each.closed() for each in blocks]


def _question_number(line: Line, width: float) -> str | None:
    """The number that a line begins with; a line of several numbers is the head of a table."""
    is_alone = len(line.words) == 1 and not line.is_ruled
    if line.is_boxed_note or (line.words[0].box[0] > MARGIN * width and not is_alone):
        return None
    found = [NUMBER.fullmatch(cell.words[0].text) for cell in line.cells]
    if found[0] is None or found[0][1] in "vV" or sum(each is not None for each in found) > 1:
        return None
    return found[0][1] + found[0][2]


def _number_letter(lines: Sequence[Line], widths: dict[int, float]) -> str | None:
    """The letter that question numbers begin with in this form: the one most often seen in the margin."""
    numbers = (NUMBER.fullmatch(number) for line in lines if (number := _question_number(line, widths[line.page])))
    seen = Counter(number[1] for number in numbers if number)
    return seen.most_common(1)[0][0] if seen else None


def _without_number(line: Line) -> Line | None:
    first, *others = line.cells
    rest = (Cell(first.words[1:], first.frame),) if len(first.words) > 1 else ()
    cells = (*rest, *others)
    return Line(line.page, cells, line.is_ruled) if cells else None


def _masked(line: Line) -> str:
    return re.sub(r"\d+", "0", line.text)


def _furniture(pages: Sequence[Page]) -> set[tuple[str, int]]:
    """Lines that stand at the same height on at least a quarter of the pages (three or more), figures aside."""
    seen: Counter[tuple[str, int]] = Counter()
    for page in pages:
        seen.update({_place(line, page) for line in _outer_lines(page)})
    return {place for place, count in seen.items() if count >= max(3, len(pages) / 4)}


def _outer_lines(page: Page) -> Iterator[Line]:
    for line in page_lines(page):
        middle = (line.box[1] + line.box[3]) / 2 / page.height
        has_number = any(NUMBER.fullmatch(cell.words[0].text) for cell in line.cells)
        if (middle < 0.16 or middle > 0.85) and not has_number and (line.is_boxed_note or not line.is_ruled):
            yield line


def _place(line: Line, page: Page) -> tuple[str, int]:
    return _masked(line), round(line.box[1] / 12)


def _is_furniture(line: Line, page: Page, furniture: set[tuple[str, int]]) -> bool:
    middle = (line.box[1] + line.box[3]) / 2 / page.height
    if 0.16 <= middle <= 0.85:
        return False
    masked, row = _place(line, page)
    is_page_number = masked == "0" and (middle < 0.1 or middle > 0.85) and not line.is_ruled
    return is_page_number or any((masked, near) in furniture for near in (row - 1, row, row + 1))
