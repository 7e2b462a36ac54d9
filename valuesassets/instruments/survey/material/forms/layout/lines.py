"""Lines of a page: rows of ruled tables, and free lines cut into cells at wide gaps."""

import dataclasses
import functools
import itertools
import math
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.survey.material.forms.layout.pages import Page
from valuesassets.instruments.survey.material.forms.layout.words import Box, Word, text_lines, union

GAP = 9.0  # least points between two cells of a free line
SMALL = 0.93  # share of the usual height of letters below which a line is small print
TOUCH = 2.0  # tolerance of drawn rules in points
WORDS_AT_ONCE = 64  # that are held against all rules of a page: a dense drawing has tens of thousands
FIGURES = re.compile(r"\d{1,2}")
BROKEN = re.compile(r"\(?[vV](\d{1,3})\s?([a-z])\)?")
"""A variable code that a narrow cell breaks in two: `V45` over `a`."""


@dataclass(frozen=True)
class Cell:
    """A table cell (with its frame), or a part of a free line."""

    words: tuple[Word, ...]
    frame: Box | None = None

    @functools.cached_property
    def text(self) -> str:
        """The words in reading order."""
        return join_lines(text_lines(self.words))

    @functools.cached_property
    def box(self) -> Box:
        """Box around the words."""
        return union(word.box for word in self.words)

    @property
    def is_letter(self) -> bool:
        """Whether the cell holds only the letter of a list's item: `A`, `b.`."""
        return bool(re.fullmatch(r"(?:[^\W\d_]|\(cid:\d+\))\s?[.)]?", self.text))


@dataclass(frozen=True)
class Line:
    """Cells side by side, left to right."""

    page: int
    cells: tuple[Cell, ...]
    is_ruled: bool = False

    @functools.cached_property
    def words(self) -> tuple[Word, ...]:
        """All words, cell by cell."""
        return tuple(word for cell in self.cells for word in cell.words)

    @functools.cached_property
    def text(self) -> str:
        """The cells' texts, one after the other."""
        return " ".join(cell.text for cell in self.cells)

    @functools.cached_property
    def box(self) -> Box:
        """Box around the words."""
        return union(word.box for word in self.words)

    @functools.cached_property
    def codes(self) -> tuple[Word, ...]:
        """The words that are variable codes, left to right."""
        return tuple(word for word in self.words if word.code is not None)

    @functools.cached_property
    def numbers(self) -> tuple[tuple[int, Word], ...]:
        """The answer codes with their words, left to right, from cells that hold only figures."""
        cells = [cell.words for cell in self.cells if all(FIGURES.fullmatch(word.text) for word in cell.words)]
        return tuple((int(word.text), word) for words in cells for word in sorted(words, key=lambda each: each.box[0]))

    @functools.cached_property
    def other_words(self) -> tuple[Word, ...]:
        """The words that are neither a variable code, nor an answer code, nor a single bracket."""
        taken = {*self.codes, *(word for _, word in self.numbers)}
        return tuple(word for word in self.words if word not in taken and word.text not in ("(", ")"))

    @property
    def y(self) -> float:
        """Vertical centre of the words."""
        return (self.box[1] + self.box[3]) / 2

    @property
    def is_boxed_note(self) -> bool:
        """Whether the line is a single frame, such as the name of a show card."""
        return self.is_ruled and len(self.cells) == 1

    @property
    def is_bold(self) -> bool:
        """Whether most of its words are bold."""
        return sum(word.is_bold for word in self.words) * 2 > len(self.words)

    def without(self, dropped: Collection[Word]) -> "Line":
        """The line without some words, and without the cells that hold no others."""
        if not dropped:
            return self
        kept = ((tuple(word for word in cell.words if word not in dropped), cell.frame) for cell in self.cells)
        return Line(self.page, tuple(Cell(words, frame) for words, frame in kept if words), self.is_ruled)


def is_small_print(line: Line, height: float) -> bool:
    """Whether a line is smaller than text of a height, as footnotes are."""
    return line.words[0].height < SMALL * height


def join_lines(lines: Sequence[Sequence[Word]], keeps_hyphens: bool = True) -> str:
    """The text of wrapped lines, with words broken at a hyphen joined.

    Args:
        keeps_hyphens: whether the hyphen stays, as it does in running text but seldom in narrow columns.
    """
    text = ""
    for line in lines:
        written = " ".join(word.text for word in line)
        is_broken = len(text) > 1 and text[-1] == "-" and text[-2].isalpha() and written[:1].islower()
        if is_broken and not keeps_hyphens:
            text = text[:-1]
        text += written if is_broken or not text else f" {written}"
    return text


