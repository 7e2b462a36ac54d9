"""Labels over columns of answer codes: heads of tables, and the two anchors of a ten-point scale."""

from collections.abc import Sequence

from valuesassets.instruments.survey.layout.codes import answer_values
from valuesassets.instruments.survey.layout.lines import Cell, Line, join_lines, text_lines
from valuesassets.instruments.survey.layout.pages import Word
from valuesassets.instruments.survey.layout.wording import is_note, without_notes

Column = tuple[int, float]
"""An answer code and the horizontal centre at which it is printed."""
GUTTER = 3.0
"""The labels of 1 and 10 are so many points apart, at least."""


def answer_columns(printed: Sequence[tuple[int, Word]]) -> list[Column]:
    """The columns of answers among the codes of a row, left to right."""
    kept = answer_values([value for value, _ in printed])
    columns: list[Column] = []
    for value, word in printed:
        if value in kept and value not in [each for each, _ in columns]:
            columns.append((value, word.x))
    return columns


def is_ten_points(columns: Sequence[Column]) -> bool:
    """Whether the columns make a scale of which only the ends carry labels."""
    return len(columns) >= 9


def column_labels(
    head: Sequence[Line], columns: Sequence[Column], printed: Sequence[tuple[int, Word]]
) -> dict[int, str]:
    """Label by answer code, out of the lines above the columns.

    Args:
        columns: the answers among `printed`; the other codes of the row draw off their own labels (DK, NA).
    """
    if not columns:
        return {}
    if is_ten_points(columns):
        return _anchor_labels(head, columns, printed)
    found: dict[int, list[Word]] = {value: [] for value, _ in columns}
    everywhere = [(value, word.x) for value, word in printed]
    for line in head:
        for cell in line.cells:
            if cell.frame is None:
                for word in cell.words:
                    _give(found, [word], _nearest(everywhere, word.x), columns)
            else:
                within = [column for column in everywhere if cell.frame[0] <= column[1] <= cell.frame[2]]
                if len(within) == 1:
                    _give(found, cell.words, within[0], columns)
                elif len(within) > 1:
                    for word in cell.words:
                        _give(found, [word], _nearest(within, word.x), columns)
    return {value: _label(words) for value, words in found.items()}


def _give(found: dict[int, list[Word]], words: Sequence[Word], column: Column, columns: Sequence[Column]) -> None:
    if column in columns:
        found[column[0]] += words


def _nearest(columns: Sequence[Column], x: float) -> Column:
    return min(columns, key=lambda column: abs(column[1] - x))


def _anchor_labels(
    head: Sequence[Line], columns: Sequence[Column], printed: Sequence[tuple[int, Word]]
) -> dict[int, str]:
    """The labels of the first and the last point: what stands left and right of the widest gap over the scale."""
    first, last = columns[0], columns[-1]
    beyond = [word.x for _, word in printed if word.x > last[1]]
    cells: list[Cell] = []
    for line in head:
        for cell in line.cells:
            if cell.frame is not None:
                cells.append(cell) if not beyond or cell.x < (last[1] + beyond[0]) / 2 else None
                continue
            kept = tuple(word for word in cell.words if not _is_beyond(word.x, last[1], beyond))
            if kept:
                cells.append(Cell(kept))
    words = [word for cell in cells for word in cell.words]
    split = _widest_gap(words, (first[1] + last[1]) / 2)
    left = [word for word in words if word.x < split]
    right = [word for word in words if word.x >= split]
    labels = {value: "" for value, _ in columns}
    return labels | {first[0]: _label(left), last[0]: _label(right)}


def _is_beyond(x: float, last: float, beyond: Sequence[float]) -> bool:
    return bool(beyond) and min(abs(x - each) for each in beyond) < abs(x - last)


def _widest_gap(words: Sequence[Word], middle: float) -> float:
    """Where no word stands: the middle of the widest such strip; the middle of the scale where there is none."""
    spans = sorted((word.box[0], word.box[2]) for word in words)
    if not spans:
        return middle
    gaps, reach = [], spans[0][1]
    for left, right in spans[1:]:
        if left - reach > GUTTER:
            gaps.append((left - reach, (left + reach) / 2))
        reach = max(reach, right)
    return max(gaps)[1] if gaps else middle


def _label(words: Sequence[Word]) -> str:
    lines = [line for line in text_lines(words)]
    if len(lines) > 1:
        lines = [line for line in lines if not is_note(join_lines([line]))]
    return without_notes(join_lines(lines)).lstrip("…. ")
