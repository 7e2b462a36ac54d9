"""Answers without a list of their own: codes in a row with their labels above or below, or each behind its label."""

import itertools
from collections.abc import Sequence

from valuesassets.instruments.survey.layout.answers import AnswerList
from valuesassets.instruments.survey.layout.codes import answer_values, numbers, other_words
from valuesassets.instruments.survey.layout.lines import Line, join_lines, text_lines
from valuesassets.instruments.survey.layout.scales import answer_columns, column_labels
from valuesassets.instruments.survey.layout.wording import item_text

FEWEST = 3
"""A row of codes has so many."""
NEAR = 1.6
"""Labels stand within so many heights of a line from their row of codes."""


def read_answer_row(lines: Sequence[Line], offers_all: bool = False) -> AnswerList | None:
    """Codes side by side with labels over or under them, or a code at the end of each label; None without either."""
    return _read_row(lines, offers_all) or _read_trailing(lines, offers_all)


def _read_row(lines: Sequence[Line], offers_all: bool) -> AnswerList | None:
    position = next((n for n, line in enumerate(lines) if len(numbers(line)) >= FEWEST and not other_words(line)), None)
    if position is None:
        return None
    printed = numbers(lines[position])
    columns = answer_columns(printed, offers_all)
    start = position
    while start > 0 and _is_head(lines[start - 1], lines[start], len(columns)):
        start -= 1
    end = position + 1
    if start == position:
        while end < len(lines) and _is_head(lines[end], lines[end - 1], len(columns)):
            end += 1
    labels = column_labels([*lines[start:position], *lines[position + 1 : end]], columns, printed)
    options = tuple((value, item_text(labels[value])) for value, _ in columns)
    return AnswerList(options, tuple(lines[start:end]), tuple(lines[:start]))


def _is_head(line: Line, beside: Line, columns: int) -> bool:
    """Whether a line is one of labels: torn by gaps, or short, and next to the codes or to other labels."""
    gap = max(line.box[1] - beside.box[3], beside.box[1] - line.box[3])
    is_near = line.page == beside.page and gap < (NEAR - 1) * line.words[0].height
    return is_near and (len(line.cells) > 1 or len(line.words) < columns) and not numbers(line)


def _read_trailing(lines: Sequence[Line], offers_all: bool) -> AnswerList | None:
    found: list[tuple[int, str]] = []
    first = None
    last = 0
    for position, line in enumerate(lines):
        codes, words = numbers(line), other_words(line)
        if len(codes) == 1 and words and line.cells[-1].words == (codes[0][1],):
            first = position if first is None else first
            found.append((codes[0][0], item_text(join_lines(text_lines(words)))))
            last = position
        elif first is not None:
            break
    values = [value for value, _ in found]
    if first is None or len(found) < 2 or any(abs(b - a) != 1 for a, b in itertools.pairwise(values)):
        return None
    kept = answer_values(values, offers_all)
    options = tuple(option for option in found if option[0] in kept)
    return AnswerList(options, tuple(lines[first : last + 1]), tuple(lines[:first]))
