"""Finds lines that the text layer of a form has lost: their words are gone, but their place is empty.

A label or item that has lost a line reads like a shorter one, but differs from its neighbours: text has one height in
the cells of a form, items of a battery share their answers, rows of a grid have codes, and questions are numbered.
"""

import itertools
import re
import statistics
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from valuesassets.instruments.survey.material.forms.layout.lines import TOUCH, Cell, Line, page_lines
from valuesassets.instruments.survey.material.forms.layout.pages import Page
from valuesassets.instruments.survey.material.forms.layout.wording import is_note
from valuesassets.instruments.survey.material.forms.layout.words import Word, text_lines, union
from valuesassets.records.lexicon import Lexicon
from valuesassets.records.questions import Question, has_words

MOST_OFF, MOST_OFF_SHARE = 12, 0.01
"""Most cells, by number and by share, at an unusual height; if there are more, height is no evidence in this form."""
FEWEST_CELLS = 20
OFF = 0.25  # least distance from the usual height of text in its cell, in heights of a letter
WIDE, LEADING = 1.5, 1.25
"""A gap of WIDE times the usual distance of lines has lost a line; LEADING is that distance in heights of a letter."""
LEAST_ROW, MOST_ROW, FEWEST_COLUMNS = 8.0, 60.0, 4  # height of a row of answers in points; vertical rules across it
FEWEST_NUMBERS = 10
MOST_GAPS = 1 / 20  # most question numbers, as a share, that lost lines explain; more are another way of numbering
SHORT = 3  # letters of the abbreviations of don't know over the columns of a table

ADVICE = "read the page, and say drop = true if not"
Doubt = tuple[str | None, int | None, str]  # question, page, and the problem


def battery_faults(
    questions: Sequence[Question], lexicon: Lexicon | None = None, is_printed: bool = True
) -> Iterator[Doubt]:
    """Empty items of a battery, answers unlike those of the battery, and labels with foreign words.

    Args:
        is_printed: whether a form was read, where a list has one head for all its items.
    """
    lists: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        lists[question.stem or question.text].append(question)
    short = _short_forms(lexicon)
    for question in questions:
        near = [each for each in lists[question.stem or question.text] if each is not question]
        problems = [*_beside_its_list(question, near, is_printed), *(_in_labels(question, short) if is_printed else ())]
        yield from ((question.id, question.page, problem) for problem in problems)


def _beside_its_list(question: Question, near: Sequence[Question], is_printed: bool) -> Iterator[str]:
    if any(each.item for each in near) and not question.item:
        yield "its item is empty, where others of its list have one; read the page and write it"
    same = [each for each in near if sorted(each.values) == sorted(question.values)]
    labels = [option.label for option in question.options]
    is_bare = not any(map(has_words, question.options))
    if not (is_printed or (is_bare and same)):
        return
    if question.item and near and question.values and not same:
        yield f"its answers have other codes than those of {near[0].id}, of the same list; compare both with the page"
    elif question.item and same and not any(labels == [option.label for option in each.options] for each in same):
        bare = ", bare figures" * is_bare
        yield f"its answers ({'; '.join(labels)[:60]}{bare}) are not those of {same[0].id}, of the same list"


def _in_labels(question: Question, short: frozenset[str]) -> Iterator[str]:
    for option in question.options:
        words = option.label.split()
        if re.search(r"[?!]\s+\S|[.:;]\s+\S+\s+\S", option.label):
            yield f"label {option.label[:60]!r} holds a sentence: is the line above it lost? read the page"
        elif words and (words[-1] in short or words[0] in short):
            yield f"label {option.label[:60]!r} holds words for don't know or no answer; read the page"


def _short_forms(lexicon: Lexicon | None) -> frozenset[str]:
    """The abbreviations of don't know and no answer, in capitals."""
    words = lexicon.missing_answers if lexicon else ()
    return frozenset(word for word in words if word.isupper() and word.isalpha() and 1 < len(word) <= SHORT)


@dataclass(frozen=True)
class _Placed:
    """A cell; how far its text is below the middle of its frame, in heights of a letter; and its lines."""

    cell: Cell
    page: int
    off: float
    lines: list[list[Word]]


def cell_faults(questions: Sequence[Question], pages: Sequence[Page]) -> Iterator[Doubt]:
    """The first cell of each question whose text has an unusual height in its frame, or a gap between its lines."""
    placed = [each for page in pages for line in page_lines(page) if line.is_ruled for each in _placed(line)]
    if len(placed) < FEWEST_CELLS:
        return
    usual = statistics.median(each.off for each in placed)
    if sum(abs(each.off - usual) >= OFF for each in placed) > max(MOST_OFF, MOST_OFF_SHARE * len(placed)):
        return
    named = set[str]()
    for each in placed:
        steps = [lower[0].y - upper[0].y for upper, lower in itertools.pairwise(each.lines)]
        has_gap = any(step > WIDE * LEADING * each.lines[0][0].height for step in steps)
        question = _at(each, questions) if abs(each.off - usual) >= OFF or has_gap else None
        if question is not None and question.id not in named:
            named.add(question.id)
            message = f"{each.cell.text[:60]!r} does not fill its cell as the form's others do: is a line lost?"
            yield question.id, each.page, message


