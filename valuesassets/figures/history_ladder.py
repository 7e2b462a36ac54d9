"""What helps to predict a person's answers: the format, their use of the scale, or the content of their answers?"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.marks import rule, shift
from valuesassets.figures.panels import is_crowd, looks_of, model_handles, new_panels
from valuesassets.records.frames import column, rows, rows_where

LADDER = ("alone", "other", "permuted", "human")
STEPS = {
    ("alone", "other"): "format",
    ("other", "permuted"): "style",
    ("permuted", "human"): "content",
    ("other", "human"): "person",
    ("alone", "human"): "history",
}
"""Names of the steps between two consecutive histories."""
REFERENCES = {"uniform": ":", "crowd": "--", "counting": "-."}
"""Predictions without a model, and their line styles."""
COLUMNS = 3
STEP = 0.07


@style.styled
def draw_history_ladder(gains: pd.DataFrame, scores: pd.DataFrame, planted: bool = False) -> Figure:
    """A panel for each task: each model's log score with increasing parts of a person's history.

    Args:
        gains: `model`, `task`, `gain`, `estimate`, `is_rejected`; may be empty.
        scores: `model`, `task`, `history` (of `LADDER`, and the references), `log_score` with its ends in nats.
    """
    measured = rows(scores, scores["log_score"].notna())
    climbed = rows(measured, measured["history"].isin(LADDER))
    looks = looks_of(column(climbed, "model"))
    handles = model_handles(looks, ls="-", markersize=5)
    handles += [rule("median of the models", style.BLACK, lw=1.8)] if is_crowd(looks) else []
    handles += [rule(name, style.BLACK, ls, 0.9) for name, ls in REFERENCES.items() if name in set(measured["history"])]
    tasks = list(dict.fromkeys(climbed["task"]))
    labels, size = ("", "log score (nats)"), style.BODY_PT - 1 - (len(tasks) > 2)
    figure, panels, left_out = new_panels(tasks, COLUMNS, handles, 1.15, labels, size)
    for task, axes in zip(tasks, panels, strict=False):
        histories = [name for name in LADDER if name in set(rows_where(climbed, task=task)["history"])]
        _draw_models(axes, rows_where(climbed, task=task), histories, looks)
        for name, ls in REFERENCES.items():
            reference = rows_where(measured, task=task, history=name)
            if len(reference):
                level = float(reference["log_score"].astype(float).mean())
                axes.axhline(level, color=style.BLACK, lw=0.9, ls=ls, zorder=1, gid=f"{name} {task}")
        _name_steps(axes, histories, rows_where(gains, task=task) if len(gains) else gains)
        axes.set_xticks(range(len(histories)), histories, fontsize=style.SMALL_PT - (1.5 if len(tasks) > 2 else 0))
        axes.set_xlim(-0.35, max(len(histories) - 1, 0) + 0.35)
    caption = [
        "Higher is better; 0 is a certain and right prediction. Under a step: the number of models whose score it "
        "raises (↑) or lowers (↓), with p corrected over the models of a task.",
        *left_out,
    ]
    return style.finish(figure, "What in a history helps to predict a person's answers?", caption, handles, 3, planted)


def _draw_models(axes: Axes, part: pd.DataFrame, histories: Sequence[str], looks: Mapping[str, style.Look]) -> None:
    """A line for each model; of many, thin ones without intervals and their median."""
    crowded = is_crowd(looks)
    lines = []
    for number, (model, look) in enumerate(looks.items()):
        scores = rows_where(part, model=model).drop_duplicates("history").set_index("history").reindex(histories)
        middle, low, high = (scores[f"log_score{end}"].to_numpy(float) for end in ("", "_low", "_high"))
        if not np.isfinite(middle).any():
            continue
        lines.append(middle)
        places = np.arange(len(histories)) + (0 if crowded else shift(number, len(looks), STEP))
        drawn: style.Keywords = {"lw": 0.5, "alpha": 0.6} if crowded else {"lw": 1.2, "markersize": 4}
        marker = "" if crowded and len(histories) > 1 else look.marker
        axes.plot(places, middle, color=look.color, marker=marker, zorder=3,
                  gid=f"ladder {part['task'].iloc[0]} {model}", **drawn)  # fmt: skip
        if not crowded:
            axes.vlines(places, low, high, color=look.color, lw=1.2, zorder=2)
    if crowded and lines:
        median = np.nanmedian(np.array(lines), axis=0)
        axes.plot(
            range(len(histories)), median, color=style.BLACK, lw=1.8, zorder=4, gid=f"median {part['task'].iloc[0]}"
        )


def _name_steps(axes: Axes, histories: Sequence[str], gains: pd.DataFrame) -> None:
    """The name of each step above it, and in how many models it is surely above and below 0."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.32 * (high - low))
    for place, pair in enumerate(pairwise(histories)):
        if (name := STEPS.get(pair)) is None:
            continue
        text = name
        tested = rows(gains, (gains["gain"] == name) & gains["is_rejected"].notna()) if len(gains) else gains
        if len(tested):
            sure = rows(tested, tested["is_rejected"].astype(bool))["estimate"].astype(float)
            text += f"\n↑{int((sure > 0).sum())} ↓{int((sure < 0).sum())}"
        axes.text(
            place + 0.5, 0.985, text, transform=axes.get_xaxis_transform(), ha="center", va="top",
            fontsize=style.SMALL_PT - 1, linespacing=1.1, gid=f"step {name}",
        )  # fmt: skip
