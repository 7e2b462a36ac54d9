"""Models before and after a change, along what sets a country apart from the others."""

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.marks import mark, name_rows
from valuesassets.records.frames import parts_of, records, rows

BEFORE: style.Keywords = {"marker": "o", "color": style.BLUE, "markerfacecolor": "white"}
AFTER: style.Keywords = {"marker": "o", "color": style.VERMILLION}
BY_CHANCE: style.Keywords = {"facecolor": style.PALE, "edgecolor": style.GREY}


@style.styled
def draw_shift(shifts: pd.DataFrame, verdicts: pd.DataFrame, planted: bool = False) -> Figure | None:
    """A panel per shift and country, a row per language: the model before and after, and the band of chance.

    Args:
        shifts: rows of `shift/shifts`; those without a slope are left out.
        verdicts: rows of `shift/verdicts`.
    """
    measured = rows(shifts, shifts["slope"].notna() & shifts["position_before"].notna())
    if measured.empty:
        return None
    parts = list(parts_of(measured, ["shift", "toward"]))
    verdict_of = {(str(row["shift"]), str(row["toward"])): row["verdict"] for row in records(verdicts)}
    height_in = 1.7 + sum(0.55 + 0.3 * len(part) for _, part in parts)
    figure = style.new_figure(height_in=height_in)
    ratios = [1 + len(part) for _, part in parts]
    panels = figure.subplots(len(parts), 1, squeeze=False, height_ratios=ratios)[:, 0]
    for axes, (key, part) in zip(panels, parts, strict=True):
        table = pd.DataFrame(part).reset_index(drop=True)
        name_rows(axes, [f"{row['shift']} ({row['language']})" for row in records(table)])
        reach = (table["slope_high"] - table["slope_low"]) / 2
        axes.barh(table.index, 2 * reach, left=table["position_before"] - reach, height=0.6, lw=0.5, **BY_CHANCE)
        axes.hlines(table.index, table["position_before"], table["position_after"], color=style.GREY, lw=1)
        axes.plot(table["position_before"], table.index, ls="", markersize=6, **BEFORE)
        axes.plot(table["position_after"], table.index, ls="", markersize=6, **AFTER)
        axes.margins(x=0.05)
        for place in (0, 1):
            axes.axvline(place, color=style.BLACK, lw=0.8)
        title = f"{key[1]}: {verdict_of.get((key[0], key[1])) or 'no verdict'}"
        axes.set_title(style.wrap(title, style.PAGE_WIDTH_IN - 1.2, style.BODY_PT))
    panels[-1].set_xlabel("position along what sets the country apart: 0 the other countries, 1 this one")
    handles = [mark("before", **BEFORE), mark("after", **AFTER), Patch(label="by chance", **BY_CHANCE)]
    title = "Did answers move towards the people of a country?"
    return style.finish(figure, title, handles=handles, n_columns=3, planted=planted)
