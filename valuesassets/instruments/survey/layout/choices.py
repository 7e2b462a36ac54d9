"""First and second choices: questions that share one table of options, a column each."""

import dataclasses
from collections.abc import Sequence

from valuesassets.instruments.survey.layout.blocks import Block
from valuesassets.instruments.survey.layout.codes import PrintedCode, is_letter, numbers, other_words, printed_codes
from valuesassets.instruments.survey.layout.lines import Cell, Line
from valuesassets.instruments.survey.layout.reading import Reading, question_stem, read_at
from valuesassets.instruments.survey.layout.wording import item_text
from valuesassets.records.questions import MISSING_CODES


def read_choices(block: Block, waiting: Sequence[Block]) -> list[Reading]:
    """Questions that share one table of options, a column each: `(v110)` and `(v111)`. Empty where there is none."""
    heads = [(position, printed_codes(line)) for position, line in enumerate(block.lines)]
    head = next(((at, codes) for at, codes in heads if len(codes) >= 2 and not numbers(block.lines[at])), None)
    if head is None:
        return []
    position, codes = head
    asked = [*waiting, block][-len(codes) :]
    rows = [line for line in block.lines[position + 1 :] if _chosen(line) and other_words(line)]
    if len(asked) < len(codes) or not rows:
        return []
    first = block.lines.index(rows[0])
    readings = []
    for number, (each, code) in enumerate(zip(asked, codes, strict=True)):
        options = []
        for row in rows:
            chosen = _chosen(row)
            is_whole = len(chosen) == len(codes)
            mine = [v for n, (v, x) in enumerate(chosen) if (n if is_whole else _owner(codes, x)) == number]
            options += [(value, _option_label(row)) for value in mine[:1]]
        lines = each.lines if each is not block else each.lines[:position]
        table = block.lines[position : first + len(rows)]
        reading = read_at(block, code, table, question_stem(lines), None, options)
        readings.append(dataclasses.replace(reading, source_id=each.source_id, section=each.section))
    return readings


def _chosen(row: Line) -> list[tuple[int, float]]:
    """The codes of a row of choices with their places, without those for don't know and no answer."""
    return [(value, word.x) for value, word in numbers(row) if value and value not in MISSING_CODES]


def _owner(codes: Sequence[PrintedCode], x: float) -> int:
    """The variable whose printed code is nearest."""
    return min(range(len(codes)), key=lambda number: abs(codes[number].x - x))


def _option_label(row: Line) -> str:
    taken = {word for _, word in numbers(row)}
    cells = [
        Cell(words)
        for cell in row.cells
        if (words := tuple(word for word in cell.words if word not in taken)) and not is_letter(cell)
    ]
    return item_text(" ".join(cell.text for cell in cells))
