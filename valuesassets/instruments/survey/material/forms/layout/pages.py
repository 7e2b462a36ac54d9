"""Reads the pages of a PDF as words with boxes, and thin rules."""

import dataclasses
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pdfplumber
import pdfplumber.page
import pdfplumber.pdf
from numpy.typing import NDArray

from valuesassets.instruments.survey.material.forms.layout.page_content import PrintedPage
from valuesassets.instruments.survey.material.forms.layout.words import (
    SAME_GLYPH,
    UNREADABLE,
    Word,
    parted,
    printed_pattern,
    with_codes,
    with_notes,
)
from valuesassets.instruments.survey.material.questionnaire_pdf import PRINT_ANEW, count_pages
from valuesassets.records.errors import PdfError
from valuesassets.records.files import no_such_file
from valuesassets.records.limited import within_limits

THIN = 2.5  # points; thicker rectangles are no rules
TICK_BOX = re.compile("[\u25a0-\u25ff\u2610-\u2612\u274d-\u2752\u2b1b-\u2b1c\uf06d-\uf072\uf0a1-\uf0a8]")
"""Boxes and circles to tick, also those of the Wingdings font; they carry no information."""


@dataclass(frozen=True, eq=False)
class Page:
    """One page: words in reading order, horizontal rules as rows (y, left, right), vertical ones (x, top, bottom)."""

    number: int
    width: float
    height: float
    words: tuple[Word, ...]
    horizontal: NDArray[np.float64]
    vertical: NDArray[np.float64]
    turn: int = 0
    """Degrees clockwise by which the page, as a viewer shows it, must be turned to have upright text."""


_read_before: dict[tuple[Path, int, int], tuple[Page, ...]] = {}
MOST_WORDS, MOST_ON_A_PAGE = 150_000, 10_000
"""Words of a form, and words or rules of one page: ten times, and three times, the largest numbers in EVS 2017."""
MOST_POINTS = 14_400.0  # largest width and height of a page in the PDF format
FARTHEST = 1e6  # points; objects further away are on no page
REMEMBERED = 2  # files that stay in memory for the checks after an extraction


def read_pages(pdf: Path, on_page: Callable[[int, int], None] | None = None) -> tuple[Page, ...]:
    """All pages of a PDF; the last files stay in memory while they are unchanged.

    Args:
        on_page: called with (pages read, pages in all) after each page.

    Raises:
        PdfError: not a readable PDF, no text layer, too slow to read, or too much on a page.
    """
    if pdf.is_dir():
        raise PdfError(f"{pdf}: is a folder, a PDF was expected; name the PDF in it")
    if not pdf.is_file():
        raise PdfError(no_such_file(pdf))
    if not os.access(pdf, os.R_OK):
        raise PdfError(f"{pdf}: cannot be read: Permission denied; check who may read it")
    stat = pdf.stat()
    version = (pdf.resolve(), stat.st_mtime_ns, stat.st_size)
    if version not in _read_before:
        pages = within_limits(lambda tell: _read_pages(pdf, tell), str(pdf), PRINT_ANEW, PdfError, on_page)
        while len(_read_before) >= REMEMBERED:
            _read_before.pop(next(iter(_read_before)))
        _read_before[version] = pages
    return _read_before[version]


def _read_pages(pdf: Path, on_page: Callable[[int, int], object]) -> tuple[Page, ...]:
    total = count_pages(pdf, str(pdf))
    pages: list[Page] = []
    try:
        with pdfplumber.open(pdf) as document:
            for each in document.pages:
                page = PrintedPage(document, each.page_obj, each.page_number)
                pages.append(_page(*_upright(document, page)))
                if why := _excess(pages):
                    raise PdfError(f"{pdf}: {why}; {PRINT_ANEW}")
                on_page(len(pages), total)
    except (PdfError, MemoryError):
        raise
    except Exception as error:  # pdfminer raises many kinds, none of them documented
        where = f"page {len(pages) + 1} of {total}"
        raise PdfError(
            f"{pdf}: {where} is damaged ({type(error).__name__}); fetch the file again or print it to a new PDF"
        ) from None
    if not any(page.words for page in pages):
        raise PdfError(
            f"{pdf}: no text layer on any of its {total} pages (a scan?); run text recognition (OCR) on it and extract "
            "the result"
        )
    words = with_notes([page.words for page in pages])
    pattern = printed_pattern(words)
    return tuple(
        dataclasses.replace(page, words=with_codes(each, pattern)) for page, each in zip(pages, words, strict=True)
    )


