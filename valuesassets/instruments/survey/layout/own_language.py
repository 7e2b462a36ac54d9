"""Of a bilingual form, what is printed in one of its languages: its own script, and its own columns."""

import dataclasses
import functools
import itertools
import unicodedata
from collections.abc import Sequence

import numpy as np

from valuesassets.instruments.survey.layout.pages import Page
from valuesassets.instruments.survey.layout.spoken_language import foreign_language
from valuesassets.instruments.survey.layout.text_damage import LATIN, is_damaged, script_of
from valuesassets.instruments.survey.layout.words import Word, text_lines

FEWEST_LETTERS = 120
"""A column is judged by its language from so many letters on."""
MOST_CROSSING = 0.1
"""Share of the lines of a page that may cross the strip between two columns: headings, and the like."""
GUTTER = 6.0
"""Columns are so many points apart."""


@functools.lru_cache(maxsize=2)
def own_pages(pages: tuple[Page, ...], language: str) -> tuple[Page, ...]:
    """The pages of a form without the words of its other language: another script, or columns of their own."""
    return tuple(dataclasses.replace(page, words=_own_words(page, language)) for page in pages)


def _own_words(page: Page, language: str) -> tuple[Word, ...]:
    words = page.words
    if any(is_damaged(word.text) for word in words):
        return words
    if script_of(language) == LATIN:
        words = tuple(word for word in words if _is_latin(word))
    columns = _columns(words, page.width)
    foreign = [foreign_language(_text(each), language) is not None for each in columns]
    if all(foreign) or not any(foreign):
        return words
    left_out = {id(word) for each, is_foreign in zip(columns, foreign, strict=True) if is_foreign for word in each}
    return tuple(word for word in words if id(word) not in left_out)


def _is_latin(word: Word) -> bool:
    letters = [letter for letter in word.text if letter.isalpha()]
    return 2 * sum(unicodedata.name(letter, "").startswith(LATIN) for letter in letters) >= len(letters)


def _columns(words: Sequence[Word], width: float) -> list[list[Word]]:
    """The words between strips that hardly a line crosses, with enough letters each to be judged; left to right."""
    lines = text_lines(words)
    crossing = np.zeros(int(width) + 2)
    for word in words:
        crossing[max(int(word.box[0]), 0) : int(word.box[2]) + 1] += 1
    is_free = crossing <= MOST_CROSSING * len(lines)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_free.astype(int), [0]])))
    gutters = [(left + right) / 2 for left, right in edges.reshape(-1, 2) if right - left >= GUTTER]
    columns = [[word for word in words if left <= word.x < right] for left, right in _between(gutters, width)]
    return [each for each in columns if sum(map(str.isalpha, _text(each))) >= FEWEST_LETTERS]


def _between(gutters: Sequence[float], width: float) -> list[tuple[float, float]]:
    edges = [0.0, *gutters, width + 1]
    return list(itertools.pairwise(edges))


def _text(words: Sequence[Word]) -> str:
    return " ".join(word.text for line in text_lines(words) for word in line)
