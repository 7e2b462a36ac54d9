"""Panels side by side, one for each task or scale, with few models in different looks or many as a crowd."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from valuesassets.figures import style
from valuesassets.figures.backgrounds import legend_in, short
from valuesassets.figures.marks import family_marks, mark, say_nothing

CROWD = style.Look(style.GREY, "o", "")
"""Look of all models where there are more than can be distinguished."""
MOST_PANELS = 24
PANEL_IN = {1: 3.4, 2: 2.7, 3: 1.85, 4: 1.75}
"""Height of a panel, by how many stand side by side."""
MOST_IN = 8.0
"""Height of all panels together."""


def looks_of(models: Iterable[str]) -> dict[str, style.Look]:
    """A look for each model; grey dots for all of them where there are more than can be distinguished.

    >>> looks_of(["b", "a"])["a"].marker, looks_of(map(str, range(46)))["7"] is CROWD
    ('o', True)
    """
    names = list(dict.fromkeys(map(str, models)))
    return style.looks(names) if len(names) <= style.MOST_SERIES else dict.fromkeys(names, CROWD)


def is_crowd(looks: Mapping[str, style.Look]) -> bool:
    """Whether there are more models than can be distinguished."""
    return len(looks) > style.MOST_SERIES


def model_handles(looks: Mapping[str, style.Look], **look: Any) -> list[Line2D]:
    """A legend's entries for models; one for all of a crowd."""
    if is_crowd(looks):
        return [mark(f"each of {len(looks)} models", CROWD.marker, CROWD.color, **look)]
    return family_marks({short(name): each for name, each in looks.items()}, **look)


def new_panels(
    names: Sequence[str],
    most_columns: int,
    handles: Sequence[Any] = (),
    above_in: float = 0.9,
    labels: tuple[str, str] = ("", ""),
    size: float = style.BODY_PT,
) -> tuple[Figure, list[Axes], list[str]]:
    """A figure with a titled panel for each of at most `MOST_PANELS` names, and a note on the others.

    Args:
        handles: of the legend that the figure will have.
        above_in: room for title and notes.
        labels: of the axes, across and upward, at the edges alone; empty for none.
        size: of the labels' letters, in points.
    """
    drawn, left_out = names[:MOST_PANELS], len(names) - MOST_PANELS
    n_columns = min(most_columns, max(1, len(drawn)))
    n_rows = max(1, -(-len(drawn) // n_columns))
    height = min(PANEL_IN[n_columns], MOST_IN / n_rows)
    figure = style.new_figure(height_in=n_rows * height + above_in + legend_in(handles, 3))
    panels = list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())
    for unused in panels[max(1, len(drawn)) :]:
        unused.set_visible(False)
    if not names:
        say_nothing(panels[0])
    small = style.BODY_PT - 1 if n_columns < 3 else style.SMALL_PT - 1
    for place, (axes, name) in enumerate(zip(panels, drawn, strict=False)):
        axes.set_title(short(name, 60 // n_columns), fontsize=min(small + 1, style.BODY_PT))
        axes.tick_params(labelsize=small)
        if place % n_columns == 0 and labels[1]:
            axes.set_ylabel(labels[1], fontsize=size)
        if place + n_columns >= len(drawn) and labels[0]:
            axes.set_xlabel(labels[0], fontsize=size)
    return figure, panels[: len(drawn)], [f"{left_out} more panels are left to the tables."] * (left_out > 0)
