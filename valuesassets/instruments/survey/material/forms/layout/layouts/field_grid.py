"""Field grids, as EVS prints its field questionnaires: numbers at the margin divide the form (`Q12`, or `12.`).

Under a number stand the question with its variable code `(v39)`, or a grid whose lines each begin with a code.
"""

import re
from collections import Counter
from collections.abc import Sequence

from valuesassets.instruments.survey.material.forms.layout.blocks import (
    NUMBER,
    Block,
    is_heading,
    longest_rising,
    section_of,
)
from valuesassets.instruments.survey.material.forms.layout.lines import Line
from valuesassets.instruments.survey.material.forms.layout.printed_form import Layout, PrintedForm
from valuesassets.instruments.survey.material.forms.layout.tables import read_tables

BARE = re.compile(r"(\d{1,3})([a-zA-Z]?)[.:)]?")
"""A question number without a letter."""
LEFT_PART = 0.3
"""Question numbers stand in this left part of a page, or alone on a line."""
HIGHEST_CODE = 12
"""Figures above that at the margin are no answer codes: they show where the numbers of questions stand."""
ALIGNED = 12.0
"""Numbers without a letter begin within so many points of each other."""
FEWEST_NUMBERS = 10
"""So many rising numbers are those of questions."""
LEAST_WITHOUT_WORDS = 0.5
"""Of the blocks behind the last question that is new so many have no words, where they are show cards."""
FEWEST_NUMBERED = 0.1
"""A form with fewer question numbers than this share of its variable codes is not divided by them."""


def evidence(form: PrintedForm) -> str | None:
    """Whether question numbers at the margin divide a form that prints variable codes."""
    numbers = question_numbers(form.lines, form.widths)
    if not form.codes or len(numbers) < FEWEST_NUMBERED * len(form.codes):
        return None
    first = next(iter(numbers.values()), "none")
    return f"{len(numbers)} question numbers at the margin, the first {first}, and {len(form.codes)} variable codes"


def divide(form: PrintedForm) -> list[Block]:
    """The blocks of a form in reading order."""
    return _without_cards(numbered_blocks(form.lines, question_numbers(form.lines, form.widths)))


def _without_cards(blocks: Sequence[Block]) -> list[Block]:
    """The blocks up to the show cards: those at the end of a form that name again what was asked, without words.

    The same questions in another language have words of their own.
    """
    numbers: set[str] = set()
    codes: set[str | None] = set()
    end = 0
    for place, block in enumerate(blocks, 1):
        printed = {word.code for line in block.lines for word in line.codes}
        if block.source_id not in numbers or printed - codes:
            end = place
        numbers.add(block.source_id)
        codes |= printed
    behind = blocks[end:]
    are_cards = sum(map(_has_no_words, behind)) >= LEAST_WITHOUT_WORDS * len(behind)
    return list(blocks[:end] if are_cards else blocks)


def _has_no_words(block: Block) -> bool:
    """Whether nothing but codes stands behind the number of a block."""
    head = [word for line in block.lines[:1] for word in line.words]
    return all(word.code or word.text[0] in "([" or not any(map(str.isalnum, word.text)) for word in head)


def numbered_blocks(lines: Sequence[Line], numbers: dict[int, str]) -> list[Block]:
    """The blocks of a form in reading order. What stands before the first question number is no question.

    Args:
        numbers: by position of a line, as `question_numbers` gives them.
    """
    blocks: list[Block] = []
    heading: list[Line] = []
    section = None
    for position, line in enumerate(lines):
        if position in numbers:
            section = section_of(heading) or section
            blocks.append(Block(numbers[position], section))
            heading = []
            line = line.without(line.words[:1])
        elif is_heading(line):
            heading.append(line)
        elif not line.is_boxed_note:
            heading = []
        if blocks and line.cells:
            blocks[-1].lines.append(line)
    return blocks


def question_numbers(lines: Sequence[Line], widths: dict[int, float]) -> dict[int, str]:
    """By position of a line, the question number that it begins with; empty where the form numbers no questions.

    Args:
        widths: of the pages, by number.
    """
    lettered = {n: match for n, line in enumerate(lines) if (match := _lettered(line, widths[line.page]))}
    letters = Counter(match[1] for match in lettered.values())
    letter, count = letters.most_common(1)[0] if letters else ("", 0)
    bare = _bare_numbers(lines, widths)
    if count < FEWEST_NUMBERS <= len(bare):
        return bare
    return {n: match[1] + match[2] for n, match in lettered.items() if match[1].startswith(letter)}


def _lettered(line: Line, width: float) -> re.Match[str] | None:
    """The number that a line begins with; a line of several numbers is the head of a table."""
    if not _may_begin(line, width):
        return None
    found = [NUMBER.fullmatch(cell.words[0].text) for cell in line.cells]
    is_one = found[0] is not None and found[0][1] not in "vV" and sum(each is not None for each in found) == 1
    return found[0] if is_one else None


def _may_begin(line: Line, width: float) -> bool:
    is_alone = len(line.words) == 1 and not line.is_ruled
    return not line.is_boxed_note and (line.words[0].box[0] <= LEFT_PART * width or is_alone)


def _bare_numbers(lines: Sequence[Line], widths: dict[int, float]) -> dict[int, str]:
    """Numbers without a letter: the longest rising sequence of those that stand where numbers too high for codes do."""
    found = {
        n: match
        for n, line in enumerate(lines)
        if _may_begin(line, widths[line.page])
        and all(any(map(str.isalnum, word.text)) for word in line.words[1:2])  # a dash follows in lists of answers
        and (match := BARE.fullmatch(line.words[0].text))
    }
    lefts = {n: lines[n].words[0].box[0] for n in found}
    high = Counter(round(lefts[n] / ALIGNED) for n, match in found.items() if int(match[1]) > HIGHEST_CODE)
    if not high:
        return {}
    edge = high.most_common(1)[0][0] * ALIGNED
    aligned = [n for n in found if abs(lefts[n] - edge) <= ALIGNED]
    rising = longest_rising([(int(found[n][1]), found[n][2]) for n in aligned])
    return {aligned[place]: found[aligned[place]][1] + found[aligned[place]][2] for place in rising}


LAYOUT = Layout(
    "field_grid",
    "a number such as Q12 at the left margin, and variable codes such as (v39) beside the question or before its items",
    evidence,
    divide,
    read_tables,
)
