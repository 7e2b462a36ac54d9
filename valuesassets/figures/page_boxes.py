"""Where a form's questions were found: its pages side by side, a frame for each question."""

import math
from collections.abc import Collection, Sequence

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from valuesassets.figures import style

PER_ROW = 12
PAGE = (595.0, 842.0)
"""Width and height of A4 in points; a form of another size is drawn in the least page that holds its frames."""

Box = tuple[float, float, float, float]


@style.styled
def draw_page_boxes(
    boxes: Sequence[tuple[str, int, Box]], n_pages: int, doubtful: Collection[str], title: str
) -> Figure:
    """Every page as a sheet with the places of its questions, the doubtful ones marked.

    Args:
        boxes: question id, page (from 1) and left, top, right, bottom in points from the page's top left.
        doubtful: ids of the questions that fail a check.
    """
    width = max([PAGE[0], *(box[2] for _, _, box in boxes)])
    height = max([PAGE[1], *(box[3] for _, _, box in boxes)])
    n_columns = min(PER_ROW, n_pages)
    n_rows = math.ceil(n_pages / n_columns)
    sheet_in = style.PAGE_WIDTH_IN / PER_ROW
    figure = style.new_figure(height_in=n_rows * sheet_in * 1.12 * height / width + 0.9)
    axes = figure.add_subplot(aspect="equal")
    step_x, step_y = width * 1.08, height * 1.1
    for page in range(n_pages):
        row, column = divmod(page, n_columns)
        axes.add_patch(
            Rectangle((column * step_x, row * step_y), width, height, facecolor="white", edgecolor=style.GREY)
        )
        axes.text(
            column * step_x + width / 2, row * step_y + height * 1.01, str(page + 1), ha="center", va="top", fontsize=5
        )
    for name, page, (left, top, right, bottom) in boxes:
        row, column = divmod(page - 1, n_columns)
        color = style.VERMILLION if name in doubtful else style.BLUE
        place = (column * step_x + left, row * step_y + top)
        axes.add_patch(
            Rectangle(place, right - left, bottom - top, facecolor=style.tint(color), edgecolor=color, lw=0.8, gid=name)
        )
    axes.set_xlim(-width * 0.02, n_columns * step_x)
    axes.set_ylim(n_rows * step_y + height * 0.03, -height * 0.02)
    axes.set_axis_off()
    n_doubtful = sum(name in doubtful for name, _, _ in boxes)
    handles = [
        Patch(facecolor=style.tint(color), edgecolor=color, label=label)
        for color, label, n in (
            (style.BLUE, f"found, sound ({len(boxes) - n_doubtful})", 1),
            (style.VERMILLION, f"found, in doubt ({n_doubtful})", n_doubtful),
        )
        if n
    ]
    style.write_heading(figure, title)
    style.write_footer(figure, handles=handles)
    return figure
