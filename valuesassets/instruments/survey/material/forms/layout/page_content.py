"""Reads characters, rectangles and lines of a page alone; pdfplumber spends a quarter of a form's time on the rest."""

from typing import Any

import pdfplumber.page
from pdfminer.converter import PDFPageAggregator
from pdfminer.layout import LTChar, LTComponent, LTLine, LTRect
from pdfminer.pdfinterp import PDFPageInterpreter
from pdfminer.pdftypes import PDFStream
from pdfminer.utils import Matrix, Rect
from pdfplumber.utils.exceptions import PdfminerException

KINDS: dict[type[LTComponent], str] = {LTChar: "char", LTRect: "rect", LTLine: "line"}


class PrintedPage(pdfplumber.page.Page):
    """A page of pdfplumber with only characters, rectangles and lines, and the attributes that words and rules need."""

    def parse_objects(self) -> dict[str, list[dict[str, Any]]]:
        """The objects by kind, as pdfplumber gives them."""
        device = _Printed(self.pdf.rsrcmgr, pageno=self.page_number)
        try:
            PDFPageInterpreter(self.pdf.rsrcmgr, device).process_page(self.page_obj)
        except MemoryError:
            raise
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
    """Keeps printed objects, also inside figures, in the order of the stream; ignores pictures."""

    def begin_figure(self, name: str, bbox: Rect, matrix: Matrix) -> None:
        pass

    def end_figure(self, _: str) -> None:
        pass

    def render_image(self, name: str, stream: PDFStream) -> None:
        pass
