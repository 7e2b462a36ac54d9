"""Card lists, as WVS prints its questionnaires: variable codes are the question numbers, or questions have none.

A text at the margin after the answers to the last question opens a block. It is the stem of the items of a table below,
or leads the questions with codes below.
"""

from collections import Counter
from collections.abc import Sequence

from valuesassets.instruments.survey.material.forms.layout.answers import option_of
from valuesassets.instruments.survey.material.forms.layout.blocks import Block, is_heading, section_of
from valuesassets.instruments.survey.material.forms.layout.form_lines import PrintedForm
from valuesassets.instruments.survey.material.forms.layout.grids import read_tables
from valuesassets.instruments.survey.material.forms.layout.layouts.field_grid import FEWEST_NUMBERED, question_numbers
from valuesassets.instruments.survey.material.forms.layout.lines import Line, is_small_print
from valuesassets.instruments.survey.material.forms.layout.wording import is_note
from valuesassets.people.variables import CodePattern, load_variables

FEWEST_CODES = 5  # questions led by a code that show the left edge of texts; with fewer, long lines show it
LONG = 6  # words of a long line
NEAR_EDGE = 4.0  # most points between a text and the left edge of most questions

read = read_tables


def evidence(form: PrintedForm) -> str | None:
    """The evidence that a form prints variable codes without question numbers, in words; else None."""
    if not form.codes:
        return None
    summary = f"{len(form.codes)} variable codes, the first {form.codes[0]}"
    if pattern := _numbering(form):
        return f"{summary}: questions are numbered by their variables ({pattern.letter})"
    numbers = len(question_numbers(form.lines, form.widths))
    return f"{summary}, and {numbers} question numbers" if numbers < FEWEST_NUMBERED * len(form.codes) else None


def divide(form: PrintedForm) -> list[Block]:
    """The blocks of a form in reading order."""
    pattern, lines = _numbering(form), form.lines
    offers_all = pattern is not None and pattern.offers_all
    texts = [line for line in lines if line.words[0].code and not line.numbers]
    if len(texts) < FEWEST_CODES:
        texts = [line for line in lines if len(line.cells[0].words) >= LONG and not is_note(line.text)]
    if not texts:
        return []
    margin = Counter(round(line.box[0]) for line in texts).most_common(1)[0][0]
    height = Counter(round(line.words[0].height, 1) for line in texts).most_common(1)[0][0]
    blocks: list[Block] = []
    heading: list[Line] = []
    section = None
    lead: Sequence[Line] = ()
    for line in lines:
        code = line.words[0].code
        is_text = line.box[0] <= margin + NEAR_EDGE and not is_small_print(line, height)
        if is_heading(line):
            heading.append(line)
            lead = ()
            continue
        if is_note(line.text) or (line.is_boxed_note and not line.numbers):
            continue
        is_head_of_choices = len(line.cells) > 1 and not line.other_words
        if code and is_text and not line.numbers and not is_head_of_choices:
            section = section_of(heading) or section
            if blocks and not blocks[-1].code and not _is_answered(blocks[-1]):
                lead = blocks.pop().lines
            elif "?" in line.text:
                lead = ()
            blocks.append(Block(code, section, code=code, lead=lead, offers_all=offers_all))
            line = line.without(line.words[:1]) if len(line.words) > 1 else line
            heading = []
        elif is_text and not code and option_of(line) is None and (not blocks or heading or _is_answered(blocks[-1])):
            section = section_of(heading) or section
            blocks.append(Block("", section, offers_all=offers_all))
            heading, lead = [], ()
        if blocks:
            blocks[-1].lines.append(line)
    for block in blocks:
        if not block.source_id:  # a text names its block by its first code, or by its first words
            first = " ".join(word.text for word in block.lines[0].words[:4])
            block.source_id = next((code.code or "" for line in block.lines for code in line.codes), f"{first} …")
    return blocks


def _numbering(form: PrintedForm) -> CodePattern | None:
    """The pattern of a form's codes if they are its question numbers; else None."""
    letters = {code[0] for code in form.codes}
    patterns = [pattern for pattern in load_variables().codes if pattern.letter in letters]
    return patterns[0] if any(pattern.is_question_number for pattern in patterns) else None


def _is_answered(block: Block) -> bool:
    return any(line.numbers or option_of(line) for line in block.lines)