def _excess(pages: Sequence[Page]) -> str | None:
    """Which limit the last page, or all pages together, exceed; None if they exceed none."""
    page, words = pages[-1], sum(len(each.words) for each in pages)
    if not all(0 < edge <= MOST_POINTS for edge in (page.width, page.height)):
        return f"page {page.number} is {page.width:g} by {page.height:g} points large, as no paper is"
    for what, count in {"words": len(page.words), "rules": len(page.horizontal) + len(page.vertical)}.items():
        if count > MOST_ON_A_PAGE:
            return f"page {page.number} has {count:,} {what}, no questionnaire has more than {MOST_ON_A_PAGE:,} on one"
    return f"more than {MOST_WORDS:,} words, no questionnaire has so many" if words > MOST_WORDS else None


def _upright(document: pdfplumber.pdf.PDF, page: PrintedPage) -> tuple[PrintedPage, int]:
    """The page with upright text, and the degrees by which it was turned."""
    directions = Counter((round(char["matrix"][0], 1), round(char["matrix"][1], 1)) for char in page.chars)
    across, up = directions.most_common(1)[0][0] if directions else (1, 0)
    turn = round(math.degrees(math.atan2(up, across)) / 90) * 90 % 360
    if not turn:
        return page, 0
    page.page_obj.rotate = (page.page_obj.rotate + turn) % 360
    page.page_obj.attrs["Rotate"] = page.page_obj.rotate
    return PrintedPage(document, page.page_obj, page.page_number), turn


def _page(page: PrintedPage | pdfplumber.page.FilteredPage, turn: int) -> Page:
    markers = _footnote_markers(page.chars)
    if markers:
        page = page.filter(lambda each: id(each) not in markers)
    words = []
    for word in page.extract_words(extra_attrs=["fontname"], use_text_flow=False):
        text = TICK_BOX.sub("", word["text"])
        if text and not (SAME_GLYPH.fullmatch(text) and len(UNREADABLE.findall(text)) > 1):
            font = word["fontname"].lower()
            is_bold, is_italic = "bold" in font, "italic" in font or "oblique" in font
            box = (word["x0"], word["top"], word["x1"], word["bottom"])
            if _is_near(box):
                words += parted(Word(text, box, is_bold, page.page_number, is_italic))
    boxes = ((each["x0"], each["top"], each["x1"], each["bottom"]) for each in (*page.rects, *page.lines))
    shapes = [*filter(_is_near, boxes)]
    flat = {((top + bottom) / 2, left, right) for left, top, right, bottom in shapes if bottom - top <= THIN}
    upright = {((left + right) / 2, top, bottom) for left, top, right, bottom in shapes if right - left <= THIN}
    horizontal, vertical = (np.array(sorted(rows), dtype=np.float64).reshape(-1, 3) for rows in (flat, upright))
    return Page(page.page_number, float(page.width), float(page.height), tuple(words), horizontal, vertical, turn)


def _is_near(box: tuple[float, float, float, float]) -> bool:
    return all(abs(edge) < FARTHEST for edge in box)


def _footnote_markers(chars: Sequence[dict[str, Any]]) -> set[int]:
    """The `id` of each character that is a small, raised figure after a word."""
    markers: set[int] = set()
    before = None
    for char in chars:
        if not char["text"].isdigit():
            before = char
        elif before is not None and char["size"] < 0.75 * before["size"]:
            is_behind = 0 <= char["x0"] - before["x0"] < 3 * before["size"]
            if is_behind and char["bottom"] < before["bottom"] - 0.1 * before["size"]:
                markers.add(id(char))
    return markers
