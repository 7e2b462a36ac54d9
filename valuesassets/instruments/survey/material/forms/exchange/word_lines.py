"""The lines and tables of a Word document, in order, with the signs by which lists of answers are known."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valuesassets.instruments.survey.material.forms.exchange.safe_files import require_small_archive
from valuesassets.records.errors import QuestionError
from valuesassets.records.zips import DAMAGED

TYPED_BOX = re.compile(r"\s*(?:[☐□▢❏❑○◯⚪⭘〇]|\(\s*\)|\[\s*\])\s*(?=\S)")
"""A box or circle to mark, typed before an answer."""
TYPED_DASH = re.compile(r"\s*([-–—•·∙◦▪■*o])\s+(?=\S)")
"""A dash or dot, typed before an answer."""
TYPED_CODE = re.compile(r"^\s*(-?\d{1,3})\s*=\s*(?=\S)")
"""`1 =`, typed before an answer."""
TYPED_MARK = re.compile(r"\s*\(?(\d{1,2}|[a-zA-Z])[.)]\s+(?=\S)")
"""`1.`, `(1)` or `a)`, typed before an answer, or a question."""
ROOM = re.compile(r"[\s:]*_{3,}\s*$")
"""A line to write on behind an answer."""
SQUARES = "▢☐□❏❑"
"""Squares stand for several answers in Qualtrics' export to Word."""


@dataclass(frozen=True)
class Line:
    """A paragraph.

    Attributes:
        mark: of the list that it belongs to; None where it is in none.
        bullet: the sign or format of the list's numbers.
    """

    text: str
    mark: str | None = None
    bullet: str = ""

    @property
    def is_numbered(self) -> bool:
        """Whether Word counts it."""
        return self.bullet.startswith("%")


@dataclass(frozen=True)
class Grid:
    """A table: the texts of its cells, row by row."""

    cells: tuple[tuple[str, ...], ...]


def lines_of(path: Path) -> list[Line | Grid]:
    """The paragraphs that have words, and the tables, of a document.

    Raises:
        QuestionError: no DOCX, or one that unpacks to more than 50 MiB.
    """
    import docx
    from docx.opc.exceptions import PackageNotFoundError
    from docx.table import Table

    require_small_archive(path, "a Word document (DOCX)")
    try:
        document = docx.Document(str(path))
        bullets = _bullets(document)
        parts = [
            line
            for part in document.iter_inner_content()
            for line in ([_grid(part)] if isinstance(part, Table) else _lines(part, bullets))
        ]
    except (*DAMAGED, PackageNotFoundError, SyntaxError, LookupError, AttributeError):
        raise QuestionError(f"{path}: is damaged, or is not a Word document (DOCX); save it anew") from None
    return [part for part in parts if isinstance(part, Grid) or part.text]


def _bullets(document: Any) -> dict[tuple[str, str], str]:
    """The signs of lists by list and level; `%1.` stands for a number."""
    from docx.oxml.ns import qn

    try:
        numbering = document.part.numbering_part.element
    except (KeyError, NotImplementedError):
        return {}
    kinds = {each.get(qn("w:abstractNumId")): each for each in numbering.iterfind(qn("w:abstractNum"))}
    signs = {}
    for number in numbering.iterfind(qn("w:num")):
        abstract = number.find(qn("w:abstractNumId"))
        kind = kinds.get(abstract.get(qn("w:val"))) if abstract is not None else None
        for level in () if kind is None else kind.iterfind(qn("w:lvl")):
            sign = level.find(qn("w:lvlText"))
            key = (number.get(qn("w:numId")), level.get(qn("w:ilvl")))
            signs[key] = "" if sign is None else sign.get(qn("w:val")) or ""
    return signs


def _lines(paragraph: Any, bullets: dict[tuple[str, str], str]) -> list[Line]:
    """A paragraph; one with several boxes is a line for what stands before them and one for each."""
    text = ROOM.sub("", " ".join(paragraph.text.split()))
    place = _list_place(paragraph)
    if place is not None:
        return [Line(text, f"{place[0]}/{place[1]}", bullets.get(place, ""))]
    boxes = [*TYPED_BOX.finditer(text)]
    if len(boxes) > 1 or (boxes and not boxes[0].start()):
        ends = [*(box.start() for box in boxes[1:]), len(text)]
        answers = [_marked(text[box.end() : end], box[0]) for box, end in zip(boxes, ends, strict=True)]
        before = text[: boxes[0].start()].strip()
        return [*([Line(before)] if before else []), *answers]
    if match := TYPED_DASH.match(text):
        return [Line(text[match.end() :], f"dash {match[1]}", match[1])]
    return [Line(text)]


def _marked(text: str, box: str) -> Line:
    return Line(ROOM.sub("", text).strip(), f"box {box.strip()}", box.strip())


def _list_place(paragraph: Any) -> tuple[str, str] | None:
    """List and level of a paragraph, by itself or by its style; None where it is in no list."""
    for properties in _properties(paragraph):
        numbers = None if properties is None else properties.numPr
        if numbers is not None and numbers.numId is not None:
            level = 0 if numbers.ilvl is None else numbers.ilvl.val
            return None if numbers.numId.val == 0 else (str(numbers.numId.val), str(level))
    return None


def _properties(paragraph: Any) -> Iterator[Any]:
    """The properties of a paragraph, then those of its style and the styles that this rests on."""
    yield paragraph._p.pPr
    style = paragraph.style
    while style is not None:
        yield style.element.pPr
        style = style.base_style


def _grid(table: Any) -> Grid:
    return Grid(tuple(tuple(" ".join(cell.text.split()) for cell in row.cells) for row in table.rows))
