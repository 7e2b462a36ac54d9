"""One look for every figure: readable in black and white, by the colour-blind and at print size."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine, PlaceHolderLayoutEngine
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

PAGE_WIDTH_IN = 7.2
"""Text width of a printed A4 page: at this width a point of text is a point on paper."""
PAGE_HEIGHT_IN = 9.6
BODY_PT = 10
SMALL_PT = 8

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0059A0", "#D55E00", "#CC79A7"
"""Colours that colour-blind readers distinguish (Source: Okabe & Ito 2008, without the yellow, too faint on white, and
with a darker blue, which a black and white print tells from the vermillion)."""
GREY = "#6E6E6E"
PALE = "#E4E4E4"
COLOR_MAP = "cividis"
"""Even in lightness, and the same to most colour-blind eyes."""

Keywords = dict[str, Any]
"""How something is drawn: keywords of matplotlib's functions."""

PLANTED_BOX: Keywords = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": BLACK, "linestyle": "--"}
"""Of the word that stands at the upper right where answers are planted."""
PLANTED = "Planted: answers drawn from made-up distributions, to test the instrument. Nothing here is about people."

_SETTINGS: Any = {
    "font.family": "DejaVu Sans",  # ships with matplotlib; has Latin, Greek and Cyrillic
    "font.size": BODY_PT,
    "axes.titlesize": BODY_PT,
    "axes.titlelocation": "left",
    "axes.labelsize": BODY_PT,
    "xtick.labelsize": BODY_PT - 1,
    "ytick.labelsize": BODY_PT - 1,
    "legend.fontsize": BODY_PT - 1,
    "figure.titlesize": BODY_PT + 1,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "grid.color": PALE,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,  # TrueType, which journals take
    "svg.hashsalt": "valuesassets",  # the same figure gives the same bytes
}


@dataclass(frozen=True)
class Look:
    """How one series is told from the others: each of the three suffices alone."""

    color: str
    marker: str
    hatch: str


_LOOKS = (
    Look(BLUE, "o", ""),
    Look(VERMILLION, "s", "////"),
    Look(ORANGE, "^", "...."),
    Look(GREEN, "D", "xxxx"),
    Look(PURPLE, "v", "\\\\\\\\"),
    Look(SKY, "P", "++++"),
    Look(GREY, "h", "oooo"),
    Look(BLACK, "*", "****"),
)
MOST_SERIES = len(_LOOKS)


def looks(names: Iterable[str]) -> dict[str, Look]:
    """A look for each name, in sorted order, so that a family looks the same in every figure.

    Raises:
        ValueError: more names than looks that can be distinguished.

    >>> looks(["multi", "mono"])["mono"].marker
    'o'
    """
    ordered = sorted(set(names))
    if len(ordered) > MOST_SERIES:
        raise ValueError(
            f"{len(ordered)} series in one figure ({', '.join(ordered)}); at most {MOST_SERIES} can be distinguished"
        )
    return dict(zip(ordered, _LOOKS, strict=False))


styled = mpl.rc_context(_SETTINGS)
"""Makes a function draw in this style; matplotlib's own settings are as before when it returns."""


def new_figure(height_in: float, width_in: float = PAGE_WIDTH_IN) -> Figure:
    """An empty figure with its own canvas, known to no pyplot state."""
    figure = Figure(figsize=(width_in, height_in), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.05))
    FigureCanvasAgg(figure)
    return figure


def finish(
    figure: Figure,
    title: str,
    notes: Sequence[str] = (),
    handles: Sequence[Any] = (),
    n_columns: int = 4,
    planted: bool = False,
) -> Figure:
    """The figure with its title, and at its foot a legend and small notes, for which the axes make room.

    Args:
        planted: the answers are; "planted" stands in a box beside the title and a sentence about it at the foot.
    """
    width_in, height_in = figure.get_size_inches()
    figure.suptitle(
        wrap(title, width_in - (1.1 if planted else 0.1), BODY_PT + 1), x=0.06 / width_in, ha="left", weight="bold"
    )
    if planted:
        right, top = 1 - 0.1 / width_in, 1 - 0.07 / height_in
        figure.text(right, top, "planted", ha="right", va="top", weight="bold", bbox=PLANTED_BOX)
    lines = [*notes, *([PLANTED] if planted else [])]
    bottom = 0.02 / height_in
    if lines:
        bottom = top_of(_fitting_lines(figure, lines), figure) + 0.04 / height_in
    if handles:
        bottom = top_of(fitting_legend(figure, handles, bottom, n_columns), figure) + 0.04 / height_in
    engine = figure.get_layout_engine()
    if isinstance(engine, ConstrainedLayoutEngine):
        engine.set(rect=(0, bottom, 1, 1 - bottom - 0.06 / height_in))
    return figure


