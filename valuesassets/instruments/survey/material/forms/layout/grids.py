"""Reads tables of codes: grids with an item per line, ten-point scales with anchors above, first and second choices."""

import dataclasses
import itertools
import re
from collections.abc import Sequence

from valuesassets.instruments.survey.material.forms.layout.blocks import (
    Block,
    Reading,
    question_stem,
    read_at,
    read_list,
)
from valuesassets.instruments.survey.material.forms.layout.lines import Cell, Line, join_lines
from valuesassets.instruments.survey.material.forms.layout.scales import answer_values, column_labels
from valuesassets.instruments.survey.material.forms.layout.wording import is_note, item_text
from valuesassets.instruments.survey.material.forms.layout.words import text_lines
from valuesassets.records.questions import MISSING_CODES

LETTERED = re.compile(r"([^\W\d_])\s?[-–—.)]\s+")  # the letter before an item, with its mark
FEWEST_LETTERS = 2  # items with a letter in a list that counts by letters


def read_grid(block: Block) -> list[Reading]:
    """The rows with a code and answer codes, and the scales with anchors above; empty if the block has neither."""
    rows = [_is_row(line) or _is_scale(line) for line in block.lines]
    for position in _heads_of_figures(block.lines):
        rows[position] = False
    if not any(rows):
        return []
    first = rows.index(True)
    head_start = _head_start(block.lines, first)
    while head_start > 0 and all(cell.is_letter for cell in _text_cells(block.lines[head_start - 1])):
        head_start -= 1
    stem = question_stem(block.lines[:head_start])
    readings: list[Reading] = []
    head: list[Line] = []
    labels: dict[int, str] = {}
    waiting: list[Line] = []
    for position, line in enumerate(block.lines):
        if rows[position]:
            if waiting or not readings:
                head = waiting
            if _is_scale(line):
                readings.append(_scale(block, head, line, stem))
            else:
                if waiting or not labels:
                    labels = column_labels(head, line.numbers, block.offers_all)
                readings.append(_row(block, line, stem, labels))
            waiting = []
        elif position >= head_start and not (line.is_boxed_note or is_note(line.text)):
            if line.is_ruled and line.codes == line.words[:1] and line.other_words:  # its answer codes are lost
                readings.append(_row(block, line, stem, {}))
            elif line.other_words or line.codes:
                waiting.append(line)
    return _without_letters(readings)


def _without_letters(readings: Sequence[Reading]) -> list[Reading]:
    """Items without the letters that count them: `A – good pay`, `B – good hours`; the last items may have none."""
    matches = [LETTERED.match(reading.item or "") for reading in readings]
    letters = [match[1] for match in matches if match]
    if len(letters) < FEWEST_LETTERS or letters != [chr(ord(letters[0]) + n) for n in range(len(letters))]:
        return list(readings)
    return [
        dataclasses.replace(reading, item=(reading.item or "")[match.end() :]) if match else reading
        for reading, match in zip(readings, matches, strict=True)
    ]


def _is_row(line: Line) -> bool:
    """Whether a line is an item with its code and its answer codes."""
    is_led = len(line.codes) == 1 or line.codes[:1] == line.words[:1]
    return is_led and len(line.numbers) >= 2 and bool(line.other_words)


def _is_scale(line: Line) -> bool:
    """Whether a line is a ten-point scale without an item."""
    values = [value for value, _ in line.numbers]
    return len(values) >= 8 and not line.other_words and len(answer_values(values)) >= 8


def _heads_of_figures(lines: Sequence[Line]) -> list[int]:
    """The lines over a grid with the codes that each row repeats: they are no scale."""
    positions = []
    for position, line in enumerate(lines):
        if _is_scale(line) and not line.codes:
            row = next((below for below in lines[position + 1 :] if _is_row(below) or _is_scale(below)), line)
            values, own = ([value for value, _ in each.numbers] for each in (line, row))
            positions += [position] if _is_row(row) and values == own else []
    return positions


def _head_start(lines: Sequence[Line], first: int) -> int:
    """The position where the question's text ends and the head of its first row or scale begins."""
    row = lines[first]
    if _is_scale(row):
        return _anchors_start(lines, first)
    one, other, *_ = sorted(word.x for _, word in row.numbers)
    left = min(word.box[0] for _, word in row.numbers) - 0.75 * max(other - one, 8.0)
    start = first
    while start > 0 and ((above := lines[start - 1]).page != row.page or is_note(above.text) or _is_right(above, left)):
        start -= 1
    while start < first and lines[start].page != row.page:
        start += 1
    return start


def _anchors_start(lines: Sequence[Line], first: int) -> int:
    """The position of the labels of the scale at `first`: at the code above it, else at the first line with a gap.

    The code may be alone, with the letter of the scale, at the end of the text, or beside the labels.
    """
    coded = max((position for position in range(first) if lines[position].codes), default=None)
    start = first
    if coded is not None:
        texts = _text_cells(lines[coded])
        is_alone = not texts or (len(texts) == 1 and texts[0].is_letter)
        if is_alone and coded + 1 < first:
            return coded
        if len(texts) == 1 and coded + 1 < first:
            running = {n: cells[0].text for n in range(coded, first) if len(cells := _text_cells(lines[n])) == 1}
            end = max((n for n, text in running.items() if text.endswith((".", "?", "!", ":"))), default=first)
            return end + 1 if end + 1 < first else coded + 1
        start = coded
    while start > 0 and len(_text_cells(lines[start - 1])) > 1:
        start -= 1
    return start


def _text_cells(line: Line) -> list[Cell]:
    """The cells of a line that hold more than variable codes."""
    return [cell for cell in line.cells if not all(word.code or word.text in "()" for word in cell.words)]


