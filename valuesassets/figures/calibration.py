"""What was planted against what the instrument recovered."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from valuesassets.figures import style


@style.styled
def draw_calibration(
    comparison: pd.DataFrame,
    max_w1_unit: float = 0.02,
    max_p_valid_error: float = 0.02,
    max_position_bias_error: float = 0.03,
) -> Figure:
    """Planted against recovered P_valid and position bias, and the error of the answers, by response type.

    Args:
        comparison: one row per question and cell: response_type, planted_p_valid, recovered_p_valid,
            planted_position_bias, recovered_position_bias, w1_unit_error (scale units), w1_unit_to_uniform; nulls
            where a question could not be read.
        max_w1_unit, max_p_valid_error, max_position_bias_error: bounds on the mean errors, drawn as bands.
    """
    kinds = style.looks(comparison["response_type"])
    figure = style.new_figure(height_in=6.6)
    panels = figure.subplot_mosaic([["p_valid", "position_bias"], ["w1", "w1"]], height_ratios=(1.25, 1))
    _draw_recovery(panels["p_valid"], comparison, "p_valid", "P_valid", max_p_valid_error, kinds)
    _draw_recovery(
        panels["position_bias"], comparison, "position_bias", "position bias", max_position_bias_error, kinds
    )
    _draw_errors(panels["w1"], comparison, max_w1_unit, kinds)
    style.write_heading(figure, "Planted answers and what the instrument recovered", planted=True)
    handles = [
        *(_mark(look, kind) for kind, look in kinds.items()),
        Line2D([], [], color=style.BLACK, lw=1, label="recovered = planted"),
        Line2D([], [], color=style.BLACK, lw=1, ls="--", label="bound on the mean error"),
    ]
    unread = int(comparison["w1_unit_error"].isna().sum())
    notes = [f"{len(comparison)} readings, of which {unread} could not be read and are not drawn."]
    style.write_footer(figure, notes, handles, n_columns=5, planted=True)
    return figure


def _draw_recovery(
    axes: Axes, comparison: pd.DataFrame, quantity: str, name: str, bound: float, kinds: dict[str, style.Look]
) -> None:
    for kind, look in kinds.items():
        rows = comparison[comparison["response_type"] == kind]
        axes.plot(
            rows[f"planted_{quantity}"], rows[f"recovered_{quantity}"], ls="", marker=look.marker, markersize=4.5,
            markerfacecolor="none", markeredgecolor=look.color, markeredgewidth=0.9, gid=f"{quantity} {kind}",
        )  # fmt: skip
    axes.axline((0, 0), slope=1, color=style.BLACK, lw=1, zorder=0)
    for shift in (-bound, bound):
        axes.axline((0, shift), slope=1, color=style.BLACK, lw=0.8, ls="--", zorder=0)
    seen = comparison[[f"planted_{quantity}", f"recovered_{quantity}"]].to_numpy(dtype=float)
    top = 1.0 if quantity == "p_valid" or not np.isfinite(seen).any() else min(1.0, 1.08 * float(np.nanmax(seen)))
    axes.set(xlim=(0, top), ylim=(0, top), xlabel=f"planted {name}", ylabel=f"recovered {name}", title=name)
    axes.set_aspect("equal")


def _draw_errors(axes: Axes, comparison: pd.DataFrame, bound: float, kinds: dict[str, style.Look]) -> None:
    """A strip per response type, its points spread by rank so that they do not hide each other, and the mean."""
    for place, (kind, look) in enumerate(kinds.items()):
        errors = comparison.loc[comparison["response_type"] == kind, "w1_unit_error"].dropna().sort_values().to_numpy()
        if not len(errors):
            continue
        golden = (np.arange(len(errors)) * 0.618034) % 1 - 0.5
        axes.plot(
            place + 0.6 * golden, errors, ls="", marker=look.marker, markersize=4, markerfacecolor="none",
            markeredgecolor=look.color, markeredgewidth=0.8, gid=f"w1 {kind}",
        )  # fmt: skip
        axes.hlines(errors.mean(), place - 0.38, place + 0.38, color=style.BLACK, lw=2)
    axes.axhline(bound, color=style.BLACK, lw=0.8, ls="--")
    axes.set_xticks(range(len(kinds)), list(kinds))
    axes.set(ylabel="W1 (scale units)", title="error of the answers (bar: mean)", xlim=(-0.6, len(kinds) - 0.4))
    axes.set_ylim(bottom=0)
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y")


def _mark(look: style.Look, label: str) -> Line2D:
    return Line2D(
        [], [], ls="", marker=look.marker, markerfacecolor="none", markeredgecolor=look.color, label=label, markersize=5
    )
