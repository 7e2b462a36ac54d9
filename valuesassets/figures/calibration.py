"""Planted answers and the answers that the instrument recovered."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from valuesassets.figures import style
from valuesassets.figures.backgrounds import has_numbers
from valuesassets.figures.marks import family_marks, mark, name_rows, row_pt, rule, shift
from valuesassets.measure.arrays import Array
from valuesassets.measure.sampling_error import allowed_mean
from valuesassets.records.frames import column, rows_where

MOST_SINGLE = 150
"""Maximum number of readings that are drawn singly beside the means; more would hide the means."""
SAMPLED_COLOR = style.GREEN
QUESTIONS_IN, LANGUAGE_IN = 0.2, 0.135


@dataclass(frozen=True)
class Quantity:
    """One error with a bound in the study: column `<name>_error`."""

    name: str
    title: str
    bound: float

    @property
    def error(self) -> str:
        """The column."""
        return f"{self.name}_error"


@style.styled
def draw_calibration(
    comparison: pd.DataFrame,
    max_w1_unit: float = 0.02,
    max_p_valid_error: float = 0.02,
    max_position_bias_error: float = 0.03,
) -> Figure:
    """Planted and recovered values, and errors by response type and, with several cells, by cell.

    Args:
        comparison: rows of `calibration`; sampled answers, if there are some, are drawn hollow, with the bound that
            includes their sampling error.
        max_w1_unit, max_p_valid_error, max_position_bias_error: bounds on the mean errors.
    """
    quantities = (
        Quantity("w1_unit", "error of the answers:\nW1 (scale units)", max_w1_unit),
        Quantity("p_valid", "error of P_valid\n(probability)", max_p_valid_error),
        Quantity("position_bias", "error of the position\nbias (probability)", max_position_bias_error),
    )
    cells = list(dict.fromkeys(zip(comparison["model"], comparison["language"], strict=True)))
    parts = by_response_type(comparison)
    languages = sorted({language for _, language in cells})
    has_sampled = has_numbers(comparison, "sampled_w1_unit_error")
    heights = [2.45, 0.55 + len(parts) * QUESTIONS_IN * (1.5 if has_sampled else 1.1)]
    heights += [0.45 + max(len(languages), 3) * LANGUAGE_IN] if len(cells) > 1 else []
    figure = style.new_figure(height_in=min(sum(heights) + 1.55, style.PAGE_HEIGHT_IN + 0.4))
    errors = [f"{quantity.name} error" for quantity in quantities]
    layout: list[Any] = [["p_valid"] * 3 + ["position_bias"] * 3, [name for name in errors for _ in (1, 2)]]
    layout += [[f"{name} by cell" for name in errors for _ in (1, 2)]] if len(cells) > 1 else []
    panels = figure.subplot_mosaic(layout, height_ratios=heights)
    for quantity, name in zip(quantities[1:], ("P_valid", "position bias"), strict=True):
        _draw_recovery(panels[quantity.name], comparison, quantity, name, has_sampled)
    for place, (quantity, name) in enumerate(zip(quantities, errors, strict=True)):
        kinds_axes = panels[name]
        reach = _draw_errors(kinds_axes, parts, quantity, has_sampled)
        kinds_axes.axhline(0.5, color=style.GREY, lw=0.6)
        kinds_axes.set_title(quantity.title, fontsize=style.SMALL_PT + 1)
        labels = [f"{kind} ({len(part)})" for kind, part in parts.items()]
        _finish(kinds_axes, quantity, reach, labels, style.SMALL_PT, has_names=place == 0)
        if len(cells) > 1:
            cells_axes = panels[f"{name} by cell"]
            reach = _draw_cells(cells_axes, comparison, quantity, languages)
            cells_axes.set_title("each cell", fontsize=style.SMALL_PT)
            _finish(cells_axes, quantity, reach, languages, row_pt(LANGUAGE_IN), has_names=place == 0)
    title = "Planted answers and what the instrument recovered"
    if len(cells) == 1:
        title = f"{cells[0][0]} in {cells[0][1]}: planted answers and what was recovered"
    handles = _handles(comparison, has_sampled, len(cells) > 1)
    return style.finish(figure, title, _lines(comparison, has_sampled, len(cells)), handles, planted=True)


def by_response_type(comparison: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """All rows, then those of each response type."""
    kinds = sorted(set(comparison["response_type"]), key=style.natural_order)
    return {"all": comparison} | {kind: rows_where(comparison, response_type=kind) for kind in kinds}


def error_summary(part: pd.DataFrame, error: str) -> tuple[float, float] | None:
    """Mean and 95th percentile of the errors that are not missing; None where all are missing."""
    errors = column(part, error).dropna().to_numpy(dtype=float) if error in part else np.array([])
    return (float(errors.mean()), float(np.quantile(errors, 0.95))) if len(errors) else None


def _draw_recovery(axes: Axes, comparison: pd.DataFrame, quantity: Quantity, name: str, has_sampled: bool) -> None:
    """Draw each reading by its planted and recovered value; the sampled channel is hollow and behind."""
    is_dense = len(comparison) > MOST_SINGLE
    planted = comparison[f"planted_{quantity.name}"]
    recovered = {"scored": comparison[f"recovered_{quantity.name}"]}
    looks: dict[str, style.Keywords] = {
        "scored": {
            "marker": "o", "color": style.BLACK, "markeredgewidth": 0, "alpha": 0.6 if is_dense else 0.8, "zorder": 2,
        },
        "sampled": {
            "marker": "D", "markerfacecolor": "none", "markeredgecolor": SAMPLED_COLOR,
            "markeredgewidth": 0.5 if is_dense else 0.9, "zorder": 1,
        },
    }  # fmt: skip
    if has_sampled:
        recovered["sampled"] = comparison[f"sampled_{quantity.name}"]
    for channel, values in recovered.items():
        axes.plot(
            planted, values, ls="", markersize=2.2 if is_dense else 4.0, gid=f"{quantity.name} {channel}",
            rasterized=is_dense, **looks[channel],
        )  # fmt: skip
    ends = np.array([-1.0, 2.0])
    for offset, width, dashes in ((0.0, 1.0, "-"), (-quantity.bound, 0.8, "--"), (quantity.bound, 0.8, "--")):
        axes.plot(ends, ends + offset, color=style.VERMILLION, lw=width, ls=dashes, zorder=3)
    all_values = np.concatenate([np.asarray(channel, dtype=float) for channel in (planted, *recovered.values())])
    is_whole = quantity.name == "p_valid" or not np.isfinite(all_values).any()
    top = 1.0 if is_whole else min(1.0, 1.08 * float(np.nanmax(all_values)))
    axes.set(xlim=(0, top), ylim=(0, top), xlabel=f"planted {name}", ylabel=f"recovered {name}")
    axes.set_aspect("equal")
    axes.locator_params(nbins=5)


def _draw_errors(axes: Axes, parts: Mapping[str, pd.DataFrame], quantity: Quantity, has_sampled: bool) -> list[float]:
    """Draw each response type's errors: mean, bar to the 95th percentile, bounds; returns the ends of all marks."""
    reach, error = [], quantity.error
    lift = 0.2 if has_sampled else 0.0
    places = np.arange(len(parts), dtype=np.float64)
    if len(parts["all"]) <= MOST_SINGLE:
        for place, (kind, part) in zip(places, parts.items(), strict=True):
            single = column(part, error).dropna()
            axes.plot(
                single, np.full(len(single), place - lift), ls="", marker="|", markersize=5, color=style.GREY,
                markeredgewidth=0.6, zorder=1, gid=f"{quantity.name} readings {kind}",
            )  # fmt: skip
            reach += single.tolist()
    reach += _draw_means(axes, parts.values(), error, places - lift, color=style.BLACK, marker="o")
    if has_sampled:
        look = style.Keywords(color=SAMPLED_COLOR, marker="D", markerfacecolor="white")
        reach += _draw_means(axes, parts.values(), f"sampled_{error}", places + lift, **look)
        drawn = {
            place: quantity.bound + allowed_mean(part[f"drawn_{error}"], part[f"drawn_{error}_sd"])
            for place, part in zip(places + lift, parts.values(), strict=True)
            if has_numbers(part, f"drawn_{error}")
        }  # the study's bound plus the allowed sampling error
        heights, bounds = np.array(list(drawn)), list(drawn.values())
        look = {"color": style.VERMILLION, "lw": 1.6, "zorder": 2, "gid": f"{quantity.name} sampled bound"}
        axes.vlines(bounds, heights - 0.22, heights + 0.22, **look)
        reach += bounds
    return reach


