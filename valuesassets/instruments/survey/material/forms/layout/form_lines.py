"""The lines of a form without page furniture and notes in italics, the lines of an item joined; and `PrintedForm`.

In grids without rules the answer codes of an item are beside its middle or first line, and the variable's code beside
the middle or before the first.
"""

import dataclasses
import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from valuesassets.instruments.survey.material.forms.layout.blocks import NUMBER
from valuesassets.instruments.survey.material.forms.layout.lines import Cell, Line, is_small_print, page_lines
from valuesassets.instruments.survey.material.forms.layout.pages import Page
from valuesassets.instruments.survey.material.forms.layout.wording import is_note
from valuesassets.instruments.survey.material.forms.layout.words import text_lines

FEWEST_FIGURES = 2  # answer codes of a row
PITCH = 0.6  # most heights of a letter between lines of one item
TOUCH = 0.1  # least heights of a letter by which lines overlap
TIE = 0.3  # a line belongs to the row above it if the row below is nearer by less than this, in heights of a letter


@dataclass(frozen=True)
class PrintedForm:
    """The pages of a form, and what shows their layout."""

    pages: tuple[Page, ...]

    @functools.cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines in reading order (`form_lines`)."""
        return tuple(form_lines(self.pages))

    @functools.cached_property
    def codes(self) -> tuple[str, ...]:
        """The variables whose codes the form prints, each once, in reading order."""
        return tuple(dict.fromkeys(word.code for line in self.lines for word in line.words if word.code is not None))

    @functools.cached_property
    def widths(self) -> dict[int, float]:
        """The width of each page in points, by number."""
        return {page.number: page.width for page in self.pages}


def form_lines(pages: Sequence[Page]) -> list[Line]:
    """The lines of a form in reading order; those of ruled tables are unchanged."""
    heard = [line.without({word for word in line.words if word.is_note}) for line in _without_furniture(pages)]
    return _with_whole_rows([line for line in heard if line.cells])


def _without_furniture(pages: Sequence[Page]) -> list[Line]:
    """All lines except page numbers, and lines repeated at head or foot of a quarter of the pages (at least three)."""
    seen: Counter[tuple[str, int]] = Counter()
    for page in pages:
        outer = [line for line in page_lines(page) if _is_outer(line, page)]
        free = [line for line in outer if line.is_boxed_note or not line.is_ruled]
        heads = {_place(line): [cell.words[0].text for cell in line.cells] for line in free}
        seen.update({place for place, texts in heads.items() if not any(map(NUMBER.fullmatch, texts))})
    furniture = {place for place, count in seen.items() if count >= max(3, len(pages) / 4)}
    return [line for page in pages for line in page_lines(page) if not _is_furniture(line, page, furniture)]


def _is_outer(line: Line, page: Page, top: float = 0.16) -> bool:
    return not top <= line.y / page.height <= 0.85


def _place(line: Line) -> tuple[str, int]:
    return re.sub(r"\d+", "0", line.text), round(line.box[1] / 12)


def _is_furniture(line: Line, page: Page, furniture: set[tuple[str, int]]) -> bool:
    if not _is_outer(line, page) or line.codes:
        return False
    masked, row = _place(line)
    is_page_number = masked == "0" and _is_outer(line, page, 0.1) and not line.is_ruled
    return is_page_number or any((masked, near) in furniture for near in (row - 1, row, row + 1))


def _with_whole_rows(lines: Sequence[Line]) -> list[Line]:
    """Lines with each item joined to the line of its codes."""
    lines, begins = _with_leading_codes(_with_codes_beside(lines))
    free = [not line.is_ruled and len(line.codes) == 1 and len(line.numbers) >= FEWEST_FIGURES for line in lines]
    rows = [number for number, is_row in enumerate(free) if is_row]
    row_of = {row: row for row in rows}
    for before, after in zip([-1, *rows], [*rows, len(lines)], strict=True):
        between = range(before + 1, after)
        begin = begins.get(after, after if before in begins else None)  # where the item of the row after begins
        if begin is None:
            nearer = {number: _nearer(lines, number, (before, after)) for number in between}
        else:
            nearer = {n: _nearer(lines, n, (before,) if n < begin else (after,)) for n in between}
        for row, side in ((before, between), (after, reversed(between))):
            row_of |= dict.fromkeys(_adjoining(lines, row, side, nearer), row)
    parts: dict[int, list[Line]] = {row: [] for row in rows}
    for number, row in sorted(row_of.items()):
        parts[row].append(lines[number])
    return [
        _joined(line, parts[number]) if number in parts else line
        for number, line in enumerate(lines)
        if row_of.get(number, number) == number
    ]


def _with_codes_beside(lines: Sequence[Line]) -> list[Line]:
    """Lines with a code, or answer codes, from between two lines of an item joined to its other codes."""
    merged: list[Line] = []
    for line in lines:
        above = merged[-1] if merged else None
        if above is not None and (_is_code_of(line, above) or _is_code_of(above, line) or _share_row(above, line)):
            cells = sorted((*above.cells, *line.cells), key=lambda cell: cell.box[0])
            line = _joined(Line(line.page, tuple(cells)), (merged.pop(), line))
        merged.append(line)
    return merged


def _is_code_of(coded: Line, line: Line) -> bool:
    is_alone = len(coded.words) == 1 and coded.words[0].code is not None
    if not is_alone or coded.is_ruled or line.is_ruled or line.codes or coded.page != line.page:
        return False
    overlap = min(coded.box[3], line.box[3]) - max(coded.box[1], line.box[1])
    return len(line.numbers) >= FEWEST_FIGURES and overlap > TOUCH * coded.words[0].height


def _share_row(above: Line, line: Line) -> bool:
    """Whether two level lines, one with the code, hold different answer codes of one row."""
    if above.is_ruled or line.is_ruled or above.page != line.page or len(above.codes) + len(line.codes) != 1:
        return False
    columns = [{word.x for _, word in each.numbers} for each in (above, line)]
    overlap = min(above.box[3], line.box[3]) - max(above.box[1], line.box[1])
    is_parted = all(len(each) >= FEWEST_FIGURES for each in columns) and (
        max(columns[0]) < min(columns[1]) or max(columns[1]) < min(columns[0])
    )
    return is_parted and overlap > TOUCH * line.words[0].height


def _with_leading_codes(lines: Sequence[Line]) -> tuple[list[Line], dict[int, int]]:
    """Lines with the code before an item moved to its answer codes, beside a later line.

    Also returns, by position of such a row of answer codes, the position of the item's first line.
    """
    moved, begins = list(lines), {}
    for position, line in enumerate(lines):
        is_led = not line.is_ruled and line.codes == line.words[:1] and bool(line.other_words)
        row = _row_of_item(lines, position) if is_led and not line.numbers else None
        if row is not None:
            begins[row] = position
            moved[position] = line.without(line.codes)
            (code,), (_, top, _, bottom) = line.codes, lines[row].box
            level = dataclasses.replace(code, box=(code.box[0], top, code.box[2], bottom))
            cells = (Cell((level,)), *lines[row].cells)
            moved[row] = Line(line.page, tuple(sorted(cells, key=lambda cell: cell.box[0])))
    return moved, begins


def _row_of_item(lines: Sequence[Line], start: int) -> int | None:
    """The position of the answer codes of the item at `start`: on one of its lines, or level with two of them.

    A row of figures below a text belongs to a question, not to an item.
    """
    above = lines[start]
    for position in range(start + 1, len(lines)):
        line = lines[position]
        if line.is_ruled or line.codes or line.page != above.page or is_note(line.text):
            return None
        height = line.words[0].height
        if line.box[1] - above.box[3] > PITCH * height:
            return None
        if len(line.numbers) >= FEWEST_FIGURES:
            is_level = above.box[3] - line.box[1] > TOUCH * height
            first = min(word.box[0] for _, word in line.numbers)
            item = [word for each in lines[start : position + 1] for word in each.other_words]
            is_left = all(word.box[2] < first for word in item)
            return position if is_left and (line.other_words or is_level) else None
        if line.numbers:
            return None
        above = line
    return None


def _nearer(lines: Sequence[Line], number: int, rows: Sequence[int]) -> int | None:
    """The nearer of the rows that a line may belong to; None if it is no part of an item."""
    line = lines[number]
    around = [row for row in rows if 0 <= row < len(lines) and _is_item_of(line, lines[row])]
    tie = TIE * line.words[0].height
    return min(around, key=lambda row: abs(lines[row].y - line.y) + (row > number) * tie, default=None)


def _adjoining(lines: Sequence[Line], row: int, side: Iterable[int], nearer: dict[int, int | None]) -> list[int]:
    """The lines on one side of a row that adjoin it and are nearer to it than to another row."""
    positions: list[int] = []
    for number in side:
        if nearer[number] != row:
            break
        one, other = sorted((lines[positions[-1] if positions else row], lines[number]), key=lambda line: line.y)
        if other.box[1] - one.box[3] > PITCH * lines[row].words[0].height:
            break
        positions.append(number)
    return positions


def _is_item_of(line: Line, row: Line) -> bool:
    """Whether a line holds only words, between the leading code of a row and its first answer code."""
    if line.is_ruled or line.page != row.page or len(line.cells) > 1 or is_note(line.text):
        return False
    if line.numbers or line.codes or is_small_print(line, row.words[0].height):
        return False
    first = min(word.box[0] for _, word in row.numbers)
    left = min((word.box[0] for word in row.other_words), default=row.codes[0].box[2])
    return line.box[2] < first and line.box[0] > left - 3


def _joined(row: Line, parts: Sequence[Line]) -> Line:
    """A row with the words of all its lines as one item."""
    if len(parts) == 1:
        return row
    words = [word for part in parts for word in part.other_words]
    if not words:
        return row
    item = Cell(tuple(word for line in text_lines(words) for word in line))
    others = row.without(set(words)).cells
    return Line(row.page, tuple(sorted((item, *others), key=lambda cell: cell.box[0])))
