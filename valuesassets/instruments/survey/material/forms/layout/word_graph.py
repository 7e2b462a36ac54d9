"""The graph of a form's words and of the steps between them, and the search for a string in it.

Words of a form are not in one sequence: labels of a grid wrap in narrow columns side by side, and a question continues
below a note or on the next page. The place of a string is the cheapest path of words (Dijkstra), where each missing or
extra word costs its letters. Only the string and the page decide, so that a lost negation or two labels in one show.
"""

import heapq
import itertools
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein

from valuesassets.instruments.survey.material.forms.layout.blocks import NUMBER
from valuesassets.instruments.survey.material.forms.layout.lines import Cell, Line, page_lines
from valuesassets.instruments.survey.material.forms.layout.pages import Page
from valuesassets.instruments.survey.material.forms.layout.wording import is_note
from valuesassets.instruments.survey.material.forms.layout.words import Box, Word, text_lines, union
from valuesassets.people.variables import load_variables

LEADING = 2.2  # most heights of a letter to the next line of a text, without the notes between
LINES_AHEAD = 5  # lines below that a step may reach, also from the foot to the head of a page
NEAR = 24.0  # most points between lines of one column that do not overlap
WIDE_GAP = 1.0  # least heights of a letter between two columns without a rule
ODD_STEP = 0.1  # cost, in letters, of a step that is not to the next word or line
SENTENCE = re.compile(r"(?<=[.?!:;…])")
BEGINS = re.compile(r"[¿¡«„“‘\"(\[]")
ENDS = re.compile(r"[.?!:;…)\]–—-]$")
"""The beginning and the end of a printed word at which a text may begin or end."""
LONG_WORD = 6  # letters of a word in which one other letter, but not the first, is a matter of spelling
OTHER_LETTER, WORD_ASIDE = 0.5, 0.05  # costs of such a letter, and of a word that may be between
AS_GOOD = 0.9  # extra cost up to which another place is as good as the best
PATIENCE, LEAST_PATIENCE = 0.4, 4.0  # most letters of a string that may differ: as a share, and at least this many
MOST_LACKING_AT_FIRST = 4  # first words that may be missing

_Row = list[list[int]]
_State = tuple[int, int]
"""The number of letters read, and the node; the number exceeds the length of the string after the end."""


@dataclass(frozen=True, eq=False)
class Node:
    """A printed word, or its part between two marks (`ja/nein` has two)."""

    letters: str
    word: Word
    is_aside: bool
    """Whether a text may skip it: a figure, a code, a word in brackets, in capitals or in a note."""


