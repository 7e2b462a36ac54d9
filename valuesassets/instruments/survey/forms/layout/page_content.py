"""What is printed on a page: its characters, rectangles and lines, and nothing else of it.

pdfplumber makes a dictionary of every attribute of every object, curves and pictures among them, and pdfminer goes
through a content stream in many small steps. Here the usual token is read in one; whatever is unusual goes their way.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import pdfplumber.page
from pdfminer.converter import PDFPageAggregator
from pdfminer.layout import LTChar, LTComponent, LTLine, LTRect
from pdfminer.pdfinterp import PDFContentParser, PDFPageInterpreter
from pdfminer.pdftypes import PDFStream, stream_value
from pdfminer.psparser import KWD, LIT, PSEOF, PSKeyword, keyword_name
from pdfminer.utils import Matrix, Rect
from pdfplumber.utils.exceptions import PdfminerException

KINDS: dict[type[LTComponent], str] = {LTChar: "char", LTRect: "rect", LTLine: "line"}
TOKEN = re.compile(
    rb"""\s*(?:
        ([-+]?\d+(?=[^\d.])) | ([-+]?(?:\d+\.\d*|\.\d+)(?=\D)) |     # whole number, fraction
        ([A-Za-z][^\#/%\[\]()<>{}\s]*(?=[\#/%\[\]()<>{}\s])) |        # operator
        (/[^\#/%\[\]()<>{}\s]*(?=[/%\[\]()<>{}\s])) |                 # name
        (\([^()\\]*\)) | (<(?:[0-9A-Fa-f]{2})+>(?=[^>])) |            # string, plain or in hexadecimal digits
        ([\[\]])                                                      # of an array
    )""",
    re.VERBOSE,
)
"""A usual token that is whole in what is in memory of a content stream."""
WHOLE, FRACTION, OPERATOR, NAME, STRING, DIGITS, BRACKET = range(1, 8)
WORDS = {b"true": True, b"false": False}
PICTURE = (b"BI", b"ID")
"""What a picture begins with whose data follow in the stream."""


class PrintedPage(pdfplumber.page.Page):
    """A page of pdfplumber that knows its characters, rectangles and lines only, with what words and rules need."""

    def parse_objects(self) -> dict[str, list[dict[str, Any]]]:
        """As pdfplumber's, kind by kind."""
        device = _Printed(self.pdf.rsrcmgr, pageno=self.page_number)
        try:
            _Interpreter(self.pdf.rsrcmgr, device).process_page(self.page_obj)
        except Exception as error:  # as pdfplumber does
            raise PdfminerException(error) from error
        objects: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS.values()}
        left, top = self.mediabox[:2]
        height = self.height
        for each in device.get_result():
            if (kind := KINDS.get(type(each))) is None:
                continue
            box = {"x0": each.x0, "x1": each.x1, "top": (height - each.y1) + top, "bottom": (height - each.y0) + top}
            if left != 0:
                box |= {"x0": each.x0 + left, "x1": each.x1 + left}
            objects[kind].append(
                box | _of_character(each, self.initial_doctop + box["top"]) if isinstance(each, LTChar) else box
            )
        return objects


def _of_character(char: LTChar, doctop: float) -> dict[str, Any]:
    font = char.fontname
    return {
        "object_type": "char",
        "text": char.get_text(),
        "fontname": pdfplumber.page.fix_fontname_bytes(font) if isinstance(font, bytes) else font,
        "size": char.size,
        "matrix": char.matrix,
        "upright": char.upright,
        "doctop": doctop,
    }


class _Printed(PDFPageAggregator):
    """Keeps what is printed, also inside of figures, in the order of the stream; no pictures."""

    def begin_figure(self, name: str, bbox: Rect, matrix: Matrix) -> None:
        pass

    def end_figure(self, _: str) -> None:
        pass

    def render_image(self, name: str, stream: PDFStream) -> None:
        pass


class _Interpreter(PDFPageInterpreter):
    """Carries out a page's content as pdfminer does, read by `Content`."""

    def execute(self, streams: Sequence[object]) -> None:
        found = [stream_value(each) for each in streams]
        sound = [each for each in found if each.objid is not None and each.objid not in self.parent_stream_ids]
        self.stream_ids = {each.objid for each in sound if each.objid is not None}
        content = Content(sound)
        while (each := content.next_or_none()) is not None:
            if isinstance(each, PSKeyword):
                self._carry_out(keyword_name(each))
            else:
                self.push(each)

    def _carry_out(self, operator: str) -> None:
        name, n_operands = _method(operator)
        if name is None:
            return
        operands = self.pop(n_operands) if n_operands else []
        if len(operands) == n_operands:
            getattr(self, name)(*operands)


@lru_cache
def _method(operator: str) -> tuple[str | None, int]:
    """The method of an operator and how many operands it takes."""
    name = f"do_{operator.replace('*', '_a').replace(chr(34), '_w').replace(chr(39), '_q')}"
    method = getattr(PDFPageInterpreter, name, None)
    return (None, 0) if method is None else (name, method.__code__.co_argcount - 1)


class Content(PDFContentParser):
    """Tokens and objects of content streams; the usual ones in one step each."""

    def next_or_none(self) -> Any:
        """The next object, or None after the last."""
        try:
            return self.nextobject()[1]
        except PSEOF:
            return None

    def nextobject(self) -> tuple[int, Any]:
        """The next object and where it begins."""
        if self.results or self.context or self.curstack or not (found := TOKEN.match(self.buf, self.charpos)):
            return super().nextobject()
        kind = found.lastindex or 0
        if kind == BRACKET:
            return self._array(found) or super().nextobject()
        if kind == OPERATOR and found[OPERATOR] in PICTURE:
            return super().nextobject()
        self.charpos = found.end()
        return self.bufpos + found.start(kind), _value(found)

    def _array(self, bracket: re.Match[bytes]) -> tuple[int, list[Any]] | None:
        """The array that begins here, if one does, of usual tokens, whole and flat."""
        values: list[Any] = []
        found = bracket if bracket[BRACKET] == b"[" else None
        while found := found and TOKEN.match(self.buf, found.end()):
            if found.lastindex == OPERATOR or found[BRACKET] == b"[":
                return None
            if found.lastindex == BRACKET:
                self.charpos = found.end()
                return self.bufpos + bracket.start(BRACKET), values
            values.append(_value(found))
        return None

    def nexttoken(self) -> tuple[int, Any]:
        """The next token and where it begins."""
        found = None if self._tokens else TOKEN.match(self.buf, self.charpos)
        if found is None:
            return super().nexttoken()
        self.charpos = found.end()
        return self.bufpos + found.start(found.lastindex or 0), _value(found)


def _value(found: re.Match[bytes]) -> Any:
    kind = found.lastindex
    token = found[kind or 0]
    if kind == WHOLE:
        return int(token)
    if kind == FRACTION:
        return float(token)
    if kind == OPERATOR:
        return WORDS[token] if token in WORDS else KWD(token)
    if kind == NAME:
        return LIT(_text(token[1:]))
    if kind == DIGITS:
        return bytes.fromhex(token[1:-1].decode())
    return token[1:-1] if kind == STRING else KWD(token)


def _text(name: bytes) -> str | bytes:
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name
