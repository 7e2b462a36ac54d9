"""Which words of a form are variable codes: `v39`, `(V45a)`, or the numbers of the questions themselves, `Q46`."""

import dataclasses
import re
from collections.abc import Iterator, Sequence

from valuesassets.instruments.survey.layout.words import Word, text_lines

PATTERNS = {
    "v": re.compile(r"[(\[{]*[vV](\d{1,3}[a-zA-Z]?\d?)[)\]}]*[.:]?()"),
    "Q": re.compile(r"Q(\d{1,3}[a-zA-Z]?)(?:[.:]|[.:](\D.*))?"),
}
"""By the letter of a survey's variables: EVS 2017 prints them, WVS-7 numbers its questions by them.

The first group is what follows the letter; the second what is printed behind the code without a space.
"""
FEWEST_CODES = 5
"""From so many codes on a form is one that prints variable codes."""
FEWEST_ROWS = 10
"""So many rows of answers must be led by a question number before those numbers count as variable codes."""
APART = 9.0
"""A code that leads a line's cell stands so many points from what is before it."""


def code_letter(pages: Sequence[Sequence[Word]]) -> str:
    """The letter of the variable codes in a form, by the words of its pages."""
    printed = sum(PATTERNS["v"].fullmatch(word.text) is not None for words in pages for word in words)
    if printed >= FEWEST_CODES:
        return "v"
    rows = sum(_is_numbered_row(line) for words in pages for line in text_lines(words))
    return "Q" if rows >= FEWEST_ROWS else "v"


def with_codes(words: Sequence[Word], letter: str) -> tuple[Word, ...]:
    """A page's words, each variable code marked as one; a code glued to a word is parted from it."""
    if letter == "v":
        return tuple(_marked(word, letter) or word for word in words)
    leading = {word for line in text_lines(words) for word in _leading(line)}
    return tuple(part for word in words for part in (_parts(word, letter) if word in leading else (word,)))


def _is_numbered_row(line: Sequence[Word]) -> bool:
    figures = [word for word in line[1:] if re.fullmatch(r"\d{1,2}", word.text)]
    return PATTERNS["Q"].fullmatch(line[0].text) is not None and len(figures) >= 2 and line[-1] in figures


def _leading(line: Sequence[Word]) -> Iterator[Word]:
    for position, word in enumerate(line):
        if position == 0 or word.box[0] - line[position - 1].box[2] > APART:
            yield word


def _marked(word: Word, letter: str) -> Word | None:
    match = PATTERNS[letter].fullmatch(word.text)
    if match is None:
        return None
    digits = re.match(r"0*(\d+)(.*)", match[1])
    assert digits is not None  # noqa: S101  # each pattern begins with a figure
    return dataclasses.replace(word, code=f"{letter}{digits[1]}{digits[2].lower()}")


def _parts(word: Word, letter: str) -> tuple[Word, ...]:
    marked = _marked(word, letter)
    if marked is None:
        return (word,)
    match = PATTERNS[letter].fullmatch(word.text)
    assert match is not None  # noqa: S101  # it was marked
    if not match[2]:
        return (marked,)
    left, top, right, bottom = word.box
    edge = left + (right - left) * match.start(2) / len(word.text)
    code = dataclasses.replace(marked, text=word.text[: match.start(2)], box=(left, top, edge, bottom))
    return code, dataclasses.replace(word, text=match[2], box=(edge, top, right, bottom))
