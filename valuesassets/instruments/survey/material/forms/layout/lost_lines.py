"""What a page shows of a line of text that its text layer has lost: no word of it is left, but its place is.

A label or an item that has lost a line reads like a shorter one. Its neighbours tell: cells of a form keep to one
height, items of a battery have the same answers, rows of a grid have codes, and questions are counted.
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
"""So many of a form's cells, or such a share, may stand at another height of their frames; where more do, each form has
its own way, and a height says nothing."""
FEWEST_CELLS = 20
OFF = 0.25
"""So many heights of a letter off the usual place are another place."""
WIDE, LEADING = 1.5, 1.25
"""A line so many times the usual distance below the one before has lost one between them; that distance, in heights."""
LEAST_ROW, MOST_ROW, FEWEST_COLUMNS = 8.0, 60.0, 4
"""A row of answers is so many points high, and has so many rules across it at least."""
FEWEST_NUMBERS = 10
MOST_GAPS = 1 / 20
"""Of a form's question numbers so many may be left out; more are another way to count."""
SHORT = 3
"""Letters of the short forms for don't know that a table prints over its columns."""

Said = tuple[str | None, int | None, str]
"""Question, page, and what is in doubt."""


def battery_faults(
    questions: Sequence[Question], lexicon: Lexicon | None = None, is_printed: bool = True
) -> Iterator[Said]:
    """Items that are empty in a battery, answers that others of it have not, and labels that hold other words too.

    Args:
        is_printed: whether a form was read, in which a list has one head for all its items.
    """
    lists: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        lists[question.stem or question.text].append(question)
    short = _short_forms(lexicon)
    for question in questions:
        near = [each for each in lists[question.stem or question.text] if each is not question]
        said = [*_beside_its_list(question, near, is_printed), *(_in_labels(question, short) if is_printed else ())]
        yield from ((question.id, question.page, each) for each in said)


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
    """The short forms for don't know and no answer, in capitals as tables print them."""
    words = lexicon.missing_answers if lexicon else ()
    return frozenset(word for word in words if word.isupper() and word.isalpha() and 1 < len(word) <= SHORT)


@dataclass(frozen=True)
class _Placed:
    """A cell's text in its frame: how far its middle is below the frame's, in heights of a letter; its lines."""

    cell: Cell
    page: int
    off: float
    lines: list[list[Word]]


def cell_faults(questions: Sequence[Question], pages: Sequence[Page]) -> Iterator[Said]:
    """Cells of ruled tables whose text stands at another height than the form's others, or has a gap within; of each
    question the first.
    """
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
            said = f"{each.cell.text[:60]!r} does not fill its cell as the form's others do: is a line lost?"
            yield question.id, each.page, said


def _at(placed: _Placed, questions: Sequence[Question]) -> Question | None:
    """The question that a cell belongs to: the one in whose box it stands, else the next one below it."""
    top, bottom = placed.cell.box[1], placed.cell.box[3]
    here = [(each.box, each) for each in questions if each.page == placed.page and each.box]
    within = [question for box, question in here if box[1] < bottom and top < box[3]]
    below = sorted((box[1], place) for place, (box, _) in enumerate(here) if box[1] >= bottom)
    return within[0] if within else here[below[0][1]][1] if below else None


def _placed(line: Line) -> Iterator[_Placed]:
    for cell in line.cells:
        if cell.frame is None or len(line.cells) < 2:
            continue
        lines = text_lines(cell.words)
        height = statistics.median(word.height for word in cell.words)
        top, bottom = union(word.box for word in cell.words)[1::2]
        off = ((top + bottom) / 2 - (cell.frame[1] + cell.frame[3]) / 2) / height
        yield _Placed(cell, line.page, off, lines)


def empty_row_faults(questions: Sequence[Question], pages: Sequence[Page]) -> Iterator[Said]:
    """Rows of ruled tables in which nothing stands: a table of a form has none."""
    for page in pages:
        here = sorted((each.box[1], each.id) for each in questions if each.page == page.number and each.box)
        heights = sorted({round(float(y), 1) for y, *_ in page.horizontal})
        for top, bottom in itertools.pairwise(heights):
            if not LEAST_ROW <= bottom - top <= MOST_ROW or any(top < word.y < bottom for word in page.words):
                continue
            middle = (top + bottom) / 2
            columns = {round(float(x)) for x, upper, lower in page.vertical if upper <= middle <= lower}
            before = [code for y, code in here if y < middle]
            if len(columns) >= FEWEST_COLUMNS and here:
                code = before[-1] if before else here[0][1]
                yield code, page.number, "a row of the table beside it is empty: is a line lost? read the page"


def row_faults(pages: Sequence[Page]) -> Iterator[Said]:
    """Rows that lack their code, or their answers, in tables of which other rows have both."""
    for page in pages:
        lines = page_lines(page)
        for before, line, after in zip([None, *lines], lines, [*lines[1:], None], strict=False):
            if line.codes or not line.other_words or line.text.startswith("[") or is_note(line.text):
                continue
            near = [each for each in (before, after) if each is not None and len(each.codes) == 1 and each.numbers]
            alike = [each for each in near if [v for v, _ in each.numbers] == [v for v, _ in line.numbers]]
            text = " ".join(word.text for word in line.other_words)[:60]
            if len(line.numbers) > 1 and alike:
                said = f"{text!r} has answers but no variable code, as the rows beside it have; read the page"
                yield alike[0].codes[0].code, page.number, said
            elif not line.numbers and before in near and before is not None and _touch(before, line):
                said = f"{text!r} has neither variable code nor answers, as the row above it has; read the page"
                yield before.codes[0].code, page.number, said


def _touch(above: Line, below: Line) -> bool:
    """Whether two lines are rows of one table, the one right under the other."""
    frames = [[cell.frame for cell in line.cells if cell.frame] for line in (above, below)]
    if not all(frames) or len(below.cells) > len(above.cells):
        return False
    (upper, *_), (lower, *_) = frames
    return abs(upper[3] - lower[1]) < TOUCH and lower[0] < upper[2] + TOUCH


def number_faults(numbers: Sequence[str], coded: Collection[str]) -> Iterator[Said]:
    """Numbers that are left out in the count of a form's questions, or under which no variable code is printed.

    Args:
        coded: numbers under which one is.
    """
    found = [match for number in numbers if (match := re.fullmatch(r"([^\W\d_]{0,2})(\d{1,3})", number))]
    counted = sorted({int(match[2]) for match in found})
    if len(counted) < FEWEST_NUMBERS:
        return
    bare = [number for number in dict.fromkeys(numbers) if number not in coded]
    if len(bare) <= MOST_GAPS * len(counted):
        for number in bare:
            yield (
                number,
                None,
                "no variable code stands under it: is a line lost? read the page, and say drop = true if not",
            )
    lacking = [number for number in range(counted[0], counted[-1]) if number not in counted]
    if 0 < len(lacking) <= MOST_GAPS * len(counted):
        letter = found[0][1]
        for number in lacking:
            said = f"{letter}{number} is nowhere in the form, though the numbers around it are: is a line lost? "
            said += "read the page, and say drop = true if not"
            yield f"{letter}{number}", None, said
