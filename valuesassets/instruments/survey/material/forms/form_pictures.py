"""Pictures of a form at its questions, as data URLs, for the review page and the report."""

import base64
import io
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import pypdfium2
import pypdfium2.raw
from PIL import Image, ImageDraw

from valuesassets.instruments.survey.material.forms.layout.pages import read_pages
from valuesassets.instruments.survey.material.forms.layout.words import Box
from valuesassets.instruments.survey.material.questionnaire_pdf import PRINT_ANEW
from valuesassets.records.errors import PdfError
from valuesassets.records.limited import within_limits
from valuesassets.records.questions import Question

DPI, COLOURS = 110, 32
SMALL_DPI, FEW_COLOURS = 84, 8  # of the many pictures on one page of the report
MARGIN, ABOVE = 14.0, 76.0  # points around a place; points above a question, for the stem of its list
FRAME = "#00694c"
CHARACTERS_TRIED = 200  # characters of a page that show whether its text is upright
Drawn = TypeVar("Drawn")


def drawn_from(pdf: Path, draw: Callable[[pypdfium2.PdfDocument], Drawn]) -> Drawn:
    """The result of `draw` on a PDF, in a process of its own (`within_limits`).

    Raises:
        PdfError: the PDF cannot be drawn, or takes too much time or memory.
    """

    def opened(_: object) -> Drawn:
        try:
            with pypdfium2.PdfDocument(pdf) as document:
                return draw(document)
        except (pypdfium2.PdfiumError, ArithmeticError, ValueError) as error:  # of a size that no picture has
            raise PdfError(f"{pdf}: cannot be drawn ({error}); {PRINT_ANEW}") from None

    return within_limits(opened, str(pdf), PRINT_ANEW, PdfError)


def draw_page(document: pypdfium2.PdfDocument, pdf: Path, number: int, dpi: int = DPI) -> Image.Image | None:
    """A page (1-based) turned until its text is upright, or None if the form has no such page.

    The form's text is read only if the first characters are not upright.
    """
    if not 1 <= number <= len(document):
        return None
    page = document[number - 1]
    text = page.get_textpage()
    count = min(text.count_chars(), CHARACTERS_TRIED)
    slants = [abs(math.sin(pypdfium2.raw.FPDFText_GetCharAngle(text, place) / 2)) for place in range(count)]
    is_upright = not page.get_rotation() and sum(slant < 0.1 for slant in slants) * 2 >= count
    turn = 0 if is_upright else next((each.turn for each in read_pages(pdf) if each.number == number), 0)
    return page.render(scale=dpi / 72, rotation=turn).to_pil()  # type: ignore[arg-type]


def picture_of(
    page: Image.Image,
    top: float,
    bottom: float,
    frames: Sequence[tuple[Box, str]],
    dpi: int = DPI,
    colours: int = COLOURS,
) -> str:
    """A strip of a page with frames, as a data URL.

    Args:
        page: from `draw_page` at `dpi`.
        top, bottom: of the strip, in points of the page.
        frames: boxes in points, each with its colour.
    """
    above, below = (round(edge * dpi / 72) for edge in (top, bottom))
    above = max(above, 0)
    strip = page.crop((0, above, page.width, min(below, page.height))).convert("RGB")
    draw = ImageDraw.Draw(strip)
    for (left, upper, right, lower), colour in frames:
        edges = (round(edge * dpi / 72) for edge in (left - 1.5, upper - 1.5, right + 1.5, lower + 1.5))
        draw.rectangle([edge - above * (place % 2) for place, edge in enumerate(edges)], outline=colour, width=2)
    buffer = io.BytesIO()
    # Pillow's other methods and its best compression take five times as long for the same size.
    strip.quantize(colours, method=Image.Quantize.FASTOCTREE).save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def draw_questions(pdf: Path, questions: Iterable[Question]) -> dict[tuple[int, Box], str]:
    """A small framed picture of each question on the form, as data URLs by (page, box)."""
    places = {(question.page, question.box) for question in questions if question.page and question.box}

    def draw(document: pypdfium2.PdfDocument) -> dict[tuple[int, Box], str]:
        pictures: dict[tuple[int, Box], str] = {}
        for number, group in itertools.groupby(sorted(places), key=lambda place: place[0]):
            page = draw_page(document, pdf, number, SMALL_DPI)  # once for all of its questions
            if page is None:
                continue
            for _, box in group:
                strip = (box[1] - ABOVE, box[3] + MARGIN)
                pictures[number, box] = picture_of(page, *strip, [(box, FRAME)], SMALL_DPI, FEW_COLOURS)
        return pictures

    return drawn_from(pdf, draw) if places else {}
