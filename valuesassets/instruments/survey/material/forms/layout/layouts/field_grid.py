"""Field grids, as EVS prints its field questionnaires: numbers at the margin (`Q12`, or `12.`) divide the form.

Below a number is a question with its variable code `(v39)`, or a grid whose lines each begin with a code.
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
from valuesassets.instruments.survey.material.forms.layout.form_lines import PrintedForm
from valuesassets.instruments.survey.material.forms.layout.grids import read_tables
from valuesassets.instruments.survey.material.forms.layout.lines import Line

BARE = re.compile(r"(\d{1,3})([a-zA-Z]?)[.:)]?")  # a question number without a letter before it
LEFT_PART = 0.3  # left share of a page for question numbers, unless they are alone on a line
HIGHEST_CODE = 12  # higher figures at the margin are no answer codes, and show the edge of question numbers
ALIGNED = 12.0  # most points between the left edges of bare numbers
FEWEST_NUMBERS = 10  # rising numbers of a form that numbers its questions
LEAST_WITHOUT_WORDS = 0.5  # least share of blocks without words at the end of a form that are show cards
FEWEST_NUMBERED = 0.1  # least question numbers per variable code of a form that is divided by numbers

read = read_tables


def evidence(form: PrintedForm) -> str | None:
    """The evidence that numbers at the margin divide a form with variable codes, in words; else None."""
    numbers = question_numbers(form.lines, form.widths)
    if not form.codes or len(numbers) < FEWEST_NUMBERED * len(form.codes):
        return None
    first = next(iter(numbers.values()), "none")
    return f"{len(numbers)} question numbers at the margin, the first {first}, and {len(form.codes)} variable codes"


def divide(form: PrintedForm) -> list[Block]:
    """The blocks of a form in reading order, from the first question number on."""
    numbers = question_numbers(form.lines, form.widths)
    blocks: list[Block] = []
    heading: list[Line] = []
    section = None
    for position, line in enumerate(form.lines):
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
    return _without_cards(blocks)


def _without_cards(blocks: Sequence[Block]) -> list[Block]:
    """The blocks before the show cards, which repeat numbers and codes at the end of a form without words.

    Repeated questions in another language have words.
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
    """Whether a block has only codes after its number."""
    head = [word for line in block.lines[:1] for word in line.words]
    return all(word.code or word.text[0] in "([" or not any(map(str.isalnum, word.text)) for word in head)


def question_numbers(lines: Sequence[Line], widths: dict[int, float]) -> dict[int, str]:
    """The question number at the beginning of each line, by position; `widths` are those of the pages, by number."""
    lettered = {n: match for n, line in enumerate(lines) if (match := _lettered(line, widths[line.page]))}
    letters = Counter(match[1] for match in lettered.values())
    letter, count = letters.most_common(1)[0] if letters else ("", 0)
    bare = _bare_numbers(lines, widths)
    if count < FEWEST_NUMBERS <= len(bare):
        return bare
    return {n: match[1] + match[2] for n, match in lettered.items() if match[1].startswith(letter)}


def _lettered(line: Line, width: float) -> re.Match[str] | None:
    """The lettered number that a line begins with; a line of several numbers is the head of a table."""
    if not _may_begin(line, width):
        return None
    first, *others = (NUMBER.fullmatch(cell.words[0].text) for cell in line.cells)
    return first if first and first[1] not in "vV" and not any(others) else None


def _may_begin(line: Line, width: float) -> bool:
    is_alone = len(line.words) == 1 and not line.is_ruled
    return not line.is_boxed_note and (line.words[0].box[0] <= LEFT_PART * width or is_alone)


def _bare_numbers(lines: Sequence[Line], widths: dict[int, float]) -> dict[int, str]:
    """Bare numbers: the longest rising sequence at the edge of the numbers that are too high for answer codes."""
    matches = {
        n: match
        for n, line in enumerate(lines)
        if _may_begin(line, widths[line.page])
        and all(any(map(str.isalnum, word.text)) for word in line.words[1:2])  # a dash follows in lists of answers
        and (match := BARE.fullmatch(line.words[0].text))
    }
    lefts = {n: lines[n].words[0].box[0] for n in matches}
    high = Counter(round(lefts[n] / ALIGNED) for n, match in matches.items() if int(match[1]) > HIGHEST_CODE)
    if not high:
        return {}
    edge = high.most_common(1)[0][0] * ALIGNED
    aligned = [n for n in matches if abs(lefts[n] - edge) <= ALIGNED]
    rising = longest_rising([(int(matches[n][1]), matches[n][2]) for n in aligned])
    return {aligned[place]: matches[aligned[place]][1] + matches[aligned[place]][2] for place in rising}
