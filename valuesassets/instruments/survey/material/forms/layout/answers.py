"""Reads the answers of a question: one per line (`1 – label`), codes in a row, or each code after its label."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from valuesassets.instruments.survey.material.forms.layout.lines import GAP, Line, join_lines
from valuesassets.instruments.survey.material.forms.layout.scales import answer_columns, answer_values, column_labels
from valuesassets.instruments.survey.material.forms.layout.wording import (
    ROUTE,
    is_note,
    item_text,
    opens_note,
    without_notes,
)
from valuesassets.instruments.survey.material.forms.layout.words import text_lines

OPTION = re.compile(r"(\d{1,2})\s*([-–—.)…:]*)[-–—.)…:\s]*(\D.*|\d+\s*[-–—].*)?")
"""An option: its code, a mark after it, its label."""
QUESTION = re.compile(r"(?![vV])[^\W\d_]{1,2}\d{1,3}[a-zA-Z]?")  # the number of another question
LEADING = 2.2  # most heights of a line from one line of a label to the next
FEWEST = 3  # codes of a row
LED_BY_DOTS = re.compile(r"([._…·]*)(\d{1,2})")  # a code at the end of a line, with the dots that touch it
NEAR = 1.6  # most heights of a line between a row of codes and its labels


@dataclass
class _Read:
    value: int
    lines: list[str]
    left: float
    bottom: float
    page: int
    is_over: bool = False


@dataclass(frozen=True)
class AnswerList:
    """The options of a question, their lines, and the lines before them."""

    options: tuple[tuple[int, str], ...]
    lines: tuple[Line, ...] = field(repr=False)
    before: tuple[Line, ...] = field(repr=False)


def read_answers(lines: Sequence[Line], offers_all: bool = False) -> AnswerList | None:
    """The answers of a block as a list, as a row, or with codes after the labels; None if it has none of these."""
    return _read_list(lines, offers_all) or _read_row(lines, offers_all) or _read_trailing(lines, offers_all)


def _read_list(lines: Sequence[Line], offers_all: bool) -> AnswerList | None:
    """Read one option per line; None if no two lines have neighbouring codes."""
    lines = _one_option_each(_with_side_codes(lines))
    matches = [option_of(line) for line in lines]
    start = _start(matches)
    if start is None:
        return None
    read: list[_Read] = []
    used: list[Line] = []
    mark = matches[start][1]  # type: ignore[index]
    for line, match in zip(lines[start:], matches[start:], strict=True):
        if match is not None and _goes_on(match, mark, line, read):
            read.append(_Read(match[0], [match[2]], line.box[0], line.box[3], line.page))
        elif _is_wrapped(line, read[-1]):
            read[-1].lines.append(line.without(line.codes).text)
            read[-1].bottom = line.box[3]
        elif line.words and not is_note(line.text) and not line.codes:
            break
        else:
            read[-1].is_over = True
            continue
        used.append(line)
    kept = answer_values([each.value for each in read], offers_all)
    options = tuple((each.value, _label(each.lines)) for each in read if each.value in kept)
    return AnswerList(_without_closing_mark(options), tuple(used), tuple(lines[:start]))


def _with_side_codes(lines: Sequence[Line]) -> list[Line]:
    """Lines with each code that stands beside the middle of a label of two lines moved before that label."""
    merged: list[Line] = []
    rest = list(lines)
    while rest:
        line = rest.pop(0)
        if merged and rest and _stands_between(line, merged[-1], rest[0]):
            merged.append(Line(line.page, (*line.cells, *merged.pop().cells, *rest.pop(0).cells)))
        else:
            merged.append(line)
    return merged


def _one_option_each(lines: Sequence[Line]) -> list[Line]:
    """Lines with one option each; options side by side are ordered column by column."""
    parted: list[Line] = []
    for line in lines:
        options = _side_by_side(line)
        beside = _same_columns(parted, options) if options else None
        parted += options or [line]
        if beside is not None:
            parted[beside:] = sorted(parted[beside:], key=lambda each: (round(each.box[0] / 12), each.box[1]))
    return parted


def _side_by_side(line: Line) -> list[Line]:
    """The options of a line with several options; otherwise empty."""
    starts = [number for number, cell in enumerate(line.cells) if re.match(r"\d{1,2}([.)]|$)", cell.text)]
    if len(starts) < 2 or starts[0] != 0:
        return []
    ends = [*starts[1:], len(line.cells)]
    options = [Line(line.page, line.cells[start:end]) for start, end in zip(starts, ends, strict=True)]
    return options if all(map(option_of, options)) else []


def _same_columns(above: Sequence[Line], options: Sequence[Line]) -> int | None:
    """The place of the first option above in the same columns as a line's options; None if there is none."""
    first = len(above)
    while first > 0 and option_of(above[first - 1]) and above[first - 1].page == options[0].page:
        first -= 1
    before = [line.box[0] for line in above[first:]]
    shared = all(any(abs(option.box[0] - other) < 6 for other in before) for option in options)
    return first if before and shared else None


