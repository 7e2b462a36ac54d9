"""A figure as files: what is written, that it is the same again, and that words stay words."""

import base64
import io

import numpy as np
import pdfplumber
import pytest
from matplotlib.colors import to_rgb
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image

from valuesassets.figures import style
from valuesassets.figures.saving import SCREEN_DPI, _rendered, png_base64, save_figure, svg_text
from valuesassets.records.errors import StorageError


def drawn(small_print=""):
    figure = style.new_figure(height_in=2)
    figure.add_subplot().plot([1, 2], [3, 4])
    figure.set_label(small_print)
    return style.finish(figure, "Two points", planted=True)


def test_a_saved_figure_is_a_png_of_300_dpi_an_svg_and_a_pdf_and_nothing_else(tmp_path):
    folder = tmp_path / "maps.v1"
    picture = save_figure(drawn(), folder / "map")
    assert sorted(path.name for path in folder.iterdir()) == ["map.pdf", "map.png", "map.svg"]
    with Image.open(folder / "map.png") as png:
        assert png.width == round(style.PAGE_WIDTH_IN * 300)
        assert png.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        assert png.tobytes() == picture.tobytes()


def test_words_are_text_in_svg_and_pdf_and_outlines_in_a_page(tmp_path):
    save_figure(drawn(), tmp_path / "map")
    svg = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert ">Two points</text>" in svg
    assert "Two points</text>" not in svg_text(drawn())
    with pdfplumber.open(tmp_path / "map.pdf") as pdf:
        (page,) = pdf.pages
        assert "Two points" in page.extract_text()
        assert page.width == pytest.approx(style.PAGE_WIDTH_IN * 72)
        assert page.images == []
    assert b"/Type3" not in (tmp_path / "map.pdf").read_bytes()


def test_small_print_that_is_not_in_the_picture_stands_in_a_file_beside_it(tmp_path):
    save_figure(drawn("What the marks mean.\nHow sure they are."), tmp_path / "map")
    assert (tmp_path / "map.txt").read_text(encoding="utf-8") == "What the marks mean.\nHow sure they are.\n"
    assert "marks mean" not in (tmp_path / "map.svg").read_text(encoding="utf-8")


def test_a_figure_that_cannot_be_written_leaves_the_old_files_alone(tmp_path, monkeypatch):
    save_figure(drawn(), tmp_path / "map")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr(Image.Image, "save", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "no space left")))
    with pytest.raises(StorageError, match=r"(?i)map\.png.*no space left"):
        save_figure(drawn(), tmp_path / "map")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.slow
def test_the_same_figure_gives_the_same_bytes(tmp_path):
    for name in "ab":
        save_figure(drawn(), tmp_path / name)
    first, second = ([path.read_bytes() for path in sorted(tmp_path.glob(f"{name}.*"))] for name in "ab")
    assert first == second
    assert len(first) == 3


def test_writing_a_figure_leaves_its_canvas_and_resolution_as_they_were(tmp_path):
    figure = drawn()
    canvas, dpi = figure.canvas, figure.dpi
    save_figure(figure, tmp_path / "map")
    assert (figure.canvas, figure.dpi) == (canvas, dpi)


class RestlessLayout(ConstrainedLayoutEngine):
    """A layout engine whose last bits differ from run to run, as a solver's do."""

    def __init__(self, noise):
        super().__init__()
        self.noise = noise

    def execute(self, fig):
        super().execute(fig)
        for axes in fig.axes:
            axes._set_position([part + self.noise for part in axes.get_position().bounds], which="original")


def test_the_last_bits_of_a_layout_do_not_reach_the_file():
    texts = []
    for noise in (0.0, 1e-13, 1e-3):
        figure = drawn()
        figure.axes[0].plot([1.2, 1.4], [3.0, 3.5], clip_on=True)
        figure.set_layout_engine(RestlessLayout(noise))
        texts.append(svg_text(figure))
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.slow
def test_a_picture_for_metadata_stays_below_its_limit(tmp_path):
    wide = len(png_base64(drawn()))
    small = png_base64(drawn(), max_bytes=wide - 1)
    assert len(small) < wide
    assert base64.b64decode(small)[:4] == b"\x89PNG"
    with pytest.raises(StorageError, match="more than 100"):
        png_base64(drawn(), max_bytes=100)
    assert base64.b64decode(png_base64(save_figure(drawn(), tmp_path / "map")))[16:20] == (
        round(style.PAGE_WIDTH_IN * 150).to_bytes(4, "big")
    )


def test_a_small_mark_keeps_its_color_beside_large_shades():
    figure = style.new_figure(height_in=6)
    axes = figure.add_subplot()
    for place, shade in enumerate((style.BLUE, style.VERMILLION)):
        for number in range(12):  # shades of two colours are common, the others are not
            axes.axhspan(place + number / 12, place + (number + 1) / 12, color=shade, alpha=0.05 + number / 20)
    marks = (style.GREEN, style.PURPLE, style.ORANGE, style.SKY)
    for place, color in enumerate(marks):
        axes.plot(place / 4, 0.5 + place / 3, "s", color=color, markersize=3)
    with Image.open(io.BytesIO(base64.b64decode(png_base64(figure)))) as picture:
        colors = np.asarray(picture.convert("RGB")).reshape(-1, 3).astype(int)
    nearest = [np.abs(colors - np.round(255 * np.array(to_rgb(mark)))).max(axis=1).min() for mark in marks]
    assert max(nearest) <= 16, dict(zip(marks, nearest, strict=True))
    assert (colors == 255).all(axis=1).any()


def test_light_fills_that_overlap_keep_their_colors_beside_many_small_marks():
    figure, random = style.new_figure(height_in=6), np.random.default_rng(0)
    axes = figure.add_subplot()
    for number, (left, low, width, height) in enumerate(random.uniform(0.1, 0.5, (10, 4))):
        color = (style.BLUE, style.VERMILLION)[number % 2]
        axes.axvspan(left, left + width, low, low + height, color=color, alpha=0.08)
    for number, (x, y) in enumerate(random.uniform(0, 1, (60, 2))):
        axes.plot(x, y, "+x*1"[number % 4], color=(style.GREEN, style.PURPLE, style.ORANGE, style.SKY)[number % 4])
        axes.text(x, y, "AB")
    whole = np.asarray(_rendered(figure, SCREEN_DPI)).astype(int)
    with Image.open(io.BytesIO(base64.b64decode(png_base64(figure)))) as picture:
        apart = np.abs(np.asarray(picture.convert("RGB")) - whole).max(axis=-1)
    assert apart.mean() < 0.5  # of 255
