"""Do a model's answers vary with a person's background as people's do? Direction, exaggeration and slope."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.backgrounds import Shown, has_numbers, is_missing, legend_in, model_marks, short, shown_models
from valuesassets.figures.labels import Name, write_names
from valuesassets.figures.marks import draw_dots, mark, name_rows, say_nothing, shift
from valuesassets.records.frames import column, records, rows, rows_where

ALL = "all"
REFERENCES = {"people": (1.0, 1.0), "contrary": (-1.0, 1.0), "caricature": (1.0, 1.8), "blind": (0.0, 0.0)}
"""Reference points by direction and exaggeration."""
WORSE: style.Keywords = {"facecolor": "#F6E7DD", "edgecolor": "none"}
MARGIN = 1.3
SLOPES = {-0.5: -1, 0.5: 1, 1.0: 1, 1.5: 1}
"""Slopes whose curves are drawn, and on which side."""
STEP = 0.84


@style.styled
def draw_awareness_plane(awareness: pd.DataFrame, planted: bool = False) -> Figure:
    """Each model by direction and exaggeration (above), and its slope with its interval for every factor (below).

    Args:
        awareness: `model`, `factor` (`all` and each factor), `slope`, `slope_low`, `slope_high`, `exaggeration`,
            `direction`, and where known `direction_low`, `direction_high`, `exaggeration_low`, `exaggeration_high`,
            `planted_slope`. Nulls where people's groups, or a model's, do not differ.
    """
    models = shown_models(awareness)
    factors = [str(each) for each in dict.fromkeys(awareness["factor"])]
    lines = max(1, len(models.looks)) * len(factors)
    below_in = max(1.0, 0.13 * lines + 0.16 * len(factors))
    handles: list[Line2D | Patch] = [*model_marks(models, markersize=6)]
    handles += [mark("a point to compare with", "X", style.BLACK, markersize=6)]
    handles += [Patch(label="worse than without a background", **WORSE)]
    has_plants = has_numbers(awareness, "planted_slope")
    handles += [mark("planted slope", "|", style.BLACK, markersize=9, markeredgewidth=1.6)] if has_plants else []
    figure = style.new_figure(height_in=5.5 + below_in + legend_in(handles, 3))
    plane, slopes = figure.subplots(2, 1, height_ratios=(3.6, below_in))
    still = _draw_plane(plane, rows_where(awareness, factor=ALL), models)
    _draw_slopes(slopes, awareness, factors, models)
    hollow = f"Hollow, at the bottom: differs too little between groups for a direction ({', '.join(still)})."
    caption = [
        "Slope: the share of people's differences between groups that the model shows; direction times exaggeration.",
        *([hollow] if still else []),
        *models.notes,
    ]
    title = "Does a model move with a person's background as people do?"
    style.finish(figure, title, caption, handles, 3, planted)
    figure.draw_without_rendering()
    _name_points(plane, rows_where(awareness, factor=ALL), models)
    return figure


def _draw_plane(axes: Axes, overall: pd.DataFrame, models: Shown) -> list[str]:
    """Draw the models by direction and exaggeration; returns those that differ too little for a direction."""
    measured = _measured(overall, models)
    highest = max([2.0, *measured["exaggeration"].dropna().astype(float)]) + 0.25
    axes.fill([0, highest / 2, -MARGIN, -MARGIN], [0, highest, highest, 0], zorder=0, **WORSE)
    for slope, side in SLOPES.items():
        across = np.linspace(slope / highest, side * MARGIN, 60)
        axes.plot(across, slope / across, color=style.GREY, lw=0.6, ls=":", zorder=1)
        ground = WORSE["facecolor"] if slope < 0 else "white"
        axes.annotate(
            f"slope {slope:g}", (side * MARGIN, abs(slope) / MARGIN), xytext=(-2 * side, 0), textcoords="offset points",
            ha="right" if slope > 0 else "left", va="center", fontsize=style.SMALL_PT - 2, color=style.GREY,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": ground, "edgecolor": "none"},
        )  # fmt: skip
    for name, (x, y) in REFERENCES.items():
        axes.plot([x], [y], ls="", marker="X", color=style.BLACK, markersize=6, zorder=4, clip_on=False,
                  gid=f"reference {name}")  # fmt: skip
    still = []
    for row in records(measured):
        look = models.looks[str(row["model"])]
        is_still = bool(pd.isna(row["direction"]))
        if is_still:
            still.append(str(row["model"]))
        x, y = _place(row)
        for name, flat, place in (("direction", y, None), ("exaggeration", None, x)):
            low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
            if is_still or is_missing(low) or is_missing(high):
                continue
            along = np.array([low, high], dtype=float)
            fixed = np.full(2, place if flat is None else flat, dtype=float)
            axes.plot(*((along, fixed) if place is None else (fixed, along)), color=look.color, lw=1.2, zorder=3)
        axes.plot([x], [y], ls="", marker=look.marker, color=look.color, markersize=8, zorder=5, clip_on=False,
                  markerfacecolor="white" if is_still else look.color, gid=f"point {row['model']}")  # fmt: skip
    axes.axvline(0, color=style.GREY, lw=0.8)
    axes.set(xlim=(-MARGIN, MARGIN), ylim=(0, highest), xlabel="direction (1: people's, -1: the contrary)")
    axes.set_ylabel("exaggeration (1: as far as people)")
    return still


def _measured(overall: pd.DataFrame, models: Shown) -> pd.DataFrame:
    """The rows of the models in the figure that have a slope."""
    return rows(overall, overall["model"].isin(list(models.looks)) & overall["slope"].notna())


def _place(row: dict[str, float]) -> tuple[float, float]:
    """The position of a model in the plane; at its foot where it has no direction."""
    lacks = pd.isna(row["direction"])
    return (0.0 if lacks else float(np.clip(row["direction"], -MARGIN, MARGIN)),
            0.0 if lacks or pd.isna(row["exaggeration"]) else float(row["exaggeration"]))  # fmt: skip


def _name_points(axes: Axes, overall: pd.DataFrame, models: Shown) -> None:
    """Write names beside all points, after everything else has its place."""
    names = [
        Name(*_place(row), short(str(row["model"])), style.text_ink(models.looks[str(row["model"])].color), "bold",
             marker_pt=9, gid="model")
        for row in records(_measured(overall, models))
    ]  # fmt: skip
    names += [
        Name(x, y, name, style.BLACK, slant="italic", size_pt=style.SMALL_PT, marker_pt=8, gid="reference")
        for name, (x, y) in REFERENCES.items()
    ]
    labels = [
        (side * (MARGIN - back), abs(slope) / MARGIN) for slope, side in SLOPES.items() for back in (0.05, 0.12, 0.19)
    ]
    write_names(axes, names, nameless=labels)


def _draw_slopes(axes: Axes, awareness: pd.DataFrame, factors: list[str], models: Shown) -> None:
    """A row per factor, a dot per model with its interval."""
    if not has_numbers(awareness, "slope"):
        say_nothing(axes)
        axes.set_yticks([])
        return
    count = max(1, len(models.looks))
    step = STEP / count
    for number, (name, look) in enumerate(models.looks.items()):
        part = rows_where(awareness, model=name).drop_duplicates("factor").set_index("factor").reindex(factors)
        places = np.arange(len(factors)) + shift(number, count, step)
        draw_dots(axes, places, part, "slope", look.color, look.marker, size=4.5, lw=1.3, gid=f"slope {name}")
        if "planted_slope" in part:
            axes.plot(part["planted_slope"].astype(float), places, ls="", marker="|", color=style.BLACK,
                      markersize=7, markeredgewidth=1.4, gid=f"planted {name}")  # fmt: skip
    for value, look in ((0.0, "-"), (1.0, "--")):
        axes.axvline(value, color=style.BLACK, lw=0.8, ls=look, zorder=0)
    for place in range(1, len(factors)):
        axes.axhline(place - 0.5, color=style.PALE, lw=0.8, zorder=0)
    name_rows(axes, ["all factors" if each == ALL else each for each in factors], above=0.5, below=0.5)
    ends = np.concatenate([column(awareness, f"slope{end}").dropna().astype(float) for end in ("_low", "", "_high")])
    axes.set_xlim(min(-0.1, max(ends.min(), -2.5) - 0.1), max(1.1, min(ends.max(), 3.5) + 0.1))
    axes.set_xlabel("slope (1: as people, 0: blind)")