def _fitting_lines(figure: Figure, lines: Sequence[str]) -> Text:
    """Small lines at the foot, broken where they reach the figure's width."""
    width_in, height_in = figure.get_size_inches()
    text = figure.text(0.1 / width_in, 0.06 / height_in, "", fontsize=SMALL_PT, linespacing=1.25)
    for share in (1.08, 1.04, 1.0, 0.94):
        text.set_text("\n".join(wrap(line, share * (width_in - 0.2), SMALL_PT) for line in lines))
        if text.get_window_extent().x1 <= figure.bbox.x1:
            break
    return text


def fitting_legend(figure: Figure, handles: Sequence[Any], bottom: float, n_columns: int, **look: Any) -> Legend:
    """A legend in as many columns as fit the figure's width."""
    entries = Keywords(loc="lower left", bbox_to_anchor=(0, bottom), ncols=n_columns, borderpad=0.2)
    legend = figure.legend(handles=list(handles), **entries | look)
    if n_columns == 1 or legend.get_window_extent().x1 <= figure.bbox.x1:
        return legend
    legend.remove()
    return fitting_legend(figure, handles, bottom, n_columns - 1, **look)


def top_of(artist: Text | Legend, figure: Figure) -> float:
    """The upper edge of what stands at the foot of a figure, as a share of its height."""
    box = artist.get_window_extent().transformed(figure.transFigure.inverted())
    return float(box.y1)


def wrap(text: str, width_in: float, size_pt: float) -> str:
    """Text broken into lines of a width: DejaVu Sans takes .56 of its size per character on average."""
    return textwrap.fill(text, max(12, int(width_in * 72 / (0.56 * size_pt))))


def axes_height(n_rows: int, row_in: float, least_in: float, most_in: float) -> float:
    """Height in inches for so many rows, within bounds."""
    return min(most_in, max(least_in, n_rows * row_in))


def upright_height(labels: Sequence[str], size_pt: float) -> float:
    """Height in inches of the longest label written upright."""
    return max((len(label) for label in labels), default=0) * 0.56 * size_pt / 72


def natural_order(question_id: str) -> tuple[str, int, str]:
    """A sort key under which v9 comes before v10.

    >>> sorted(["v10", "v9", "v111@v110=1"], key=natural_order)
    ['v9', 'v10', 'v111@v110=1']
    """
    stem = question_id.split("@")[0]
    letters = stem.rstrip("0123456789")
    digits = stem[len(letters) :]
    return letters, int(digits) if digits else -1, question_id


def luminance(rgb: Sequence[float]) -> float:
    """Relative luminance, 0 (black) to 1 (white) (Source: WCAG 2.1)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb[:3]]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink_on(rgba: Sequence[float]) -> str:
    """Black or white, whichever reads better on a colour."""
    return "black" if luminance(rgba) > 0.179 else "white"


def text_ink(color: str) -> str:
    """The colour, darkened until small text in it reads on white (contrast 4.5, Source: WCAG 2.1).

    >>> text_ink(BLUE) == BLUE.lower(), text_ink(ORANGE) == ORANGE.lower()
    (True, False)
    """
    red, green, blue = to_rgb(color)
    while 1.05 / (luminance((red, green, blue)) + 0.05) < 4.5:
        red, green, blue = (0.95 * part for part in (red, green, blue))
    return to_hex((red, green, blue))


def tint(color: str) -> tuple[float, float, float]:
    """A pale ground of the same colour."""
    red, green, blue = (0.65 + 0.35 * part for part in to_rgb(color))
    return red, green, blue


def settle(figure: Figure) -> None:
    """Lay the figure out for good, once, at places without the last bits, which the solver leaves to chance."""
    engine = figure.get_layout_engine()
    if engine is None or isinstance(engine, PlaceHolderLayoutEngine):
        return
    engine.execute(figure)
    figure.set_layout_engine("none")
    for axes in figure.axes:
        axes.set_position(Bbox(axes.get_position(original=True).get_points().round(5)))
