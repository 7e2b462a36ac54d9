"""Reads questionnaires that are written in Word (DOCX): a text and the list or table of answers right below it.

A document declares no structure. What is not an unambiguous pair of a question and its answers is left out.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from valuesassets.instruments.survey.material.forms.exchange.entries import (
    NO_KNOWN_TABLE,
    NO_LIST,
    NOT_CERTAIN,
    Answer,
    Entry,
    FormContent,
)
from valuesassets.instruments.survey.material.forms.exchange.form_languages import WantedLanguage
from valuesassets.instruments.survey.material.forms.exchange.plain_text import why_quoting
from valuesassets.instruments.survey.material.forms.exchange.word_lines import (
    ROOM,
    SQUARES,
    TYPED_BOX,
    TYPED_CODE,
    TYPED_MARK,
    Grid,
    Line,
    lines_of,
)
from valuesassets.instruments.survey.material.forms.own_numbers import without_own_numbers
from valuesassets.records.errors import QuestionError

NUMBER = re.compile(r"(?P<letters>[^\W\d_]{0,2})(?P<digits>\d{1,3}[a-z]?)(?P<after>[.):]\s*|\s+)(?=\S)")
"""A question's number at its beginning: `Q1 `, `12. `, `F3) `."""
NOTE = re.compile(r"[(\[].*[)\]]")
"""A line in brackets, such as an instruction between a question and its answers."""
SEVERAL = re.compile(
    r"all that apply|select all|tick all|check all|choose all|more than one|multiple answers|mehrfach|mehrere antworten"
    r"|plusieurs r|varias respuestas|più risposte",
    re.IGNORECASE,
)
CODE_BEHIND = re.compile(r"\s*\((-?\d{1,4})\)\s*$")
"""` (1)`, as Qualtrics writes codes."""
NAME_BEHIND = re.compile(r"\s*\(([^\W\d]\w*_\d+)\)\s*$")
"""` (Q2_1)`, as Qualtrics writes the names of items."""
CODE = re.compile(r"-?\d{1,4}")
BOX = re.compile(r"[☐□▢❏❑○◯⚪⭘〇]|\(\s*\)|\[\s*\]")
"""An empty box or circle."""
LETTER_BEFORE = re.compile(r"([a-z])[.)]\s+(?=\S)")
MARKS = re.compile(r"[\s☐□▢❏❑○◯⚪⭘〇oO●•.·_\-–()\[\]]*")
"""An empty cell to mark."""


def read_word_document(path: Path, wanted: WantedLanguage) -> FormContent:
    """The entries of a Word document, which has one language.

    Raises:
        QuestionError: no DOCX, one that unpacks to more than 50 MiB, or a language is named.
    """
    if wanted.named is not None:
        raise QuestionError(f"{path}: a Word document names no languages; leave --form-language out")
    lines, content = lines_of(path), FormContent()
    is_used = [False] * len(lines)
    names: list[str] = []
    place = 0
    while place < len(lines):
        end = place + 1 if isinstance(lines[place], Grid) else _end_of_run(lines, place)
        if end - place > 1 or isinstance(lines[place], Grid):
            is_used[place:end] = [True] * (end - place)
            _read_answers(lines, place, end, is_used, names, content)
        place = end
    for used, line in zip(is_used, lines, strict=True):
        if not used and isinstance(line, Line) and line.text.endswith("?"):
            content.leave_out(_number(line.text) or "-", line.text, NO_LIST)
    return content


def _end_of_run(lines: Sequence[Line | Grid], place: int) -> int:
    """The place behind the answers of a list that begins at a place; behind the line itself where none begins."""
    first = lines[place]
    assert isinstance(first, Line)  # noqa: S101
    if first.mark is None and (mark := TYPED_MARK.match(first.text)) and mark[1] in ("0", "1", "a", "A"):
        return _end_of_typed(lines, place, mark[1])
    if _typed_code(first):
        return next((end for end in range(place, len(lines)) if not _typed_code(lines[end])), len(lines))
    end = place + 1
    while first.mark is not None and end < len(lines) and _mark(lines[end]) == first.mark:
        end += 1
    return end


def _end_of_typed(lines: Sequence[Line | Grid], place: int, mark: str) -> int:
    """The place behind lines that count on from a typed `1.` or `a)`."""
    end = place + 1
    while end < len(lines):
        line, mark = lines[end], str(int(mark) + 1) if mark.isdecimal() else chr(ord(mark) + 1)
        match = TYPED_MARK.match(line.text) if isinstance(line, Line) and line.mark is None else None
        if match is None or match[1] != mark:
            break
        end += 1
    return end