def _at(placed: _Placed, questions: Sequence[Question]) -> Question | None:
    """The question of a cell: the one whose box holds it, else the next one below."""
    top, bottom = placed.cell.box[1], placed.cell.box[3]
    on_page = [(each.box, each) for each in questions if each.page == placed.page and each.box]
    within = [question for box, question in on_page if box[1] < bottom and top < box[3]]
    below = sorted((box[1], place) for place, (box, _) in enumerate(on_page) if box[1] >= bottom)
    return within[0] if within else on_page[below[0][1]][1] if below else None


def _placed(line: Line) -> Iterator[_Placed]:
    for cell in line.cells:
        if cell.frame is None or len(line.cells) < 2:
            continue
        lines = text_lines(cell.words)
        height = statistics.median(word.height for word in cell.words)
        top, bottom = union(word.box for word in cell.words)[1::2]
        off = ((top + bottom) / 2 - (cell.frame[1] + cell.frame[3]) / 2) / height
        yield _Placed(cell, line.page, off, lines)


def empty_row_faults(questions: Sequence[Question], pages: Sequence[Page]) -> Iterator[Doubt]:
    """Empty rows of ruled tables, which a form does not have."""
    for page in pages:
        on_page = sorted((each.box[1], each.id) for each in questions if each.page == page.number and each.box)
        heights = sorted({round(float(y), 1) for y, *_ in page.horizontal})
        for top, bottom in itertools.pairwise(heights):
            if not LEAST_ROW <= bottom - top <= MOST_ROW or any(top < word.y < bottom for word in page.words):
                continue
            middle = (top + bottom) / 2
            columns = {round(float(x)) for x, upper, lower in page.vertical if upper <= middle <= lower}
            above = [code for y, code in on_page if y < middle]
            if len(columns) >= FEWEST_COLUMNS and on_page:
                code = above[-1] if above else on_page[0][1]
                yield code, page.number, "a row of the table beside it is empty: is a line lost? read the page"


def row_faults(pages: Sequence[Page]) -> Iterator[Doubt]:
    """Rows without code or answers in tables whose other rows have both."""
    for page in pages:
        lines = page_lines(page)
        for before, line, after in zip([None, *lines], lines, [*lines[1:], None], strict=False):
            if line.codes or not line.other_words or line.text.startswith("[") or is_note(line.text):
                continue
            near = [each for each in (before, after) if each is not None and len(each.codes) == 1 and each.numbers]
            alike = [each for each in near if [v for v, _ in each.numbers] == [v for v, _ in line.numbers]]
            text = " ".join(word.text for word in line.other_words)[:60]
            if len(line.numbers) > 1 and alike:
                message = f"{text!r} has answers but no variable code, as the rows beside it have; read the page"
                yield alike[0].codes[0].code, page.number, message
            elif not line.numbers and before in near and before is not None and _touch(before, line):
                message = f"{text!r} has neither variable code nor answers, as the row above it has; read the page"
                yield before.codes[0].code, page.number, message


def _touch(above: Line, below: Line) -> bool:
    """Whether two lines are neighbouring rows of one table."""
    frames = [[cell.frame for cell in line.cells if cell.frame] for line in (above, below)]
    if not all(frames) or len(below.cells) > len(above.cells):
        return False
    (upper, *_), (lower, *_) = frames
    return abs(upper[3] - lower[1]) < TOUCH and lower[0] < upper[2] + TOUCH


def number_faults(numbers: Sequence[str], coded: Collection[str]) -> Iterator[Doubt]:
    """Question numbers that the form skips, or that have no variable code; `coded` are the numbers with one."""
    matches = [match for number in numbers if (match := re.fullmatch(r"([^\W\d_]{0,2})(\d{1,3})", number))]
    counted = sorted({int(match[2]) for match in matches})
    if len(counted) < FEWEST_NUMBERS:
        return
    bare = [number for number in dict.fromkeys(numbers) if number not in coded]
    if len(bare) <= MOST_GAPS * len(counted):
        for number in bare:
            yield number, None, f"no variable code stands under it: is a line lost? {ADVICE}"
    lacking = [number for number in range(counted[0], counted[-1]) if number not in counted]
    if 0 < len(lacking) <= MOST_GAPS * len(counted):
        letter = matches[0][1]
        for number in lacking:
            name = f"{letter}{number}"
            yield (
                name,
                None,
                f"{name} is nowhere in the form, though the numbers around it are: is a line lost? {ADVICE}",
            )
