"""Grounding: every string of a question found again on the pages of its form, and every label beside its own code."""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from valuesassets.instruments.survey.material.forms.layout.lines import page_lines
from valuesassets.instruments.survey.material.forms.layout.pages import Page
from valuesassets.instruments.survey.material.forms.layout.text_layer import is_damaged
from valuesassets.instruments.survey.material.forms.layout.word_graph import Place, WordGraph, find_places, words_of
from valuesassets.instruments.survey.material.forms.layout.words import Box, Word, union
from valuesassets.records.questions import Question

SENTENCE_END = re.compile(r"(?<=[.?!…])\s+")
SHORT = 4
"""What has fewer letters is no sentence (`e.g.`) and stays with the next."""
PAGES_TRIED = 4
"""Of a question that names no page, so many are tried: those that share most of its rarer words."""
FIGURE = re.compile(r"[-–—.:()…]*(\d{1,2})[-–—.:()…]*")
LETTER = re.compile(r"[\[(]?([a-zA-Z])[.:)\]]+")
"""The letter of an answer in a list that counts by letters."""
HEAD = 4
"""The head of a grid is so many heights of a letter high at most."""
LEVEL = 0.9
"""Words are on one level whose middles are no further apart than so many heights of a letter."""


@dataclass(frozen=True)
class GroundedString:
    """A sentence of a stem, an item or a label, and its place on the form.

    Attributes:
        field: `stem`, `item`, `text`, or `label 3`.
        place: the best one; None where nothing like it was found.
        is_at_code: of a label, whether it stands beside its own code, or none is printed.
    """

    field: str
    text: str
    place: Place | None
    is_at_code: bool = True

    @property
    def fault(self) -> str | None:
        """What is wrong, in words; None where the page has it as it is."""
        if self.place is None:
            return "nothing like it was found"
        said = []
        if self.place.lacking:
            said.append(f"there is no {_quoted(self.place.lacking)} on the page")
        if self.place.extra:
            said.append(f"the page also has {_quoted(self.place.extra)}")
        if said:
            read = " ".join(word.text for word in self.place.words)
            return f"{' and '.join(said)}, where it reads {read[:120]!r}"
        return None if self.is_at_code else "it stands beside another code"


class Form:
    """The pages of a form, to be searched for the strings of its questions."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = {page.number: page for page in pages}
        self._graphs: dict[int, WordGraph] = {}
        self._places: dict[tuple[int, str], tuple[Place, ...]] = {}
        self._words = {page.number: set(words_of(" ".join(word.text for word in page.words))) for page in pages}

    def ground(self, question: Question) -> tuple[GroundedString, ...]:
        """Every string of a question and its place: on its page or those beside it.

        A question without a page is looked for where most of its rarer words stand. One with glyphs that have no
        character is not looked for: what it says is not known.
        """
        if any(is_damaged(word) for text in _strings(question) for word in text.split()):
            return ()
        if question.page is not None:
            return self._ground(question, question.page)
        tried = (self._ground(question, page) for page in self._likely_pages(question))
        return min(tried, key=lambda found: sum(each.fault is not None for each in found), default=())

    def _ground(self, question: Question, page: int) -> tuple[GroundedString, ...]:
        found = [
            GroundedString(field, text, next(iter(self._find(page, text)), None))
            for field, whole in _spoken_parts(question).items()
            for text in sentences(whole)
        ]
        labels = {o.value: o.label for o in question.options if words_of(o.label) not in ([], [str(o.value)])}
        places = {value: self._find(page, label) for value, label in labels.items()}
        at_code = places_at_codes(places, self._pages)
        for value, label in labels.items():
            best = at_code.get(value) or next(iter(places[value]), None)
            found.append(GroundedString(f"label {value}", label, best, value in at_code))
        return tuple(found)

    def _find(self, page: int, text: str) -> tuple[Place, ...]:
        if (page, text) not in self._places:
            if page not in self._graphs:
                near = [self._pages[number] for number in range(page - 1, page + 2) if number in self._pages]
                self._graphs[page] = WordGraph(near)
            self._places[page, text] = find_places(self._graphs[page], text)
        return self._places[page, text]

    def _likely_pages(self, question: Question) -> list[int]:
        asked = {word for text in _strings(question) for word in words_of(text)}
        pages_with = {word: sum(word in words for words in self._words.values()) for word in asked}
        shared = {number: sum(1 / pages_with[w] for w in asked & words) for number, words in self._words.items()}
        return sorted(shared, key=lambda number: (-shared[number], number))[:PAGES_TRIED]


def sentences(text: str) -> list[str]:
    """The sentences of a text, each to be found for itself: between them a form may print notes.

    >>> sentences("How satisfied are you, e.g. with life? 1 means 'not'.")
    ['How satisfied are you, e.g. with life?', "1 means 'not'."]
    """
    parts: list[str] = []
    for part in SENTENCE_END.split(text.strip()):
        if not parts or (len("".join(words_of(parts[-1]))) >= SHORT and not part[:1].islower()):
            parts.append(part)
        else:
            parts[-1] += f" {part}"
    return [part for part in parts if words_of(part)]


def _spoken_parts(question: Question) -> dict[str, str]:
    """Stem and item, and the text too where it says something else than these two; without an item, the text."""
    if not (question.stem and question.item):
        return {"text": question.text} | ({"item": question.item} if question.item else {})
    stem, item, text = map(words_of, (question.stem, question.item, question.text))
    says_the_same = text in ([*stem, *item], stem, item)
    return {"stem": question.stem, "item": question.item} | ({} if says_the_same else {"text": question.text})


def _strings(question: Question) -> list[str]:
    return [question.text, question.stem or "", question.item or "", *(option.label for option in question.options)]


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(repr(word) for word in words[:3]) + (" …" if len(words) > 3 else "")


def places_at_codes(places: Mapping[int, Sequence[Place]], pages: Mapping[int, Page]) -> dict[int, Place]:
    """For each code, the place where its label stands beside that code; labels beside other codes are left out.

    Where no codes are printed beside any label, each has its best place.
    """
    beside = {
        code: [(place, _codes_beside(place, pages[place.page]) & set(places)) for place in found]
        for code, found in places.items()
    }
    own = {code: place for code, found in beside.items() for place, codes in reversed(found) if code in codes}
    lacking = {code for code, found in places.items() if found and code not in own}
    if not lacking:
        return own
    rows = list(_figure_rows(places, pages))
    for (page, figures), height in itertools.product(rows, (0.0, HEAD)):
        heads = _heads(places, page, figures, height)
        by_figure = [heads[code].box for code in sorted(heads, key=lambda code: figures[code].x)]
        if lacking <= set(heads) and all(itertools.starmap(_stands_left, itertools.pairwise(by_figure))):
            return own | heads
    if not rows and not any(codes for code in lacking for _, codes in beside[code]):
        own |= {code: places[code][0] for code in lacking}
    return own


def _figure_rows(
    places: Mapping[int, Sequence[Place]], pages: Mapping[int, Page]
) -> Iterator[tuple[int, dict[int, Word]]]:
    """Lines below labels that print the codes of all of them: page, and each code's figure."""
    found = [place for each in places.values() for place in each]
    for page in dict.fromkeys(place.page for place in found):
        top = min(place.box[1] for place in found if place.page == page)
        for line in page_lines(pages[page]):
            figures = {code: word for code, word in line.numbers if code in places}
            if line.box[1] > top and len(figures) == len(places) > 1:
                yield page, figures