def _is_right(line: Line, left: float) -> bool:
    return line.box[0] >= left or (line.is_ruled and not line.is_boxed_note and line.cells[-1].box[0] >= left)


def _scale(block: Block, above: Sequence[Line], line: Line, stem: str) -> Reading:
    """A ten-point scale with its code (the last one above or beside it) and its anchors."""
    before = block.lines[: block.lines.index(line)]
    codes = [code for each in (*before, *above, line) for code in each.codes]
    labels = column_labels([_anchors_only(each) for each in above], line.numbers)
    return read_at(block, codes[-1] if codes else None, [*above, line], stem, None, [*labels.items()])


def _anchors_only(line: Line) -> Line:
    """A line without codes and without the letter of the scale."""
    rest = line.without(line.codes)
    rest = rest.without({word for word in rest.words if word.text in "()"})
    return rest.without({word for cell in rest.cells if cell.is_letter for word in cell.words})


def _row(block: Block, line: Line, stem: str, labels: dict[int, str]) -> Reading:
    """An item of a grid with the answer codes of its own row."""
    code, *others = line.codes
    taken = {code, *(word for _, word in line.numbers)}
    for cell in line.cells:  # a code of its own beside the figure for none or don't know: `8 v20a`
        if set(others) & set(cell.words) and all(word in others or word.text.isdigit() for word in cell.words):
            taken |= set(cell.words)
    item = item_text(" ".join(_item(cell) for cell in line.without(taken).cells if not cell.is_letter))
    own = answer_values([value for value, _ in line.numbers], block.offers_all)
    return read_at(block, code, [line], stem, item, [(value, labels.get(value, "")) for value in own])


def _item(cell: Cell) -> str:
    """The text of an item without lines that are notes."""
    lines = text_lines(cell.words)
    return join_lines([line for line in lines if not is_note(join_lines([line]))] or lines)


def read_choices(block: Block, waiting: Sequence[Block]) -> list[Reading]:
    """Questions that share one table of options, a column each, such as `(v110)` and `(v111)`; else empty."""
    heads = [(position, line.codes) for position, line in enumerate(block.lines)]
    head = next(((at, codes) for at, codes in heads if len(codes) >= 2 and not block.lines[at].numbers), None)
    if head is None:
        return []
    position, codes = head
    sharing = [*waiting, block][-len(codes) :]
    rows = [line for line in block.lines[position + 1 :] if _chosen(line) and line.other_words]
    if len(sharing) < len(codes) or not rows:
        return []
    first = block.lines.index(rows[0])
    readings = []
    for number, (each, code) in enumerate(zip(sharing, codes, strict=True)):
        options = []
        for row in rows:
            chosen = _chosen(row)
            is_whole = len(chosen) == len(codes)
            owners = [min(range(len(codes)), key=lambda n: abs(codes[n].x - x)) for _, x in chosen]
            values = [v for n, (v, _) in enumerate(chosen) if (n if is_whole else owners[n]) == number]
            options += [(value, _option_label(value, row, block.lines)) for value in values[:1]]
        lines = each.lines if each is not block else each.lines[:position]
        table = block.lines[position : first + len(rows)]
        table_of = dataclasses.replace(block, source_id=each.source_id, section=each.section, lead=each.lead)
        readings.append(read_at(table_of, code, table, question_stem(lines), None, options))
    return readings


def _chosen(row: Line) -> list[tuple[int, float]]:
    """The codes of a row of choices and their horizontal places, without those for don't know and no answer."""
    return [(value, word.x) for value, word in row.numbers if value and value not in MISSING_CODES]


def _option_label(value: int, row: Line, lines: Sequence[Line]) -> str:
    """The words of a row and of its continuation lines, without the number before them in some lists."""
    cells = row.without({word for _, word in row.numbers}).cells
    written = [" ".join(cell.text for cell in cells if not cell.is_letter)]
    before = lines[max(lines.index(row) - 1, 0)]
    if before.cells[0].is_letter and not (before.numbers or row.cells[0].is_letter or before.page != row.page):
        written.insert(0, " ".join(cell.text for cell in before.cells[1:]))  # the codes are on its last line
    for above, line in itertools.pairwise(lines[lines.index(row) :]):
        is_near = line.page == above.page and line.box[1] - above.box[3] < 0.6 * line.words[0].height
        is_text = len(line.cells) == 1 and not line.is_ruled and not line.numbers and not is_note(line.text)
        if not (is_near and is_text and not row.is_ruled and line.box[2] < row.numbers[0][1].box[0]):
            break
        written.append(line.text)
    return item_text(re.sub(rf"^{value}\s?[.)]\s?", "", " ".join(written)))


def read_tables(blocks: Sequence[Block]) -> list[Reading]:
    """The readings of blocks with variable codes: choices, a grid with scales, or an answer list.

    A question without answers waits for the table below the next one.
    """
    readings: list[Reading] = []
    waiting: list[Block] = []
    letters = "abcdefghABCDEFGH"
    for block in blocks:
        choices = read_choices(block, waiting)
        codes = {reading.code for reading in choices}
        readings = [each for each in readings if each.options or each.code not in codes]  # now with its answers
        of_block = choices or read_grid(block) or read_list(block)
        earlier = readings[-1] if readings else None
        for reading in of_block:
            if not reading.stem and earlier and earlier.source_id.rstrip(letters) == reading.source_id.rstrip(letters):
                reading = dataclasses.replace(reading, stem=earlier.stem)  # `Q52B` continues the words of `Q52A`
            readings.append(reading)
        waiting = [] if any(reading.options for reading in of_block) else [*waiting, block]
    return readings
