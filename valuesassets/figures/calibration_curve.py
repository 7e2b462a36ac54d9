"""Do answers occur as often as they are predicted?"""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.marks import rule
from valuesassets.figures.panels import is_crowd, looks_of, model_handles, new_panels
from valuesassets.measure.arrays import Array
from valuesassets.records.frames import column, rows, rows_where

COLUMNS = 3
LEAST_PT2, MOST_PT2 = 6.0, 70.0
"""Areas of the marks of the smallest and the largest bin."""


@style.styled
def draw_calibration_curve(quantiles: pd.DataFrame, planted: bool = False) -> Figure:
    """A panel for each task: how often the likeliest answer was given, against the share that a model gave it.

    Args:
        quantiles: a row per bin: `model`, `task`, `low` (of the bin), `foretold`, `observed`, `n_marks`.
    """
    measured = rows(quantiles, quantiles["foretold"].notna() & (quantiles["n_marks"] > 0))
    looks = looks_of(column(measured, "model"))
    handles = model_handles(looks, markersize=5)
    handles += [rule("all models together", style.BLACK, lw=1.4)] if is_crowd(looks) else []
    handles += [rule("as predicted", style.BLACK, "--")]
    tasks = list(dict.fromkeys(measured["task"]))
    labels = ("predicted", "observed")
    figure, panels, left_out = new_panels(tasks, COLUMNS, handles, 1.15, labels, style.BODY_PT - 1)
    for task, axes in zip(tasks, panels, strict=False):
        _draw_task(axes, rows_where(measured, task=task), looks)
    caption = [
        "Of the likeliest candidate after a person's own history: the share that it was given, and how often it was "
        "the answer. Below the line the model is too sure. Larger marks: more answers.",
        *left_out,
    ]
    return style.finish(figure, "Do answers occur as often as they are predicted?", caption, handles, 3, planted)


def _draw_task(axes: Axes, part: pd.DataFrame, looks: Mapping[str, style.Look]) -> None:
    axes.plot([0, 1], [0, 1], color=style.BLACK, lw=0.8, ls="--", zorder=1)
    most = float(part["n_marks"].max())
    task, crowded = part["task"].iloc[0], is_crowd(looks)
    for model, look in looks.items() if not crowded else ():
        curve = rows_where(part, model=model).sort_values("foretold")
        x, y = curve["foretold"].to_numpy(float), curve["observed"].to_numpy(float)
        axes.plot(x, y, color=look.color, lw=0.9, zorder=2, gid=f"curve {task} {model}")
        axes.scatter(x, y, _areas(curve, most), color=look.color, marker=look.marker, linewidths=0, alpha=0.9, zorder=3,
                     gid=f"bins {task} {model}")  # fmt: skip
    if crowded:
        x, y = part["foretold"].to_numpy(float), part["observed"].to_numpy(float)
        axes.scatter(
            x, y, _areas(part, most) / 4, color=style.GREY, linewidths=0, alpha=0.4, zorder=3, gid=f"bins {task}"
        )
        together = _together(part)
        axes.plot(together["foretold"], together["observed"], color=style.BLACK, lw=1.4, zorder=4, gid=f"all {task}")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    axes.set_yticks([0, 0.5, 1], ["0", ".5", "1"])
    axes.grid(visible=True)


def _areas(part: pd.DataFrame, most: float) -> Array:
    return LEAST_PT2 + (MOST_PT2 - LEAST_PT2) * part["n_marks"].to_numpy(float) / most


def _together(part: pd.DataFrame) -> pd.DataFrame:
    """The bins of all models in one, weighted by how many answers each has."""
    n = part["n_marks"].astype(float)
    sums = pd.DataFrame({name: part[name].astype(float) * n for name in ("foretold", "observed")} | {"n": n})
    grouped = sums.groupby(part["low"].to_numpy(float)).sum()
    return grouped.assign(**{name: grouped[name] / grouped["n"] for name in ("foretold", "observed")})
