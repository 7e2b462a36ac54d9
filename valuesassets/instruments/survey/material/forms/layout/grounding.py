"""Finds the place of every string of a question on its form, and checks that every label is beside its own code."""

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
SHORT = 4  # letters; shorter parts (`e.g.`) are joined to the next one
PAGES_TRIED = 4  # pages that are searched for a question without a page
FIGURE = re.compile(r"[-–—.:()…]*(\d{1,2})[-–—.:()…]*")
LETTER = re.compile(r"[\[(]?([a-zA-Z])[.:)\]]+")  # the letter of an answer in a lettered list
HEAD = 4  # greatest height of a grid's head, in heights of a letter
LEVEL = 0.9  # greatest distance between the middles of level words, in heights of a letter


@dataclass(frozen=True)
class GroundedString:
    """A sentence of a stem, an item or a label, and its place on the form.

    Attributes:
        field: `stem`, `item`, `text`, or `label 3`.
        place: the best place; None if there is nothing similar.
        is_at_code: whether a label is beside its own code, or no code is printed.
    """

    field: str
    text: str
    place: Place | None
    is_at_code: bool = True

    @property
    def fault(self) -> str | None:
        """The difference from the page in words; None if there is none."""
        if self.place is None:
            return "nothing like it was found"
        differences = []
        if self.place.lacking:
            differences.append(f"there is no {_quoted(self.place.lacking)} on the page")
        if self.place.extra:
            differences.append(f"the page also has {_quoted(self.place.extra)}")
        if differences:
            printed = " ".join(word.text for word in self.place.words)
            return f"{' and '.join(differences)}, where it reads {printed[:120]!r}"
        return None if self.is_at_code else "it stands beside another code"


class Form:
    """The pages of a form, searched for the strings of its questions."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = {page.number: page for page in pages}
        self._graphs: dict[int, WordGraph] = {}
        self._places: dict[tuple[int, str], tuple[Place, ...]] = {}
        self._words = {page.number: set(words_of(" ".join(word.text for word in page.words))) for page in pages}

    def ground(self, question: Question) -> tuple[GroundedString, ...]:
        """Every string of a question with its place, on the question's page or a neighbouring one.

        A question without a page is searched on the pages with most of its rarer words. A question with unreadable
        glyphs is not searched.
        """
        if any(is_damaged(word) for text in _strings(question) for word in text.split()):
            return ()
        if question.page is not None:
            return self._ground(question, question.page)
        tried = (self._ground(question, page) for page in self._likely_pages(question))
        return min(tried, key=lambda strings: sum(each.fault is not None for each in strings), default=())

    def _ground(self, question: Question, page: int) -> tuple[GroundedString, ...]:
        strings = [
            GroundedString(field, text, next(iter(self._find(page, text)), None))
            for field, whole in _spoken_parts(question).items()
            for text in sentences(whole)
        ]
        labels = {o.value: o.label for o in question.options if words_of(o.label) not in ([], [str(o.value)])}
        places = {value: self._find(page, label) for value, label in labels.items()}
        at_code = places_at_codes(places, self._pages)
        for value, label in labels.items():
            best = at_code.get(value) or next(iter(places[value]), None)
            strings.append(GroundedString(f"label {value}", label, best, value in at_code))
        return tuple(strings)

    def _find(self, page: int, text: str) -> tuple[Place, ...]:
        if (page, text) not in self._places:
            if page not in self._graphs:
                near = [self._pages[number] for number in range(page - 1, page + 2) if number in self._pages]
                self._graphs[page] = WordGraph(near)
            self._places[page, text] = find_places(self._graphs[page], text)
        return self._places[page, text]

    def _likely_pages(self, question: Question) -> list[int]:
        wanted = {word for text in _strings(question) for word in words_of(text)}
        pages_with = {word: sum(word in words for words in self._words.values()) for word in wanted}
        shared = {number: sum(1 / pages_with[w] for w in wanted & words) for number, words in self._words.items()}
        return sorted(shared, key=lambda number: (-shared[number], number))[:PAGES_TRIED]


def sentences(text: str) -> list[str]:
    """The sentences of a text; a form may print notes between them.

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
    """Stem and item, and the text if it says more; without an item, the text."""
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
    """For each code, the place of its label beside that code; labels beside other codes are left out.

    If no code is printed beside any label, each label has its best place.
    """
    beside = {
        code: [(place, _codes_beside(place, pages[place.page]) & set(places)) for place in matches]
        for code, matches in places.items()
    }
    own = {code: place for code, matches in beside.items() for place, codes in reversed(matches) if code in codes}
    lacking = {code for code, matches in places.items() if matches and code not in own}
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
    """Lines below the labels with all of their codes: page, and the word of each code."""
    all_places = [place for each in places.values() for place in each]
    for page in dict.fromkeys(place.page for place in all_places):
        top = min(place.box[1] for place in all_places if place.page == page)
        for line in page_lines(pages[page]):
            figures = {code: word for code, word in line.numbers if code in places}
            if line.box[1] > top and len(figures) == len(places) > 1:
                yield page, figures


def _heads(
    places: Mapping[int, Sequence[Place]], page: int, figures: Mapping[int, Word], height: float
) -> dict[int, Place]:
    """The place of each code's label in the head above a row of figures: the one nearest to the code's figure.

    Args:
        height: of the head, in heights of a letter.
    """
    row_top = min(word.box[1] for word in figures.values())
    heads: dict[int, Place] = {}
    for code, matches in places.items():
        above = [place for place in matches if place.page == page and place.box[3] <= row_top + 3]
        lowest = max((place.box[3] for place in above), default=0.0)
        head = [place for place in above if place.box[3] >= lowest - height * place.words[0].height]
        if head:
            heads[code] = min(head, key=lambda place: abs((place.box[0] + place.box[2]) / 2 - figures[code].x))
    return heads


def _codes_beside(place: Place, page: Page) -> set[int]:
    """The codes left or right of a label, at its height, with no word between."""
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
    """The code of a figure, or the number of a letter; None for other words."""
    if figure := FIGURE.fullmatch(written):
        return int(figure[1])
    letter = LETTER.fullmatch(written)
    return ord(letter[1].lower()) - ord("a") + 1 if letter else None


def _stands_left(one: Box, other: Box) -> bool:
    """Whether a box is beside another one, with its middle further left."""
    are_beside = min(one[3], other[3]) > max(one[1], other[1])
    return are_beside and one[0] + one[2] < other[0] + other[2]


def _are_level(one: Word, other: Word) -> bool:
    return abs(one.y - other.y) < LEVEL * other.height
