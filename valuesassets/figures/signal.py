"""Do models answer like their own countries? Six correlations per family, with those of permuted countries."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.marks import mark, name_rows
from valuesassets.records.frames import rows, rows_where

HEADLINE = "double-centred"
DECIDING: style.Keywords = {"marker": "s", "color": style.VERMILLION}
OTHER: style.Keywords = {"marker": "o", "color": style.BLUE}
BY_CHANCE: style.Keywords = {"facecolor": style.PALE, "edgecolor": style.GREY}


@style.styled
def draw_signal(
    correlations: pd.DataFrame, verdicts: pd.DataFrame, notes: Sequence[str] = (), planted: bool = False
) -> Figure:
    """A panel per family, a row per correlation (`signal`): r, its interval, and the band of permuted countries."""
    models = list(dict.fromkeys(correlations["model"]))
    verdict_of = dict(zip(verdicts["model"], verdicts["verdict"], strict=True))
    figure = style.new_figure(height_in=1.6 + 1.45 * len(models) + 0.2 * 6)
    panels = figure.subplots(len(models), 1, sharex=True, squeeze=False)[:, 0]
    for axes, model in zip(panels, models, strict=True):
        of_model = rows_where(correlations, model=model).reset_index(drop=True)
        name_rows(axes, of_model["kind"].astype(str).tolist())
        for place in of_model.index[of_model["low"].isna()]:
            axes.text(0, place, "nothing varies", va="center", ha="center", style="italic")
        measured = rows(of_model, of_model["low"].notna())
        by_chance = measured["null_high"] - measured["null_low"]
        axes.barh(measured.index, by_chance, left=measured["null_low"], height=0.62, lw=0.5, **BY_CHANCE)
        decides = measured["kind"] == HEADLINE
        for look, some in ((DECIDING, rows(measured, decides)), (OTHER, rows(measured, ~decides))):
            axes.hlines(some.index, some["low"], some["high"], color=look["color"], lw=2)
            axes.plot(some["r"], some.index, ls="", markersize=6, **look)
        axes.axvline(0, color=style.BLACK, lw=0.8)
        axes.set_xlim(-1.03, 1.03)
        title = f"{model}: {verdict_of.get(model) or 'no verdict'}"
        axes.set_title(style.wrap(title, style.PAGE_WIDTH_IN - 1.2, style.BODY_PT))
    panels[-1].set_xlabel("correlation with the people of the language's own country")
    handles = [
        mark("decides, where the two below agree: r, interval over items", ls="-", lw=2, **DECIDING),
        mark("other centrings", ls="-", lw=2, **OTHER),
        Patch(label=f"{correlations['level'].max():.0%} of r with countries permuted", **BY_CHANCE),
    ]
    title = "Do models answer like their own countries?"
    return style.finish(figure, title, notes, handles, n_columns=3, planted=planted)