def _typed_code(line: Line | Grid) -> bool:
    return isinstance(line, Line) and line.mark is None and TYPED_CODE.match(line.text) is not None


def _mark(line: Line | Grid) -> str | None:
    return line.mark if isinstance(line, Line) else None


def _read_answers(
    lines: Sequence[Line | Grid], place: int, end: int, is_used: list[bool], names: list[str], content: FormContent
) -> None:
    """Add the question of some answers, or note why it is left out."""
    above = _question_above(lines, place, is_used)
    first = lines[place]
    if isinstance(first, Grid):
        _read_grid(first, lines, above, is_used, names, content)
        return
    answers = [line for line in lines[place:end] if isinstance(line, Line)]
    if any(line.text.endswith("?") for line in answers):  # a list of questions, or one that runs into the next question
        is_used[place:end] = [False] * len(answers)
        above = None
    text = "; ".join(line.text for line in answers if not line.text.endswith("?"))
    if above is not None:
        is_used[above] = True
        _read_list(lines, above, place, answers, names, content)
    elif text:
        content.leave_out("-", text[:120], NOT_CERTAIN)


def _read_list(
    lines: Sequence[Line | Grid],
    above: int,
    place: int,
    answers: Sequence[Line],
    names: list[str],
    content: FormContent,
) -> None:
    """Add the question of a list of answers."""
    between = [line.text for line in lines[above:place] if isinstance(line, Line)]
    name, words = _named(between[0], names)
    squares = [line for line in _listed(answers) if line.bullet and line.bullet in SQUARES]
    if SEVERAL.search(" ".join(between)) or squares:
        content.leave_out(name, words, "several answers may be chosen")
        return
    labels = [line.text for line in answers]
    content.entries.append(Entry(name, words, _coded(labels), unfit=why_quoting(words, *labels)))


def _listed(answers: Sequence[Line]) -> list[Line]:
    """The answers of a list that Word makes; a square that is typed says nothing of their number."""
    return [line for line in answers if line.mark is not None and not line.mark.startswith("box")]


def _question_above(lines: Sequence[Line | Grid], place: int, is_used: Sequence[bool]) -> int | None:
    """The place of the text that is surely the question of the answers at a place; None where none surely is."""
    above = place - 1
    if above >= 0 and isinstance(line := lines[above], Line) and NOTE.fullmatch(line.text):
        above -= 1
    if above < 0 or is_used[above] or not isinstance(line := lines[above], Line):
        return None
    if line.text.endswith("?") or _number(line.text) or line.is_numbered:
        return above
    if not line.text.endswith((":", "…", "...")):
        return None
    before = lines[above - 1] if above and not is_used[above - 1] else None
    is_instruction = isinstance(before, Line) and (before.text.endswith("?") or bool(_number(before.text)))
    return None if is_instruction else above


def _number(text: str) -> str | None:
    """The number at a question's beginning as a name; None where it has none.

    >>> _number("Q12 How are you?"), _number("3. Sex"), _number("In 2020, were you well?"), _number("5 years")
    ('Q12', 'q3', None, None)
    """
    match = NUMBER.match(text)
    if match is None or (not match["letters"] and not match["after"].strip()):
        return None
    return f"{match['letters'] or 'q'}{match['digits']}"


def _named(text: str, names: list[str]) -> tuple[str, str]:
    """A name that no question has yet, and the text without its number."""
    number = _number(text)
    words = NUMBER.sub("", text, count=1) if number else text
    name = number if number and number not in names else f"question_{len(names) + 1}"
    names.append(name)
    return name, words


def _coded(labels: Sequence[str]) -> list[Answer]:
    """Answers with the codes that all of them carry, else numbered from 1."""
    plain = [TYPED_BOX.sub("", label) for label in labels]
    for codes in (CODE_BEHIND, TYPED_CODE):
        matches = [codes.search(label) for label in plain]
        written = [match[1] for match in matches if match]
        if len({*written}) == len(plain):
            return [
                Answer(code, ROOM.sub("", codes.sub("", label))) for code, label in zip(written, plain, strict=True)
            ]
    own = without_own_numbers(plain)
    if own is not None:
        return [Answer(str(code), label) for label, code in zip(*own, strict=True)]
    return [Answer(str(place), label) for place, label in enumerate(plain, 1)]


