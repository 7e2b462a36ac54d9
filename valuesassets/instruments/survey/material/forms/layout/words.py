"""`Word`: a word of the text layer with its place and type; and which words are notes or variable codes.

A code is `v39`, `(V45a)`, or the number of the question itself, `Q46`.
"""

import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from valuesassets.people.variables import CodePattern, load_variables

Box = tuple[float, float, float, float]  # left, top, right, bottom in points from the top left of the page
FEWEST_IN_ITALICS = 50  # words in italics that show the use of italics in a form
SHARE_IN_BRACKETS = 0.6  # least share of italics in brackets if italics are notes; otherwise they may be stress
LONGEST_BRACKET = 80  # words; a longer bracket was never closed
FEWEST_CODES = 5  # of a form that prints variable codes
FEWEST_ROWS = 10  # rows of answers after a question number in a form whose numbers are variable codes
BETWEEN_BRACKETS = re.compile(r"(?<=[\])}])(?=[\[({](?!cid:))")
APART = 9.0  # least points before a code that leads a cell
UNREADABLE = re.compile(r"\(cid:\d+\)|[\ufffd\x00-\x08\x0b-\x1f\x7f-\x9f\ue000-\uf8ff]")
"""Glyphs that the PDF maps to no character, and replacement characters."""
SAME_GLYPH = re.compile(rf"({UNREADABLE.pattern})\1*")
"""One such glyph, repeated or not: a bullet, leader dots, blanks."""


@dataclass(frozen=True)
class Word:
    """A word of the text layer and its place."""

    text: str
    box: Box
    is_bold: bool = False
    page: int = 1
    is_italic: bool = False
    code: str | None = None
    """The variable (`v39`) of a variable code."""
    is_note: bool = False
    """Whether it belongs to a note for the interviewer."""

    @property
    def x(self) -> float:
        """Horizontal centre."""
        return (self.box[0] + self.box[2]) / 2

    @property
    def y(self) -> float:
        """Vertical centre."""
        return (self.box[1] + self.box[3]) / 2

    @property
    def height(self) -> float:
        """Height of the letters' box."""
        return self.box[3] - self.box[1]


def parted(word: Word) -> list[Word]:
    """A word cut between adjacent brackets: `[Q1A][v1]`."""
    pieces = BETWEEN_BRACKETS.split(word.text)
    left, top, right, bottom = word.box
    edges = [left + (right - left) * n / len(word.text) for n in itertools.accumulate(map(len, pieces), initial=0)]
    boxes = [(one, top, other, bottom) for one, other in itertools.pairwise(edges)]
    return [dataclasses.replace(word, text=text, box=box) for text, box in zip(pieces, boxes, strict=True)]


def union(boxes: Iterable[Box]) -> Box:
    """The smallest box around some boxes."""
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


def text_lines(words: Iterable[Word]) -> list[list[Word]]:
    """Words in lines, page by page from top to bottom, each from left to right."""
    lines: list[list[Word]] = []
    page, bottom = 0, 0.0  # of the last line
    for word in sorted(words, key=lambda each: (each.page, each.y, each.box[0])):
        if lines and word.page == page and word.y < bottom - 0.35 * word.height:
            lines[-1].append(word)
            bottom = max(bottom, word.box[3])
        else:
            lines.append([word])
            page, bottom = word.page, word.box[3]
    return [sorted(line, key=lambda each: each.box[0]) for line in lines]


def with_notes(pages: Sequence[Sequence[Word]]) -> list[tuple[Word, ...]]:
    """The words of each page; notes for the interviewer are marked if the form has them in italics."""
    ordered = [[word for line in text_lines(words) for word in line] for words in pages]
    bracketed = {id(word) for words in ordered for span in _brackets(words) for word in span}
    italic = [word for words in ordered for word in words if word.is_italic]
    within = sum(id(word) in bracketed for word in italic)
    if len(italic) < FEWEST_IN_ITALICS or within < SHARE_IN_BRACKETS * len(italic):
        return [tuple(words) for words in pages]
    marked = []
    for words, reading in zip(pages, ordered, strict=True):
        notes = {id(word) for word in reading if word.is_italic}
        for before, word in itertools.pairwise(reading):
            if id(before) in notes and not any(map(str.isalnum, word.text)):
                notes.add(id(word))
        for span in _brackets(reading):
            if all(word.is_italic or not any(map(str.isalnum, word.text)) for word in span):
                notes |= {id(word) for word in span}
        marked.append(tuple(dataclasses.replace(word, is_note=True) if id(word) in notes else word for word in words))
    return marked


def _brackets(words: Sequence[Word]) -> Iterator[list[Word]]:
    """The words of each bracket, from its beginning to its end."""
    span: list[Word] = []
    for word in words:
        if span or set("([") & set(word.text):
            span.append(word)
        if span and (set(")]") & set(word.text) or len(span) > LONGEST_BRACKET):
            yield span if len(span) <= LONGEST_BRACKET else []
            span = []


def printed_pattern(pages: Sequence[Sequence[Word]]) -> CodePattern | None:
    """The pattern of a form's variable codes, from the words of its pages; None if no pattern is known."""
    own, numbers = [], []
    for pattern in load_variables().codes:
        (numbers if pattern.is_question_number else own).append(pattern)
    for pattern in own:
        if sum(pattern.code(word.text) is not None for words in pages for word in words) >= FEWEST_CODES:
            return pattern
    for pattern in numbers:
        if sum(_is_numbered_row(line, pattern) for words in pages for line in text_lines(words)) >= FEWEST_ROWS:
            return pattern
    return own[0] if own else None


def with_codes(words: Sequence[Word], pattern: CodePattern | None) -> tuple[Word, ...]:
    """A page's words with the variable codes marked, and cut from words that touch them."""
    if pattern is None:
        return tuple(words)
    if not pattern.is_question_number:
        return tuple(part for word in words for part in _parts(word, pattern))
    lines = text_lines(words)
    leading = {line[0] for line in lines} | {
        word for line in lines for before, word in itertools.pairwise(line) if word.box[0] - before.box[2] > APART
    }
    return tuple(part for word in words for part in (_parts(word, pattern) if word in leading else (word,)))


def _is_numbered_row(line: Sequence[Word], pattern: CodePattern) -> bool:
    figures = [word for word in line[1:] if re.fullmatch(r"\d{1,2}", word.text)]
    return pattern.code(line[0].text) is not None and len(figures) >= 2 and line[-1] in figures


def _parts(word: Word, pattern: CodePattern) -> tuple[Word, ...]:
    match = pattern.code(word.text)
    if match is None:
        return (word,)
    code, rest = match
    if rest is None:
        return (dataclasses.replace(word, code=code),)
    left, top, right, bottom = word.box
    edge = left + (right - left) * rest / len(word.text)
    return (
        dataclasses.replace(word, text=word.text[:rest], box=(left, top, edge, bottom), code=code),
        dataclasses.replace(word, text=word.text[rest:], box=(edge, top, right, bottom)),
    )