def _draw_means(axes: Axes, parts: Iterable[pd.DataFrame], error: str, heights: Array, **look: Any) -> list[float]:
    """Draw mean and 95th percentile of each part's errors with a bar between them; returns the ends of all marks."""
    means, p95s = _means_and_p95s(parts, error)
    axes.hlines(heights, means, p95s, color=look["color"], lw=1, zorder=2, gid=f"{error} to p95", capstyle="projecting")
    axes.plot(p95s, heights, ls="", marker="|", color=look["color"], markersize=6, zorder=2, gid=f"{error} p95")
    axes.plot(means, heights, ls="", markersize=4.5, zorder=3, gid=f"{error} mean", **look)
    return [*means, *p95s]


def _means_and_p95s(parts: Iterable[pd.DataFrame], error: str) -> tuple[Array, Array]:
    """`error_summary` of each part; NaN where it is None."""
    means, p95s = np.array([error_summary(part, error) or (np.nan, np.nan) for part in parts]).T
    return means, p95s


def _draw_cells(axes: Axes, comparison: pd.DataFrame, quantity: Quantity, languages: list[str]) -> list[float]:
    """Draw each family's mean error and 95th percentile by language; returns the ends of all marks."""
    families = style.looks(comparison["model"])
    reach: list[float] = []
    for number, (family, look) in enumerate(families.items()):
        of_family = [rows_where(comparison, model=family, language=language) for language in languages]
        means, p95s = _means_and_p95s(of_family, quantity.error)
        is_read = ~np.isnan(means)
        heights = np.flatnonzero(is_read) + shift(number, len(families), 0.5 / max(len(families) - 1, 1))
        axes.hlines(heights, means[is_read], p95s[is_read], color=look.color, lw=0.7, alpha=0.7)
        axes.plot(
            means[is_read], heights, ls="", marker=look.marker, color=look.color, markersize=3.6,
            gid=f"{quantity.name} cells {family}",
        )  # fmt: skip
        reach += p95s.tolist()
    return reach