def _read_grid(
    grid: Grid,
    lines: Sequence[Line | Grid],
    above: int | None,
    is_used: list[bool],
    names: list[str],
    content: FormContent,
) -> None:
    """Add the items of a table with answers as columns, or the question of a table of codes and labels."""
    items, codes = _items_and_answers(grid), _table_of_codes(grid)
    text = " | ".join(grid.cells[0][:4]) if grid.cells else ""
    if items is None and codes is None:
        content.leave_out("-", text, NO_KNOWN_TABLE)
        return
    if above is None:
        content.leave_out("-", text, NOT_CERTAIN)
        return
    question = lines[above]
    assert isinstance(question, Line)  # noqa: S101
    is_used[above] = True
    name, words = _named(question.text, names)
    if SEVERAL.search(question.text):
        content.leave_out(name, words, "several answers may be chosen")
    elif codes is not None:
        content.entries.append(Entry(name, words, codes, unfit=why_quoting(words)))
    elif items is not None:
        rows, answers = items
        for identifier, row in _named_items(name, rows):
            content.entries.append(Entry(identifier, row, answers, words, unfit=why_quoting(words, row)))


def _named_items(name: str, rows: Sequence[str]) -> list[tuple[str, str]]:
    """The items of a table with their names: those that they all carry, else the question's with a number."""
    matches = [NAME_BEHIND.search(row) for row in rows]
    names = [match[1] for match in matches if match]
    if len({*names}) == len(rows):
        return [(own, NAME_BEHIND.sub("", row)) for own, row in zip(names, rows, strict=True)]
    letters = [LETTER_BEFORE.match(row) for row in rows]
    if "".join(letter[1] for letter in letters if letter) == "abcdefghijklmnopqrstuvwxyz"[: len(rows)]:
        rows = [LETTER_BEFORE.sub("", row, count=1) for row in rows]
    return [(f"{name}_{number}", row) for number, row in enumerate(rows, 1)]


def _items_and_answers(grid: Grid) -> tuple[list[str], list[Answer]] | None:
    """The items and answers of a table with a row for each item and a column for each answer; None for other tables."""
    head, *rows = grid.cells or ((),)
    labels = [*head[1:]]
    words = [label for label in labels if label]
    if len(labels) < 2 or not rows or len(words) < 2 or len({*words}) < len(words):
        return None
    if any(len(row) != len(head) or not row[0] for row in rows):
        return None
    cells = [row[1:] for row in rows]
    if all(labels) and all(MARKS.fullmatch(cell) for row in cells for cell in row):
        plain = without_own_numbers([row[0] for row in rows])
        return (plain[0] if plain else [row[0] for row in rows]), _coded(labels)
    is_of_codes = all(cell.isdecimal() for cell in cells[0]) and len({*cells}) == 1 and len({*cells[0]}) == len(labels)
    if not is_of_codes:
        return None
    return [row[0] for row in rows], [Answer(code, label) for code, label in zip(cells[0], labels, strict=True)]


def _table_of_codes(grid: Grid) -> list[Answer] | None:
    """The answers of a table with a code, or a box, and a label in each row, or with boxes in one row; else None."""
    if len(grid.cells) == 1 and len(grid.cells[0]) > 1 and all(map(TYPED_BOX.match, grid.cells[0])):
        return _coded(grid.cells[0])
    if len(grid.cells) < 2 or any(len(row) != 2 for row in grid.cells):
        return None
    rows = grid.cells if _is_code_row(grid.cells[0]) else grid.cells[1:]  # below a row of headings
    if len(rows) < 2:
        return None
    for code, label in ((0, 1), (1, 0)):
        codes, labels = ([row[place] for row in rows] for place in (code, label))
        if not all(any(map(str.isalpha, each)) for each in labels):
            continue
        if all(map(CODE.fullmatch, codes)) and len({*codes}) == len(codes):
            return [Answer(*pair) for pair in zip(codes, labels, strict=True)]
        if all(map(BOX.fullmatch, codes)) and len(rows) == len(grid.cells):
            return _coded(labels)
    return None


def _is_code_row(row: Sequence[str]) -> bool:
    return any(CODE.fullmatch(cell) or BOX.fullmatch(cell) for cell in row)
