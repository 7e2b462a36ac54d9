"""What a page shows of a line of text that its text layer has lost: no word of it is left, but its place is.

A label or an item that has lost a line reads like a shorter one. Its neighbours tell: cells of a form keep to one
height, items of a battery have the same answers, rows of a grid have codes, and questions are counted.
"""

import itertools
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from valuesassets.instruments.survey.forms.layout.lines import Cell, Line, page_lines
from valuesassets.instruments.survey.forms.layout.pages import Page
from valuesassets.instruments.survey.forms.layout.words import Word, text_lines, union
from valuesassets.records.lexicon import Lexicon
from valuesassets.records.questions import Question, has_words

LEAST_ALIKE = 0.9
"""Share of a form's cells that must stand at one height of their frames before another height says anything."""
FEWEST_CELLS = 20
OFF = 0.25
"""So many heights of a letter off the usual place are another place."""
WIDE = 1.5
"""A line so many times the usual distance below the one before has lost one between them."""
FEWEST_NUMBERS = 10
MOST_GAPS = 0.1
"""Of a form's question numbers so many may be left out; more are another way to count."""
SHORT = 3
"""Letters of the short forms for don't know that a table prints over its columns."""

Said = tuple[str | None, int | None, str]
"""Question, page, and what is in doubt."""


def battery_faults(questions: Sequence[Question], lexicon: Lexicon | None = None) -> Iterator[Said]:
    """Items that are empty in a battery, answers that others of it have not, and labels that hold other words too."""
    lists: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        lists[question.stem or question.text].append(question)
    short = _short_forms(lexicon)
    for question in questions:
        near = [each for each in lists[question.stem or question.text] if each is not question]
        said = [*_beside_its_list(question, near), *_in_labels(question, short)]
        yield from ((question.id, question.page, each) for each in said)


def _beside_its_list(question: Question, near: Sequence[Question]) -> Iterator[str]:
    if any(each.item for each in near) and not question.item:
        yield "its item is empty, where others of its list have one; read the page and write it"
    same = [each for each in near if sorted(each.values) == sorted(question.values)]
    labels = [option.label for option in question.options]
    if question.item and near and question.values and not same:
        yield f"its answers have other codes than those of {near[0].id}, of the same list; compare both with the page"
    elif same and not any(labels == [option.label for option in each.options] for each in same):
        bare = ", bare figures" * (not any(map(has_words, question.options)))
        yield f"its answers ({'; '.join(labels)[:60]}{bare}) are not those of {same[0].id}, of the same list; compare both"


def _in_labels(question: Question, short: frozenset[str]) -> Iterator[str]:
    for option in question.options:
        words = option.label.split()
        if re.search(r"[?!]\s+\S|[.:;]\s+\S+\s+\S", option.label):
            yield f"label {option.label[:60]!r} holds a sentence: is the line above it lost? read the page"
        elif len(words) > 1 and (words[-1] in short or words[0] in short):
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


def cell_faults(pages: Sequence[Page]) -> Iterator[Said]:
    """Cells of ruled tables whose text stands at another height than the form's others, or has a gap within."""
    placed = [each for page in pages for line in page_lines(page) if line.is_ruled for each in _placed(line)]
    if len(placed) < FEWEST_CELLS:
        return
    usual = statistics.median(each.off for each in placed)
    if sum(abs(each.off - usual) < OFF for each in placed) < LEAST_ALIKE * len(placed):
        return
    for each in placed:
        steps = [lower[0].y - upper[0].y for upper, lower in itertools.pairwise(each.lines)]
        has_gap = any(step > WIDE * 1.25 * each.lines[0][0].height for step in steps)
        if abs(each.off - usual) >= OFF or has_gap:
            said = (
                f"{each.cell.text[:60]!r} does not fill its cell as the form's others do: is a line lost? read the page"
            )
            yield None, each.page, said


def _placed(line: Line) -> Iterator[_Placed]:
    for cell in line.cells:
        if cell.frame is None or len(line.cells) < 2:
            continue
        lines = text_lines(cell.words)
        height = statistics.median(word.height for word in cell.words)
        top, bottom = union(word.box for word in cell.words)[1::2]
        off = ((top + bottom) / 2 - (cell.frame[1] + cell.frame[3]) / 2) / height
        yield _Placed(cell, line.page, off, lines)


def row_faults(pages: Sequence[Page]) -> Iterator[Said]:
    """Rows of answers without a variable code, in tables of which other rows have one."""
    for page in pages:
        lines = page_lines(page)
        for before, line, after in itertools.zip_longest([None, *lines[:-1]], lines, lines[1:]):
            if line is None or line.codes or len(line.numbers) < 2 or not line.other_words:
                continue
            near = [each for each in (before, after) if each is not None and len(each.codes) == 1 and each.numbers]
            if any([v for v, _ in each.numbers] == [v for v, _ in line.numbers] for each in near):
                text = " ".join(word.text for word in line.other_words)
                said = f"{text[:60]!r} has answers but no variable code, as the rows beside it have; read the page"
                yield None, page.number, said


def number_faults(numbers: Sequence[str]) -> Iterator[Said]:
    """Numbers that are left out in the count of a form's questions."""
    found = [match for number in numbers if (match := re.fullmatch(r"([^\W\d_]{0,2})(\d{1,3})", number))]
    counted = sorted({int(match[2]) for match in found})
    if len(counted) < FEWEST_NUMBERS:
        return
    lacking = [number for number in range(counted[0], counted[-1]) if number not in counted]
    if 0 < len(lacking) <= MOST_GAPS * len(counted):
        letter = found[0][1]
        for number in lacking:
            said = f"{letter}{number} is nowhere in the form, though the numbers around it are: is a line lost? read the page"
            yield None, None, said