def words_of(text: str) -> list[str]:
    """The words of a text in lower case (NFKC), cut at every mark: `don't` is `don` and `t`."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(letter if letter.isalnum() else " " for letter in folded).split()


class WordGraph:
    """The words of neighbouring pages and the steps between them.

    Attributes:
        steps: for each node, the indices of the nodes that may follow, each with the cost of the step.
        by_first_letter: the words of each first letter, with the indices of their nodes.
    """

    def __init__(self, pages: Sequence[Page]) -> None:
        self.nodes: list[Node] = []
        self.steps: list[dict[int, float]] = []
        self._beside: dict[int, dict[int, int]] = {-1: {}, 1: {}}
        before: list[tuple[Line, _Row]] = []
        for page in pages:
            read = ((line, [self._read(line, cell) for cell in line.cells]) for line in page_lines(page))
            lines = [(line, [*filter(None, cells)]) for line, cells in read]
            self._link_lines(lines)
            ends = [cell[-1] for _, cells in before[-LINES_AHEAD:] for cell in cells]
            starts = [cell[0] for _, cells in lines[:LINES_AHEAD] for cell in cells]
            for one, other in itertools.product(ends, starts):
                self.steps[one].setdefault(other, ODD_STEP)
            before = lines
        self.by_first_letter: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for index, node in enumerate(self.nodes):
            self.by_first_letter[node.letters[0]][node.letters].append(index)

    def beside(self, index: int, side: int) -> str:
        """The letters of the word directly before (-1) or after (1) in the same text; empty if there is none."""
        other = self._beside[side].get(index)
        return "" if other is None else self.nodes[other].letters

    def _read(self, line: Line, cell: Cell) -> list[int]:
        """Add the nodes of a cell, in reading order, with steps to the next word and down the columns."""
        rows: list[_Row] = []
        is_in_note, depth = is_note(line.text), 0
        last: int | None = None
        for written in text_lines(cell.words):
            row: _Row = [[]]
            phrase = _repeated(written)
            for place, (before, word) in enumerate(zip([None, *written], written, strict=False)):
                depth += len(re.findall(r"[(\[]", word.text))
                is_aside = is_in_note or depth > 0 or _is_no_speech(word.text)
                is_apart = before is not None and word.box[0] - before.box[2] > WIDE_GAP * word.height
                is_new = is_apart or (place and place % phrase == 0)
                if is_new:
                    row.append([])
                if is_new or BEGINS.match(word.text):
                    last = None
                for part in filter(None, SENTENCE.split(word.text)):
                    for letters in words_of(part):
                        index = len(self.nodes)
                        self.nodes.append(Node(letters, word, is_aside))
                        self.steps.append({})
                        row[-1].append(index)
                        if last is not None and not is_aside:
                            self._beside[-1][index], self._beside[1][last] = last, index
                        last = None if is_aside else index
                    if ENDS.search(part) or not words_of(part):
                        last = None
                depth = max(0, depth - len(re.findall(r"[)\]]", word.text)))
            rows.append([piece for piece in row if piece])
        nodes = list(itertools.chain.from_iterable(itertools.chain.from_iterable(rows)))
        for one, other in itertools.pairwise(nodes):
            self.steps[one].setdefault(other, 0.0)
        for row, below in itertools.pairwise(rows):
            self._step_down(row, below)
        return nodes

    def _link_lines(self, lines: Sequence[tuple[Line, _Row]]) -> None:
        """Add steps from cell to cell, and to the first cell and the same column of the lines below."""
        for position, (line, cells) in enumerate(lines):
            for one, other in itertools.pairwise(cells):
                self.steps[one[-1]].setdefault(other[0], ODD_STEP)
            bottom, reach = line.box[3], LEADING * line.words[0].height
            for below, cells_below in lines[position + 1 : position + 1 + LINES_AHEAD]:
                if below.box[1] - bottom > reach:
                    break
                if is_note(below.text) or below.is_boxed_note:
                    bottom = max(bottom, below.box[3])
                if cells and cells_below:
                    self.steps[cells[-1][-1]].setdefault(cells_below[0][0], ODD_STEP)
                self._step_down(cells, cells_below)

    def _step_down(self, row: _Row, below: _Row) -> None:
        for one, other in itertools.product(row, below):
            (left, _, right, _), (left_below, _, right_below, _) = (
                union(self.nodes[index].word.box for index in nodes) for nodes in (one, other)
            )
            if min(right, right_below) > max(left, left_below) - NEAR:
                self.steps[one[-1]].setdefault(other[0], 0.0)


def _repeated(written: Sequence[Word]) -> int:
    """The number of words after which a line repeats itself, as heads of columns do: `of them of them`; else all."""
    texts = [word.text for word in written]
    count = len(texts)
    return next((n for n in range(1, count) if count % n == 0 and texts[:n] * (count // n) == texts), count)


def _is_no_speech(text: str) -> bool:
    """Whether a word is a figure, a variable code, a question number, or in capitals, as notes are."""
    is_code = any(pattern.code(text) for pattern in load_variables().codes if not pattern.is_question_number)
    is_number = NUMBER.fullmatch(text) or is_code or all(map(str.isdigit, words_of(text)))
    return bool(is_number) or (text.isupper() and sum(map(str.isalpha, text)) > 1)


@dataclass(frozen=True)
class Place:
    """The place of a string, and how the page differs from it.

    Attributes:
        page: of the first word.
        words: on that page, in the order of the string.
        lacking: words of the string that are not printed there.
        extra: words printed there that the string lacks.
    """

    page: int
    words: tuple[Word, ...]
    lacking: tuple[str, ...]
    extra: tuple[str, ...]

    @property
    def box(self) -> Box:
        """Box around the words."""
        return union(word.box for word in self.words)


def find_places(graph: WordGraph, text: str) -> tuple[Place, ...]:
    """The places most similar to a string, the best first; empty if nothing is similar."""
    words = words_of(text)
    return tuple(_Search(graph, words).run()) if words else ()


class _Search:
    def __init__(self, graph: WordGraph, words: Sequence[str]) -> None:
        self._graph, self._words, self._target = graph, words, "".join(words)
        # The word that begins after each number of letters.
        self._word_at = dict(zip(itertools.accumulate(map(len, words[:-1]), initial=0), words, strict=True))
        self._limit = max(LEAST_PATIENCE, PATIENCE * len(self._target))
        self._heap: list[tuple[float, _State]] = []
        self._cost: dict[_State, float] = {}
        # The state before each state, and the lacking and the extra word of the step.
        self._origin: dict[_State, tuple[_State | None, str, str]] = {}

    def run(self) -> Iterator[Place]:
        # The path may begin at the first word, or at one of the next few if those before it are missing.
        for n, (start, word) in enumerate(itertools.islice(self._word_at.items(), MOST_LACKING_AT_FIRST)):
            lacking = " ".join(self._words[:n])
            for letters, nodes in self._graph.by_first_letter.get(word[0], {}).items():
                if match := self._match(start, letters):
                    end, more = match
                    for node in nodes:
                        extra = self._graph.beside(node, -1) if n == 0 else ""
                        self._push(start + more + len(extra), (end, node), None, lacking, extra)
        while self._heap and self._heap[0][0] <= self._limit:
            cost, state = heapq.heappop(self._heap)
            if cost > self._cost[state]:
                continue
            if state[0] > len(self._target):
                self._limit = min(self._limit, cost + AS_GOOD)
                yield self._place(state)
            else:
                self._go_on(cost, state)

    def _go_on(self, cost: float, state: _State) -> None:
        reached, at = state
        if reached == len(self._target):
            extra = self._graph.beside(at, 1)
            self._push(cost + len(extra), (reached + 1, at), state, "", extra)
            return
        word = self._word_at.get(reached, "")
        if word:
            self._push(cost + len(word), (reached + len(word), at), state, word, "")
        for index, step in self._graph.steps[at].items():
            node = self._graph.nodes[index]
            if match := self._match(reached, node.letters):
                end, more = match
                self._push(cost + step + more, (end, index), state, "", "")
            extra = "" if node.is_aside else node.letters
            if word and extra:
                more = max(len(word), len(extra))
                self._push(cost + step + more, (reached + len(word), index), state, word, extra)
            self._push(cost + step + (len(extra) or WORD_ASIDE), (reached, index), state, "", extra)

    def _push(self, cost: float, state: _State, origin: _State | None, lacking: str, extra: str) -> None:
        if cost <= self._limit and cost < self._cost.get(state, math.inf):
            self._cost[state] = cost
            self._origin[state] = origin, lacking, extra
            heapq.heappush(self._heap, (cost, state))

    def _match(self, start: int, letters: str) -> tuple[int, float] | None:
        """The place in the string after a node's letters, and the cost; None if they do not match."""
        if self._target.startswith(letters, start):
            return start + len(letters), 0.0
        word = self._word_at.get(start)
        return (start + len(word), OTHER_LETTER) if word and _is_spelt_otherwise(word, letters) else None

    def _place(self, end: _State) -> Place:
        lacking: list[str] = []
        extra: list[str] = []
        words: list[Word] = []
        state: _State | None = end
        while state is not None:
            origin, lacks, exceeds = self._origin[state]
            lacking += [lacks] if lacks else []
            extra += [exceeds] if exceeds else []
            if origin is None or (state[0] > origin[0] and state[1] != origin[1]):
                words.append(self._graph.nodes[state[1]].word)
            state = origin
        page = words[-1].page
        on_page = tuple(dict.fromkeys(word for word in reversed(words) if word.page == page))
        return Place(page, on_page, tuple(reversed(lacking)), tuple(reversed(extra)))


def _is_spelt_otherwise(word: str, letters: str) -> bool:
    is_long = min(len(word), len(letters)) >= LONG_WORD
    return is_long and word[0] == letters[0] and Levenshtein.distance(word, letters, score_cutoff=1) == 1
