"""Share of questions in which a model is closer to people than a threshold: the published curves with their nulls."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.backgrounds import Shown, ask_marks, legend_in, looks_beside, model_marks, shown_models
from valuesassets.figures.marks import mark
from valuesassets.records.frames import rows_where

ALL = "all"
PERFECT = "perfect"
"""The model of the rows that say what a model does whose only fault is that few people were asked."""
NULLS: dict[str, style.Keywords] = {
    "people of another split": {"color": style.BLACK, "marker": "", "ls": "-", "lw": 0.8},
    "uniform": {"color": style.GREY, "marker": "x", "ls": ":", "markersize": 4, "lw": 1},
    "majority": {"color": style.GREY, "marker": "+", "ls": "-.", "markersize": 5, "lw": 1},
}
BAND: style.Keywords = {"facecolor": style.PALE, "edgecolor": style.GREY, "lw": 0.6}


@style.styled
def draw_threshold_curves(
    shares: pd.DataFrame,
    published: pd.DataFrame | None = None,
    subsets: Sequence[str] = (ALL, "urban", "rural"),
    planted: bool = False,
    level: float = 0.95,
) -> Figure:
    """Share of the questions whose distance is at most a threshold, a panel per subset of people.

    Args:
        shares: `model`, `attributes` (`with`, `without`; null for answers that know no background), `subset`,
            `threshold`, `share`; `share_low` and `share_high` in the rows of the model `perfect`.
        published: the same of other models, as printed elsewhere; a panel beside ours.
        subsets: of people, in the order of their panels; those that are not there are left out.
        level: share of draws that the perfect model's band holds.
    """
    present = [subset for subset in subsets if subset in set(shares["subset"])]
    panels = [(_named(subset), rows_where(shares, subset=subset)) for subset in present]
    not_models = [*NULLS, PERFECT]
    ours = shown_models(shares, not_models)
    sets = [ours] * len(panels)
    if published is not None and len(published):
        panels.append(("published", published))
        sets.append(looks_beside(ours, published, not_models))
    parts = [part for _, part in panels]
    handles: list[Line2D | Patch] = [*model_marks(ours, ls="-", markersize=5, markerfacecolor="white")]
    if len(sets) > len(present):
        handles += model_marks(sets[-1], " (published)", ls="-", markersize=5, markerfacecolor="white")
    handles += [*ask_marks(parts), *_null_marks(parts, level)]
    across = 3 if len(panels) in (3, 5, 6) else min(2, len(panels)) or 1
    down = -(-max(len(panels), 1) // across)
    figure = style.new_figure(height_in=1.9 + 2.35 * down + legend_in(handles, 4))
    every = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, (title, part), models in zip(every, panels, sets, strict=False):
        _draw_curves(axes, part, models)
        axes.set_title(title)
    for axes in every[len(panels) :]:
        axes.set_visible(False)
    every[0].set(xlim=(0, _reach(parts)), ylim=(-0.02, 1.02))
    for number, axes in enumerate(every[: len(panels)]):
        if number % across == 0:
            axes.set_ylabel("share of questions")
        if number + across >= len(panels):
            axes.set_xlabel("W1 at most")
            axes.tick_params(labelbottom=True)
    caption = [
        "W1 between all answers of people and of a model, pooled over groups; it ignores who gave which answer.",
        *ours.notes,
    ]
    title = "In how many questions is a model near people's answers, all groups pooled?"
    return style.finish(figure, title, caption, handles, n_columns=4, planted=planted)


def _draw_curves(axes: Axes, part: pd.DataFrame, models: Shown) -> None:
    perfect = rows_where(part, model=PERFECT).sort_values("threshold")
    if len(perfect) and "share_low" in perfect:
        axes.fill_between(perfect["threshold"], perfect["share_low"], perfect["share_high"], **BAND)
    for name, look in NULLS.items():
        null = rows_where(part, model=name).sort_values("threshold")
        axes.plot(null["threshold"], null["share"], markevery=2, gid=f"{name} null", **look)
    for number, (name, look) in enumerate(models.looks.items()):
        for attributes, ls in models.line_styles.items():
            line = rows_where(part, model=name, attributes=attributes).sort_values("threshold")
            axes.plot(line["threshold"], line["share"], color=look.color, ls=ls, lw=1.4, marker=look.marker,
                      markevery=(number % 3, 3), markersize=4, markerfacecolor="white",
                      gid=f"{name} {attributes}")  # fmt: skip
    axes.grid()


def _reach(parts: Sequence[pd.DataFrame]) -> float:
    """The least threshold under which every curve has reached 1, at least .5."""
    open_ends = [float(part.loc[part["share"] < 1, "threshold"].max()) for part in parts if len(part)]
    ends = [end for end in open_ends if np.isfinite(end)]
    return min(1.0, max([0.5, *(end + 0.05 for end in ends)]))


def _null_marks(parts: Sequence[pd.DataFrame], level: float) -> list[Line2D | Patch]:
    present = {str(name) for part in parts for name in part["model"]}
    handles: list[Line2D | Patch] = [mark(name, **look) for name, look in NULLS.items() if name in present]
    return handles + ([Patch(label=f"perfect model, {level:.0%} of draws", **BAND)] if PERFECT in present else [])


def _named(subset: str) -> str:
    return "all people" if subset == ALL else subset.replace("_", " ")
