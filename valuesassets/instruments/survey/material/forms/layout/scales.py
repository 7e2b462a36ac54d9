"""Reads the labels over answer codes: heads of tables, and the two anchors of a ten-point scale."""

import itertools
import re
from collections.abc import Sequence

from valuesassets.instruments.survey.material.forms.layout.lines import Line, join_lines
from valuesassets.instruments.survey.material.forms.layout.wording import is_note, without_notes
from valuesassets.instruments.survey.material.forms.layout.words import Word, text_lines, union
from valuesassets.records.questions import MISSING_CODES, TEN

GUTTER = 0.45  # least heights of a line between labels over a scale; words are half as far apart


def answer_values(printed: Sequence[int], offers_all: bool = False) -> list[int]:
    """The printed codes that are answers, without those for don't know, no answer and not applicable.

    Two-figure codes (66, 77, 88, 99) are never answers. If none of them is printed, 8 and 9 are not either, nor is a 7
    that does not follow 6. Zero is an answer only at the end of a falling scale (2, 1, 0).

    Args:
        offers_all: whether the form's codes for don't know and the like are negative, so that all these are answers.

    >>> answer_values([1, 2, 3, 4, 8, 9, 7]), answer_values([1, 2, 3, 4, 5, 6, 7, 8, 9])
    ([1, 2, 3, 4], [1, 2, 3, 4, 5, 6, 7])
    >>> answer_values([*range(1, 11), 0, 88, 99]) == list(range(1, 11)), answer_values([5, 4, 3, 2, 1, 8, 9])
    (True, [5, 4, 3, 2, 1])
    """
    if offers_all:
        falls_to_nought = all(before > after for before, after in itertools.pairwise(printed))
        return [value for value in printed if value or falls_to_nought]
    if {8, 9, 10} <= set(printed):
        end = printed.index(10)
        beyond = [value for value in printed[end:] if value > 10 and value not in MISSING_CODES]
        return [*filter(None, printed[: end + 1]), *beyond]
    if any(value in MISSING_CODES and value > 10 for value in printed):
        return [value for value in printed if value and value not in MISSING_CODES - {7, 8, 9}]
    kept = [value for value in printed if value not in (0, 8, 9)]
    follows_six = any(pair == (6, 7) for pair in itertools.pairwise(printed))
    return kept if follows_six else [value for value in kept if value != 7]


def answer_columns(printed: Sequence[tuple[int, Word]], offers_all: bool = False) -> dict[int, float]:
    """The answers among the codes of a row, left to right, each with its horizontal centre."""
    values = [value for value, _ in printed]
    kept = list(TEN) if values[:10] == list(TEN) else answer_values(values, offers_all)
    columns: dict[int, float] = {}
    for value, word in printed:
        if value in kept:
            columns.setdefault(value, word.x)
    return columns


def column_labels(
    head: Sequence[Line], printed: Sequence[tuple[int, Word]], offers_all: bool = False
) -> dict[int, str]:
    """The label of each answer code in the lines above a row; other codes take their own labels (DK, NA)."""
    columns = answer_columns(printed, offers_all)
    if not columns:
        return {}
    if len(columns) >= 9:  # a scale of which only the ends carry labels
        return _anchor_labels(head, columns, printed)
    words_over: dict[int, list[Word]] = {value: [] for value in columns}
    everywhere = [(value, word.x) for value, word in printed]
    for cell in (cell for line in head for cell in line.cells):
        within = [column for column in everywhere if not cell.frame or cell.frame[0] <= column[1] <= cell.frame[2]]
        for word in cell.words if within else ():
            value, x = min(within, key=lambda column: abs(column[1] - word.x))
            if columns.get(value) == x:
                words_over[value].append(word)
    labels = {value: _label(words) for value, words in words_over.items()}
    if all(re.search(rf"\D {value}$", label) for value, label in labels.items()):
        return {value: label.removesuffix(f" {value}") for value, label in labels.items()}
    return labels


def _anchor_labels(
    head: Sequence[Line], columns: dict[int, float], printed: Sequence[tuple[int, Word]]
) -> dict[int, str]:
    """The labels of the first and last point, left and right of the widest gap over the scale."""
    (first, start), *_, (last, end) = columns.items()
    beyond = [word.x for _, word in printed if word.x > end]
    strips = _strips([word for line in head for word in line.words])
    words = [word for strip in strips for word in _over_scale(strip, end, beyond)]
    split = _widest_gap(words, (start + end) / 2)
    left, right = [word for word in words if word.x < split], [word for word in words if word.x >= split]
    return dict.fromkeys(columns, "") | {first: _label(left), last: _label(right)}


def _strips(words: Sequence[Word]) -> list[list[Word]]:
    """Words from left to right, divided at free vertical strips."""
    strips: list[list[Word]] = []
    reach = 0.0
    for word in sorted(words, key=lambda each: each.box[0]):
        if not strips or word.box[0] - reach > GUTTER * word.height:
            strips.append([])
            reach = word.box[2]
        strips[-1].append(word)
        reach = max(reach, word.box[2])
    return strips


def _over_scale(strip: Sequence[Word], last: float, beyond: Sequence[float]) -> list[Word]:
    """The words of a strip that label the scale, not the codes for don't know and no answer beyond it."""
    left, _, right, _ = union(word.box for word in strip)
    if not any(left <= x <= right for x in beyond):
        return list(strip)
    if left > last:
        return []
    return [word for word in strip if min(abs(word.x - x) for x in beyond) >= abs(word.x - last)]


def _widest_gap(words: Sequence[Word], middle: float) -> float:
    """The middle of the widest free strip between words, or of the scale if there is none."""
    strips = _strips(words)
    boxes = [union(word.box for word in strip) for strip in strips]
    edges = [(before[2], after[0]) for before, after in itertools.pairwise(boxes)]
    return sum(max(edges, key=lambda edge: edge[1] - edge[0])) / 2 if edges else middle


def _label(words: Sequence[Word]) -> str:
    lines = text_lines(words)
    if len(lines) > 1:
        lines = [line for line in lines if not is_note(join_lines([line]))]
    return without_notes(join_lines(lines, keeps_hyphens=False)).lstrip("…. ")
