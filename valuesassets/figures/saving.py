"""Figures as files and as parts of pages: PNG, SVG and PDF of what is laid out once."""

import base64
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from fontTools import subset
from fontTools.ttLib import TTFont
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from PIL import Image

from valuesassets.figures.style import settle, styled
from valuesassets.records.errors import StorageError
from valuesassets.records.files import whole_file, write_text

PRINT_DPI, SCREEN_DPI = 300, 150
ENDINGS = ("png", "svg", "pdf", "txt")
"""Of the files of a figure; the last is its small print where that does not stand in it."""


@styled
def save_figure(figure: Figure, path_stem: Path) -> Image.Image:
    """Write `<path_stem>.png` (300 dpi), `.svg` and `.pdf`, text as text in both, each whole or not at all.

    Small print that stands under the figure and not in it (its label, see `finish`) goes into `<path_stem>.txt`.

    Returns:
        The picture as the PNG holds it, for `png_base64`.

    Raises:
        StorageError: a file cannot be written.
    """
    files = {ending: path_stem.with_name(f"{path_stem.name}.{ending}") for ending in ENDINGS}
    picture = _rendered(figure, PRINT_DPI)
    with whole_file(files["png"]) as temporary:
        picture.save(temporary, "PNG", dpi=(PRINT_DPI, PRINT_DPI))
    write_text(files["svg"], svg_text(figure, has_fonts=True))
    with whole_file(files["pdf"]) as temporary, _as_it_was(figure), _fonts_without_layout():
        FigureCanvasPdf(figure).print_pdf(temporary, metadata={"CreationDate": None})
    if small_print := figure.get_label():
        write_text(files["txt"], f"{small_print}\n")
    return picture


@styled
def svg_text(figure: Figure, has_fonts: bool = False) -> str:
    """The figure as SVG: the same text for the same figure, with no date in it.

    Args:
        has_fonts: write words as text, to be searched and edited where the font is, and not as outlines, which look the
            same everywhere.
    """
    settle(figure)
    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none" if has_fonts else "path"}), _as_it_was(figure):
        figure.dpi = 200  # of what is no vector: heat maps of many cells
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


@contextmanager
def _fonts_without_layout() -> Iterator[None]:
    """Fonts that are embedded keep no tables by which letters are placed: matplotlib says of each where it stands, and
    to read these tables took more than half of a figure's time."""
    load = subset.load_font
    subset.load_font = _load_without_layout
    try:
        yield
    finally:
        subset.load_font = load


def _load_without_layout(*arguments: Any, load: Callable[..., TTFont] = subset.load_font) -> TTFont:
    font = load(*arguments)
    for tag in ("GDEF", "GPOS", "GSUB", "kern"):
        if tag in font:
            del font[tag]
    return font


@contextmanager
def _as_it_was(figure: Figure) -> Iterator[None]:
    """Canvas and resolution of a figure stay what they are, whatever it is written with."""
    canvas, dpi = figure.canvas, figure.dpi
    try:
        yield
    finally:
        figure.dpi = dpi
        figure.set_canvas(canvas)


@styled
def _rendered(figure: Figure, dpi: int) -> Image.Image:
    """The figure in pixels; drawn once, since its layout is settled, where `savefig` draws twice."""
    settle(figure)
    with _as_it_was(figure):
        figure.dpi = dpi
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")


def png_base64(figure: Figure | Image.Image, max_bytes: int = 200_000) -> str:
    """A figure as base64 PNG of at most so many characters, at the highest resolution (150 dpi and less) that fits.

    Args:
        figure: itself, or as `save_figure` gives it.

    Raises:
        StorageError: it does not fit even at 30 dpi.
    """
    whole = _rendered(figure, SCREEN_DPI) if isinstance(figure, Figure) else figure.reduce(PRINT_DPI // SCREEN_DPI)
    for dpi in (SCREEN_DPI, 120, 100, 80, 60, 45, 30):
        smaller = (whole.width * dpi // SCREEN_DPI, whole.height * dpi // SCREEN_DPI)
        resized = whole if dpi == SCREEN_DPI else whole.resize(smaller)
        small = io.BytesIO()
        # 256 colours take half the room, which goes into resolution. Pillow's usual way splits the common colours and
        # takes others for them: it gave a map's small green crosses the blue of its boxes. Means keep light fills.
        reduced = resized.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
        reduced.save(small, "PNG", compress_level=6)
        encoded = base64.b64encode(small.getvalue()).decode("ascii")
        if len(encoded) <= max_bytes:
            return encoded
    raise StorageError(f"a figure takes {len(encoded)} bytes at 30 dpi, more than {max_bytes}; draw fewer cells in it")