def _finish(
    axes: Axes, quantity: Quantity, reach: Sequence[float], names: Sequence[str], size_pt: float, has_names: bool
) -> None:
    """Draw the bound, the rows' names at the left of the first panel, and limits that hold all marks."""
    axes.axvline(quantity.bound, color=style.VERMILLION, lw=1.4, ls="--", zorder=1)
    name_rows(axes, names, size_pt, has_names=has_names)
    axes.set_xlim(0, 1.06 * np.nanmax([quantity.bound * 1.3, *reach]))
    axes.tick_params(axis="x", labelsize=style.SMALL_PT)
    axes.locator_params(axis="x", nbins=4)


def _handles(comparison: pd.DataFrame, has_sampled: bool, is_grid: bool) -> list[Line2D]:
    sampled = mark("sampled, parsed", "D", SAMPLED_COLOR, markersize=4.5, markerfacecolor="white")
    return [
        mark("scored", "o", style.BLACK, markersize=4.5),
        *([sampled] if has_sampled else []),
        *(family_marks(style.looks(comparison["model"]), markersize=4.5) if is_grid else []),
        rule("recovered = planted", style.VERMILLION),
        rule("bound on the mean", style.VERMILLION, "--"),
    ]


def _lines(comparison: pd.DataFrame, has_sampled: bool, n_cells: int) -> list[str]:
    unread = int(comparison["w1_unit_error"].isna().sum())
    cells = f" in {n_cells} cells" if n_cells > 1 else ""
    lines = [
        f"{len(comparison)} readings{cells}, of which {unread} could not be read and are not drawn.",
        "Errors: absolute; mark at the mean, bar to the 95th percentile. Categorical questions: total variation.",
    ]
    if has_sampled:
        lines.append(
            "Sampled answers also have a sampling error: their bound, the short upright bar, is the bound plus the "
            "mean sampling error and three standard deviations."
        )
    return lines
