"""Does a scale measure the content of its items, or a model's preference for labels?"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.backgrounds import is_missing
from valuesassets.figures.marks import rule
from valuesassets.figures.panels import is_crowd, looks_of, model_handles, new_panels
from valuesassets.records.frames import column, records, rows, rows_where

COLUMNS = 4
LEAST_ROOM = 0.5
"""Least half-width of a panel, in units of the scale, so that tiny differences do not look large."""


@style.styled
def draw_keying_plane(models: pd.DataFrame, scales: pd.DataFrame, planted: bool = False) -> Figure:
    """A panel for each scale: models by their means of forward- and of reverse-keyed items, without recoding.

    Args:
        models: `model`, `name` (of the scale), `forward_mean`, `reverse_mean`, `bias` (their mean less the midpoint).
        scales: `name`, `rho`, `pi_bias` with its ends; may be empty.
    """
    measured = rows(models, models["forward_mean"].notna() & models["reverse_mean"].notna())
    looks = looks_of(column(measured, "model"))
    handles = model_handles(looks, markersize=5)
    handles += [rule("label preference alone", style.VERMILLION, "--"), rule("trait alone", style.BLACK)]
    names = list(dict.fromkeys(measured["name"]))
    labels = ("forward-keyed", "reverse-keyed")
    figure, panels, left_out = new_panels(names, COLUMNS, handles, 1.25, labels, style.BODY_PT - 2)
    row_of_scale = {str(row["name"]): row for row in records(scales)} if len(scales) else {}
    for name, axes in zip(names, panels, strict=False):
        _draw_scale(axes, rows_where(measured, name=name), looks)
        _write_bias(axes, row_of_scale.get(name, {}), small=len(names) > 2)
    unknown = models["name"].nunique() - len(names)
    caption = [
        "Means over items, without recoding. Models that answer by the content of items lie along the falling line, "
        "models that prefer a label, whatever the content, along the rising one. π: the label's share of the "
        "differences between models, with its interval; ρ: correlation of the two means over models.",
        *[f"{unknown} scales without items of both keyings, or not read whole, are left to the tables."][:unknown],
        *left_out,
    ]
    title = "Does a scale measure a trait, or a preference for labels?"
    return style.finish(figure, title, caption, handles, 3, planted)


def _draw_scale(axes: Axes, part: pd.DataFrame, looks: Mapping[str, style.Look]) -> None:
    forward, reverse, bias = (part[name].astype(float) for name in ("forward_mean", "reverse_mean", "bias"))
    midpoint = float(((forward + reverse) / 2 - bias).median())
    widest = max(np.abs(forward - midpoint).max(), np.abs(reverse - midpoint).max())
    room = max(1.25 * float(widest), LEAST_ROOM)
    low, high = midpoint - room, midpoint + room
    axes.plot([low, high], [low, high], color=style.VERMILLION, lw=0.9, ls="--", zorder=1)
    axes.plot([low, high], [high, low], color=style.BLACK, lw=0.9, zorder=1)
    size = 3.5 if is_crowd(looks) else 5
    for row in records(part):
        look = looks[str(row["model"])]
        axes.plot(
            [row["forward_mean"]], [row["reverse_mean"]], ls="", marker=look.marker, color=look.color, markersize=size,
            alpha=0.7 if is_crowd(looks) else 1, zorder=3, gid=f"point {row['name']} {row['model']}",
        )  # fmt: skip
    axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    axes.locator_params(nbins=3)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")


def _write_bias(axes: Axes, row: Mapping[str, Any], small: bool) -> None:
    """Write rho and the label's share under the panel's name; inside the panel they would hide lines or points."""
    if is_missing(row.get("rho")):
        return
    text = f"ρ {row['rho']:.2f}, π {row['pi_bias']:.2f}"
    if not is_missing(row.get("pi_bias_low")) and not is_missing(row.get("pi_bias_high")):
        text += f" [{row['pi_bias_low']:.2f}, {row['pi_bias_high']:.2f}]"
    size = style.SMALL_PT - (1.5 if small else 0)
    axes.text(0, 1.02, text, transform=axes.transAxes, ha="left", va="bottom", fontsize=size, gid="bias")
    axes.set_title(axes.get_title(loc="left"), fontsize=style.SMALL_PT + (0 if small else 2), pad=size + 5)
