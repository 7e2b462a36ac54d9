"""Does it matter how an answer is read? The whole distribution, its most probable answer, or answers drawn from it."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.backgrounds import folded, has_numbers, short, shown_models
from valuesassets.figures.marks import family_marks, mark, name_rows, say_nothing, shift
from valuesassets.records.frames import rows, rows_where

MEASURES = {
    "w1_unit": "W1 from the exact\nreadout",
    "w1_seed": "W1 from people,\ngroups pooled",
    "slope": "slope (1: as people,\n0: blind)",
}
"""By column: what its panel shows."""
FIRST = ("exact", "greedy")
"""Readouts that a legend names first."""
PAPER = "figure "
"""How names of readouts begin that are answers to the prompts of a figure of the benchmark's paper."""


@style.styled
def draw_readouts(comparison: pd.DataFrame, planted: bool = False) -> Figure:
    """A row per model, a mark per readout: how far it is from the exact one, and what each score becomes under it.

    Args:
        comparison: a row per model and readout: `model`, `readout` (`exact`, `greedy`, and others by name) and those of
            `w1_unit`, `w1_expected_unit` (what chance alone gives), `w1_seed`, `slope` that are known.
    """
    models = shown_models(comparison)
    names = list(models.looks)
    columns = [name for name in MEASURES if has_numbers(comparison, name)]
    figure = style.new_figure(height_in=1.9 + style.axes_height(len(names), 0.62, 0.7, 6))
    panels = figure.subplots(1, max(len(columns), 1), sharey=True, squeeze=False)[0]
    present = [str(name) for name in dict.fromkeys(comparison["readout"])]
    readouts = [*(name for name in FIRST if name in present), *(name for name in present if name not in FIRST)]
    looks = dict(zip(readouts, style.looks(map(str, range(len(readouts)))).values(), strict=True))
    for axes, name in zip(panels, columns, strict=False):
        _draw_measure(axes, comparison, name, names, looks)
        axes.set_xlabel(MEASURES[name])
    if not columns:
        say_nothing(panels[0])
    name_rows(panels[0], [folded(short(name), 16) for name in names])
    handles = family_marks(looks, markersize=6)
    if has_numbers(comparison, "w1_expected_unit"):
        handles.append(mark("expected from sampling alone", "|", style.BLACK, markersize=10, markeredgewidth=1.6))
    others = any(name.startswith(PAPER) for name in present)
    besides = ", but for the paper's own (figure 5 to 10)" if others else ""
    caption = [f"All readouts of one and the same prompt{besides}.", *models.notes]
    return style.finish(figure, "Does the way of reading an answer matter?", caption, handles, 5, planted)


def _draw_measure(
    axes: Axes, comparison: pd.DataFrame, name: str, models: list[str], looks: dict[str, style.Look]
) -> None:
    for number, (readout, look) in enumerate(looks.items()):
        part = rows_where(comparison, readout=readout)
        values = rows(part, part["model"].isin(models)).drop_duplicates("model").set_index("model").reindex(models)
        places = np.arange(len(models)) + shift(number, len(looks), 0.6 / len(looks))
        axes.plot(values[name].astype(float), places, ls="", marker=look.marker, color=look.color,
                  markersize=6, gid=f"{name} {readout}")  # fmt: skip
        if name == "w1_unit" and "w1_expected_unit" in values:
            axes.plot(values["w1_expected_unit"].astype(float), places, ls="", marker="|", color=style.BLACK,
                      markersize=10, markeredgewidth=1.6, gid=f"expected {readout}")  # fmt: skip
    for place in range(1, len(models)):
        axes.axhline(place - 0.5, color=style.PALE, lw=0.8, zorder=0)
    axes.margins(x=0.12)
    low, high = axes.get_xlim()
    axes.set_xlim(min(-0.03 * high, low), high)
    axes.grid(axis="x")
    axes.locator_params(axis="x", nbins=4)
