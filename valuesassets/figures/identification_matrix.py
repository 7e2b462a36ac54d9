"""Does a model know whose answers it reads: does a person's own history predict them better than another's?"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from valuesassets.figures import marks, style
from valuesassets.records.frames import rows

CHANCE = 0.5
MOST_ROWS = 40
"""Maximum number of rows with dots and intervals; with more, each model and task has a shade."""
MOST_PEOPLE = 60
NOTHING = pd.DataFrame(columns=pd.Index(["participant", "donor", "log_score"]))


@style.styled
def draw_identification_matrix(
    shares: pd.DataFrame, donors: pd.DataFrame | None = None, planted: bool = False
) -> Figure:
    """The share of pairs in which the own history predicts a person's answers better, by model and task.

    Args:
        shares: `task`, `model`, `share`, `low`, `high`, `n_participants`; .5 is chance.
        donors: of one cell `participant`, `donor`, `log_score` (nats), the participants' own histories too; a matrix of
            them stands below.
    """
    measured = rows(shares, shares["share"].notna())
    donor_scores = NOTHING if donors is None else donors
    people = list(dict.fromkeys(donor_scores["participant"]))[:MOST_PEOPLE]
    below_in = 3.6 if people else 0.0
    caption = ["Pairs of a person and another person with the same material; .5 is chance."]
    title = "Does a model know whose answers it reads?"
    handles: list[Line2D | Patch]
    if len(measured) > MOST_ROWS:
        figure, axes = _figure(0.165 * measured["model"].nunique() + 1.9, below_in)
        _draw_shades(figure, axes[0], measured)
        caption.append("x: the interval over participants holds .5.")
        handles = [marks.mark("interval holds .5", "x", style.BLACK, markersize=5)]
        is_whole = len(measured) == measured["model"].nunique() * measured["task"].nunique()
        handles += [] if is_whole else [marks.missing("not read")]
    else:
        figure, axes = _figure(0.24 * max(2, len(measured)) + 1.5, below_in)
        _draw_rows(axes[0], measured)
        handles = [marks.rule("chance", style.BLACK, "--")] if len(measured) else []
    if people:
        caption.append(
            f"Below: how much better a person's own history predicts them, for {len(people)} people of one cell."
        )
        _draw_people(figure, axes[1], donor_scores, people)
    return style.finish(figure, title, caption, handles, 3, planted)


def _figure(above_in: float, below_in: float) -> tuple[Figure, list[Axes]]:
    figure = style.new_figure(height_in=above_in + below_in)
    if not below_in:
        return figure, [figure.add_subplot()]
    return figure, list(figure.subplots(2, 1, height_ratios=(above_in, below_in)))


def _draw_rows(axes: Axes, measured: pd.DataFrame) -> None:
    """A dot with its interval for each task and model."""
    if not len(measured):
        marks.say_nothing(axes)
        axes.set_yticks([])
        return
    order = {name: place for place, name in enumerate(dict.fromkeys(measured["task"]))}
    ordered = measured.sort_values("task", key=lambda tasks: tasks.map(order), kind="stable")
    cells = [(str(task), str(model)) for task, model in zip(ordered["task"], ordered["model"], strict=True)]
    axes.set_ylim(len(cells), 0)
    renamed = ordered.rename(columns={"low": "share_low", "high": "share_high"})
    marks.draw_dots(axes, np.arange(len(cells)) + 0.5, renamed, "share", style.BLUE, gid="shares", zorder=3)
    axes.axvline(CHANCE, color=style.BLACK, lw=0.9, ls="--", zorder=1)
    for end in marks.family_ends(cells):
        axes.axhline(end, color=style.PALE, lw=0.8, zorder=0)
    marks.label_rows(axes, cells, 0.24)
    for place, n in enumerate(ordered["n_participants"]):
        marks.write_beside(axes, place + 0.5, f"{int(n):,} people")
    ends = np.concatenate([renamed[f"share{end}"].dropna().astype(float) for end in ("", "_low", "_high")])
    axes.set_xlim(min(0.35, float(ends.min()) - 0.03), 1.02)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=True, axis="x")
    axes.set_xlabel("share of pairs in which the own history does better")


def _draw_shades(figure: Figure, axes: Axes, measured: pd.DataFrame) -> None:
    """A shade for each model and task, crossed where the interval holds chance."""
    models, tasks = (list(dict.fromkeys(measured[name])) for name in ("model", "task"))
    values, low, high = (
        measured.pivot_table(index="model", columns="task", values=name, aggfunc="first")
        .reindex(index=models, columns=tasks)
        .to_numpy(dtype=float)
        for name in ("share", "low", "high")
    )
    limits = (min(0.4, float(np.nanmin(values))), max(0.6, float(np.nanmax(values))))
    marks.draw_heat(figure, axes, values, limits, "share")
    if len(tasks) <= 12:
        marks.write_values(axes, values, limits, style.SMALL_PT - 2)
    crossed = np.argwhere((low <= CHANCE) & (high >= CHANCE))
    axes.plot(
        crossed[:, 1] + 0.85, crossed[:, 0] + 0.5, ls="", marker="x", color=style.BLACK, markersize=3.5, gid="by chance"
    )
    axes.set_yticks(np.arange(len(models)) + 0.5, models, fontsize=marks.row_pt(0.17))
    marks.name_columns(axes, tasks)


def _draw_people(figure: Figure, axes: Axes, donors: pd.DataFrame, people: Sequence[str]) -> None:
    """Rows of participants, columns of donors of histories: the own log score minus that with the donor's history."""
    table = donors.pivot_table(index="participant", columns="donor", values="log_score", aggfunc="first")
    scores = table.reindex(index=people, columns=people).to_numpy(dtype=float)
    gains = np.diag(scores)[:, None] - scores
    widest = float(np.nanmax(np.abs(gains))) if np.isfinite(gains).any() else 0.0
    marks.draw_heat(figure, axes, gains, (-widest or -1.0, widest or 1.0), "own less another's (nats)")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set(xlabel="whose history is read", ylabel="whose answers are predicted")
