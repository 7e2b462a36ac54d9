"""Looking at a figure without eyes: its artists by name and all that it says."""

import numpy as np
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_rgb
from matplotlib.legend import Legend
from matplotlib.text import Text


def artist(figure, gid):
    """The artist of a name; fails where there is none or more than one."""
    found = figure.findobj(lambda one: one.get_gid() == gid)
    assert len(found) == 1, f"{len(found)} artists are called {gid}"
    return found[0]


def places(figure, gid):
    """(n, 2) data coordinates of a line of marks."""
    return np.column_stack(artist(figure, gid).get_data()).astype(float)


def mesh(figure):
    """The values of the heat map, nan where it is empty."""
    return next(iter(figure.findobj(QuadMesh))).get_array().filled(np.nan)


def words(figure):
    """Everything written in the figure, line breaks taken for spaces."""
    return " ".join(" ".join(text.get_text().split()) for text in figure.findobj(Text) if text.get_visible())


def legend_labels(figure):
    return [" ".join(text.get_text().split()) for legend in figure.findobj(Legend) for text in legend.get_texts()]


def overlapping(texts, slack=0.5):
    """Pairs of texts whose boxes share more than `slack` pixels in both directions."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text()]
    return [
        (a, b)
        for number, (a, first) in enumerate(boxes)
        for b, second in boxes[:number]
        if min(first.x1, second.x1) - max(first.x0, second.x0) > slack
        and min(first.y1, second.y1) - max(first.y0, second.y0) > slack
    ]


def outside(figure, slack=1.0):
    """Texts that run out of the figure; labels of ticks beyond the axes' limits are not drawn and do not count."""
    figure.draw_without_rendering()
    frame = figure.bbox
    unseen = {id(label) for axes in figure.axes for label in _undrawn_ticks(axes)}
    texts = [t for t in figure.findobj(Text) if t.get_text() and t.get_visible() and id(t) not in unseen]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if not text.axes or text.axes.get_visible()]
    return [
        text
        for text, box in boxes
        if min(box.x0 - frame.x0, box.y0 - frame.y0, frame.x1 - box.x1, frame.y1 - box.y1) < -slack
    ]


def _undrawn_ticks(axes):
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            if not low <= tick.get_loc() <= high:
                yield from (tick.label1, tick.label2)


def grey(color):
    """0 (black) to 255 (white): what is left of a colour in a black and white print (ITU-R 601, as Pillow's "L")."""
    return 255 * float(np.dot(to_rgb(color), (0.299, 0.587, 0.114)))