def _stands_between(line: Line, above: Line, below: Line) -> bool:
    is_code = len(line.words) == 1 and line.words[0].text.isdigit()
    are_beside = all(each.box[0] > line.box[2] and each.page == line.page for each in (above, below))
    return is_code and are_beside and above.box[3] > line.box[1] and below.box[1] < line.box[3]


def option_of(line: Line) -> tuple[int, str, str] | None:
    """Code, mark and label of a line that may be an option of a list; otherwise None."""
    if line.is_boxed_note:
        return None
    printed = line.without(line.codes)
    if len(printed.cells) > 2 and QUESTION.fullmatch(printed.cells[-1].text):  # the next question, after an arrow
        printed = printed.without(printed.cells[-1].words)
    match = OPTION.fullmatch(printed.text)
    return (int(match[1]), match[2][:1], match[3] or "") if match and (match[3] or match[2]) else None


def _start(matches: Sequence[tuple[int, str, str] | None]) -> int | None:
    """The first line whose code is followed by a neighbouring code in the next line with one."""
    coded = [(position, match) for position, match in enumerate(matches) if match is not None]
    for (position, (code, mark, _)), (_, (next_code, next_mark, _)) in itertools.pairwise(coded):
        if abs(code - next_code) == 1 and mark == next_mark and (code == 1 or code > next_code):
            return position
    return None


def _goes_on(match: tuple[int, str, str], mark: str, line: Line, read: Sequence[_Read]) -> bool:
    if not read or match[0] in [each.value for each in read]:
        return not read
    is_next = match[0] - read[-1].value in (1, -1)
    return is_next or bool(match[1]) or abs(line.box[0] - read[0].left) < 6


def _is_wrapped(line: Line, last: _Read) -> bool:
    if last.is_over or is_note(line.text) or opens_note(line.text) or line.codes:
        return False
    near = line.page != last.page or line.box[1] - last.bottom < (LEADING - 1) * line.words[0].height
    return near and line.box[0] > last.left - 3 and not line.is_boxed_note


def _label(lines: Sequence[str]) -> str:
    """The label of an option, cut at the first arrow or leader dots."""
    parts = []
    for line in lines:
        parts.append(ROUTE.sub("", line))
        if parts[-1] != line:
            break
    return without_notes(" ".join(part for part in parts if part)).lstrip("…. ").rstrip(" ,;")


def _without_closing_mark(options: tuple[tuple[int, str], ...]) -> tuple[tuple[int, str], ...]:
    """Options without the question mark of a last label that ends the question (`4 – not at all happy?`)."""
    if not options or not options[-1][1].endswith("?") or any(label.endswith("?") for _, label in options[:-1]):
        return options
    value, label = options[-1]
    return (*options[:-1], (value, label.rstrip(" ?")))


def _read_row(lines: Sequence[Line], offers_all: bool) -> AnswerList | None:
    position = next((n for n, line in enumerate(lines) if len(line.numbers) >= FEWEST and not line.other_words), None)
    if position is None:
        return None
    printed = lines[position].numbers
    columns = len(answer_columns(printed, offers_all))
    start = position
    while start > 0 and _is_head(lines[start - 1], lines[start], columns):
        start -= 1
    end = position + 1
    if start == position:
        while end < len(lines) and _is_head(lines[end], lines[end - 1], columns):
            end += 1
    labels = column_labels([*lines[start:position], *lines[position + 1 : end]], printed, offers_all)
    options = tuple((value, item_text(label)) for value, label in labels.items())
    return AnswerList(options, tuple(lines[start:end]), tuple(lines[:start]))


def _is_head(line: Line, beside: Line, columns: int) -> bool:
    """Whether a line holds labels: it has gaps or is short, and is next to the codes or to other labels."""
    gap = max(line.box[1] - beside.box[3], beside.box[1] - line.box[3])
    is_near = line.page == beside.page and gap < (NEAR - 1) * line.words[0].height
    return is_near and (len(line.cells) > 1 or len(line.words) < columns) and not line.numbers


def _read_trailing(lines: Sequence[Line], offers_all: bool) -> AnswerList | None:
    """Read labels whose codes follow after a gap or after leader dots."""
    coded: dict[int, tuple[int, str]] = {}  # by place of the line
    for position, line in enumerate(lines):
        option = _trailing(line)
        if option is not None:
            coded[position] = option
        elif coded and not is_note(line.text) and not line.codes:
            break
    kept = answer_values([value for value, _ in coded.values()], offers_all)
    if len(kept) < 2 or any(abs(after - before) != 1 for before, after in itertools.pairwise(kept)):
        return None
    options = tuple(option for option in coded.values() if option[0] in kept)
    return AnswerList(options, tuple(lines[position] for position in coded), tuple(lines[: min(coded)]))


def _trailing(line: Line) -> tuple[int, str] | None:
    """The code at the end of a line and the label before it."""
    *words, last = line.without(line.codes).words or [line.words[0]]
    figure = LED_BY_DOTS.fullmatch(last.text)
    if figure is None or not any(map(str.isalpha, "".join(word.text for word in words))):
        return None
    has_leader = bool(figure[1]) or not any(map(str.isalnum, words[-1].text[-2:]))
    if not has_leader and last.box[0] - words[-1].box[2] <= GAP:
        return None
    return int(figure[2]), item_text(join_lines(text_lines(words)))
