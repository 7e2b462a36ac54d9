"""Coverage of intervals and error rates of tests in simulated data."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from valuesassets.figures import style
from valuesassets.figures.marks import draw_dots, family_marks, name_rows
from valuesassets.records.frames import rows_where

MOST_CURVES = 8


@style.styled
def draw_simulated_data(
    coverage: pd.DataFrame, rejections: pd.DataFrame, p_values: pd.DataFrame, notes: Sequence[str] = ()
) -> Figure:
    """Coverage and rejections with Monte Carlo errors, and distributions of p-values: tables of `simulated_worlds`."""
    null = rows_where(rejections, kind="null")
    n = max(len(coverage), len(null), 1)
    figure = style.new_figure(height_in=4.6 + 0.34 * n)
    grid = figure.add_gridspec(2, 2, height_ratios=(0.34 * n + 0.3, 2.6))
    left, right = (figure.add_subplot(grid[0, side]) for side in (0, 1))
    _draw_shares(left, coverage, "interval", "coverage", "nominal")
    left.set(title="intervals cover the truth", xlabel="share of intervals")
    left.set_xlim(min([0.85, *coverage["coverage"]]) - 0.005, 1.005)
    _draw_shares(right, null, "test_family", "any_rejected", "alpha")
    right.set(title="any test of a family rejects\nwhere nothing differs", xlabel="share of data sets")
    right.set_xlim(-0.005, max([0.15, *null["any_rejected"]]) + 0.005)
    handles = _draw_curves(figure.add_subplot(grid[1, :]), rows_where(p_values, kind="null"))
    title = "Coverage and error rates of the analyses in simulated data"
    return style.finish(figure, title, notes, handles, n_columns=3)


def _draw_shares(axes: Axes, frame: pd.DataFrame, name: str, share: str, nominal: str) -> None:
    """Draw each share with its Monte Carlo error, and a line at the nominal share."""
    reach = 1.96 * frame["monte_carlo_se"].astype(float).fillna(0.0)
    ends = {f"{share}_low": frame[share] - reach, f"{share}_high": frame[share] + reach}
    draw_dots(axes, np.arange(len(frame)), frame.assign(**ends), share, style.BLUE, lw=1.5, line=style.GREY)
    if len(frame):
        axes.axvline(float(frame[nominal].iloc[0]), color=style.VERMILLION, ls="--", lw=1)
    name_rows(axes, [style.wrap(str(each), 1.6, style.BODY_PT - 1) for each in frame[name]])


def _draw_curves(axes: Axes, p_values: pd.DataFrame) -> list[Line2D]:
    """The distribution of each family's p-values."""
    looks = style.looks(list(dict.fromkeys(p_values["test_family"]))[:MOST_CURVES])
    axes.plot([0, 1], [0, 1], color=style.GREY, ls="--", lw=1)
    for name, look in looks.items():
        p = np.sort(rows_where(p_values, test_family=name)["p"].to_numpy(dtype=float))
        axes.plot(p, np.arange(1, p.size + 1) / p.size, color=look.color, marker=look.marker,
                  markevery=max(p.size // 8, 1), markersize=5, markerfacecolor="white", lw=1.2)  # fmt: skip
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="p-value in data without a difference", ylabel="share at most as large")
    axes.grid()
    return family_marks(looks, ls="-", markerfacecolor="white")
