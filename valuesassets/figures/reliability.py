"""Reliability of a family's answers: coefficients with their threshold, and sources of variance."""

from collections.abc import Sequence
from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.marks import draw_dots, mark, name_rows, say_nothing
from valuesassets.records.frames import records, rows_where

_COEFFICIENTS = (
    ("generalizability", "over wordings: all differences between languages", "o"),
    ("beyond_position", "over wordings: without position bias", "v"),
    ("pattern", "over wordings: their pattern over items", "s"),
    ("over_orders", "over orders too (lower bound)", "D"),
    ("split_half", "over halves of the items", "^"),
)
LEAST_SHARE = 0.005
"""Least share of the variance, in some scope, of a source that is drawn: less would not be visible."""
_SHADES = (
    (style.BLUE, ""),
    (style.SKY, "////"),
    (style.VERMILLION, "xxxx"),
    (style.ORANGE, "...."),
    (style.GREEN, "\\\\\\\\"),
    (style.PURPLE, "++++"),
    (style.PALE, ""),
    (style.GREY, "oooo"),
    (style.BLACK, ""),
    ("#FFFFFF", "----"),
    ("#FFFFFF", "||||"),
)


@style.styled
def draw_reliability(
    families: pd.DataFrame, components: pd.DataFrame, notes: Sequence[str] = (), planted: bool = False
) -> Figure:
    """Coefficients of every family above, shares of variance by source below: tables of `reliability`.

    The upper half is left out where shares are there and no family has a coefficient.
    """
    scopes = list(dict.fromkeys(components["scope"])) if len(components) else []
    figure = style.new_figure(height_in=2.6 + 0.45 * len(families) + 0.35 * len(scopes) + 0.2 * 6)
    if scopes and not _drawn(families):
        handles = _draw_shares(figure.subplots(), components, scopes)
        figure.set_figheight(2.0 + 0.35 * len(scopes) + 0.2 * 6)
        return style.finish(figure, "What do the answers vary with?", notes, handles, n_columns=2, planted=planted)
    upper, lower = figure.subplots(2, 1, height_ratios=(0.6 + 0.45 * len(families), 0.6 + 0.35 * max(len(scopes), 1)))
    handles = [*_draw_coefficients(upper, families), *_draw_shares(lower, components, scopes)]
    title = "Do the differences between languages replicate?"
    return style.finish(figure, title, notes, handles, n_columns=2, planted=planted)


def _drawn(families: pd.DataFrame) -> list[str]:
    """The coefficients that some family has."""
    return [
        name
        for name, *_ in _COEFFICIENTS
        if name in families and bool(np.isfinite(families[name].to_numpy(float)).any())
    ]


def _draw_coefficients(axes: Axes, families: pd.DataFrame) -> list[Line2D]:
    places, handles = np.arange(len(families)), []
    for offset, (name, label, marker) in zip(np.linspace(-0.3, 0.3, len(_COEFFICIENTS)), _COEFFICIENTS, strict=True):
        color, face = (style.BLUE, style.BLUE) if name == "generalizability" else (style.BLACK, "white")
        if name in _drawn(families):
            handles.append(mark(label, marker, color, markerfacecolor=face))
            draw_dots(
                axes, places + offset, families, name, color, marker, lw=1.5, line=style.GREY, markerfacecolor=face
            )
    measured = families["generalizability"] if "generalizability" in families else pd.Series(np.nan, families.index)
    for place in places[measured.isna()]:
        axes.text(0.01, place - 0.3, "over wordings: not measured", va="center", style="italic", size=style.SMALL_PT)
    threshold = float(families["threshold"].iloc[0])
    axes.axvline(threshold, color=style.VERMILLION, ls="--", lw=1)
    name_rows(axes, [str(model) for model in families["model"]])
    axes.set_xlim(min(-0.02, axes.get_xlim()[0]), 1.02)
    axes.set_xlabel(f"coefficient, with its interval where it has one; dashed: threshold {threshold:g}")
    return handles


def _draw_shares(axes: Axes, components: pd.DataFrame, scopes: Sequence[str]) -> list[Patch]:
    if not scopes:
        say_nothing(axes)
        axes.set_axis_off()
        return []
    sources = dict.fromkeys(components.loc[components["share"] >= LEAST_SHARE, "source"])
    looks: dict[str, style.Keywords] = {
        source: {"facecolor": color, "hatch": hatch, "edgecolor": style.BLACK, "lw": 0.5}
        for source, (color, hatch) in zip(sources, cycle(_SHADES), strict=False)
    }
    for place, scope in enumerate(scopes):
        start = 0.0
        for row in records(rows_where(components, scope=scope)):
            if row["source"] in looks:
                axes.barh(place, row["share"], left=start, height=0.6, **looks[row["source"]])
                start += float(row["share"])
    name_rows(axes, scopes, above=0.5, below=0.5, has_grid=False)
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of the variance of item-centred expected values")
    return [Patch(label=source, **look) for source, look in looks.items()]