def _heads(
    places: Mapping[int, Sequence[Place]], page: int, figures: Mapping[int, Word], height: float
) -> dict[int, Place]:
    """By code, the place of its label next above a row of figures.

    Args:
        height: of the head, in heights of a letter: of the places within it, the one over the code's figure is taken.
    """
    row_top = min(word.box[1] for word in figures.values())
    heads: dict[int, Place] = {}
    for code, found in places.items():
        above = [place for place in found if place.page == page and place.box[3] <= row_top + 3]
        lowest = max((place.box[3] for place in above), default=0.0)
        head = [place for place in above if place.box[3] >= lowest - height * place.words[0].height]
        if head:
            heads[code] = min(head, key=lambda place: abs((place.box[0] + place.box[2]) / 2 - figures[code].x))
    return heads


def _codes_beside(place: Place, page: Page) -> set[int]:
    """The figures left or right of a label, within its height, with no word in between."""
    _, top, _, bottom = place.box
    around = [word for word in page.words if top - 2 < word.y < bottom + 2 and word not in place.words]
    codes: set[int] = set()
    for figure, code in ((word, code) for word in around if (code := _code(word.text)) is not None):
        label = [word for word in place.words if _are_level(word, figure)] or place.words
        left, _, right, _ = union(word.box for word in label)
        start, end = (figure.box[2], left) if figure.x < left else (right, figure.box[0])
        level = (word for word in around if word is not figure and _are_level(word, figure) and words_of(word.text))
        if not any(start - 1 <= word.x <= end + 1 for word in level):
            codes.add(code)
    return codes


def _code(written: str) -> int | None:
    """The code that a figure is, or the place that a letter counts; None for other words."""
    if figure := FIGURE.fullmatch(written):
        return int(figure[1])
    letter = LETTER.fullmatch(written)
    return ord(letter[1].lower()) - ord("a") + 1 if letter else None


def _stands_left(one: Box, other: Box) -> bool:
    """Whether a box stands beside another, not above or below it, with its middle further left."""
    are_beside = min(one[3], other[3]) > max(one[1], other[1])
    return are_beside and one[0] + one[2] < other[0] + other[2]


def _are_level(one: Word, other: Word) -> bool:
    return abs(one.y - other.y) < LEVEL * other.height