@functools.lru_cache(maxsize=1024)
def page_lines(page: Page) -> tuple[Line, ...]:
    """The lines of a page from top to bottom, each word in exactly one."""
    in_frame: dict[Box, list[Word]] = defaultdict(list)
    free: list[Word] = []
    for word, frame in zip(page.words, _frames(page), strict=True):
        if frame is None:
            free.append(word)
        else:
            in_frame[frame].append(word)
    for frame in [frame for frame, words in in_frame.items() if _is_table(words)]:
        free += in_frame.pop(frame)
    lines = [*_table_rows(page.number, in_frame), *(_free_line(page.number, words) for words in text_lines(free))]
    return tuple(sorted(lines, key=lambda line: (line.y, line.box[0])))


def _is_table(words: Sequence[Word]) -> bool:
    """Whether the words of one frame are rows, or a column, of a table without rules between rows."""
    rows = [_free_line(1, line) for line in text_lines(words)]
    figures = [sum(cell.text.isdigit() for cell in row.cells) for row in rows]
    ends_coded = [row.cells[-1].text.isdigit() for row in rows]
    are_led = [row.words[0].code is not None for row in rows]
    return len(rows) > 1 and (max(figures) > 1 or sum(ends_coded) > 1 or sum(are_led) > 1)


def _frames(page: Page) -> list[Box | None]:
    """The ruled cell around each word of a page, or None."""
    frames: list[Box | None] = []
    for start in range(0, len(page.words), WORDS_AT_ONCE):
        centres = np.array([(word.x, word.y) for word in page.words[start : start + WORDS_AT_ONCE]])
        left, right = _nearest_rules(page.vertical, centres[:, :1], centres[:, 1:])
        top, bottom = _nearest_rules(page.horizontal, centres[:, 1:], centres[:, :1])
        boxes = np.stack([left, top, right, bottom], axis=1).round().tolist()
        frames += [tuple(box) if all(map(math.isfinite, box)) else None for box in boxes]
    return frames


def _nearest_rules(
    rules: NDArray[np.float64], along: NDArray[np.float64], across: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The places of the nearest rules before and after each word, infinite where there is none.

    Args:
        rules: place, start and end of each rule, of shape (rules, 3).
        along, across: a word's centre in the direction in which rules follow one another, and in theirs, each of shape
            (words, 1).
    """
    places, starts, ends = rules.T
    is_level = (starts - TOUCH <= across) & (across <= ends + TOUCH)
    is_before = places <= along
    before = np.where(is_level & is_before, places, -np.inf).max(axis=1, initial=-np.inf)
    after = np.where(is_level & ~is_before, places, np.inf).min(axis=1, initial=np.inf)
    return before, after


def _table_rows(number: int, in_frame: dict[Box, list[Word]]) -> list[Line]:
    """Lines of cells side by side; a tall cell joins the lower cells that are level with its words."""
    bands: list[tuple[float, float, list[Cell], list[Box]]] = []
    for frame, words in sorted(in_frame.items(), key=lambda each: (each[0][3] - each[0][1], each[0])):
        cell = Cell(tuple(word for line in text_lines(words) for word in line), frame)
        if broken := BROKEN.fullmatch(cell.text):
            code = f"v{int(broken[1])}{broken[2]}"
            cell = Cell((dataclasses.replace(cell.words[0], text=code, box=cell.box, code=code),), frame)
        middle = (cell.box[1] + cell.box[3]) / 2
        for top, bottom, cells, frames in bands:
            is_taller = top - TOUCH > frame[1] or bottom + TOUCH < frame[3]
            is_over = any(min(frame[2], other[2]) - max(frame[0], other[0]) > TOUCH for other in frames)
            if top - TOUCH <= middle <= bottom + TOUCH and not (is_taller and is_over):
                cells.append(cell)
                frames.append(frame)
                break
        else:
            bands.append((frame[1], frame[3], [cell], [frame]))
    return [Line(number, tuple(sorted(cells, key=lambda cell: cell.box[0])), is_ruled=True) for _, _, cells, _ in bands]


def _free_line(number: int, words: Sequence[Word]) -> Line:
    pieces: list[list[Word]] = [[words[0]]]
    for before, word in itertools.pairwise(words):
        if word.box[0] - before.box[2] > GAP:
            pieces.append([])
        pieces[-1].append(word)
    return Line(number, tuple(Cell(tuple(piece)) for piece in pieces))
