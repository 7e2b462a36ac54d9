"""Shares of faulty answers, by kind of fault."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.backgrounds import legend_in, short
from valuesassets.figures.marks import name_rows, row_pt, say_nothing, write_beside
from valuesassets.figures.status_bars import draw_shares, status_handles, status_looks

MOST_ROWS = 48
"""Maximum number of rows; those with the largest losses are drawn."""


@style.styled
def draw_answer_quality(counts: pd.DataFrame, planted: bool = False, notes: Sequence[str] = ()) -> Figure:
    """A bar for each model and language: the share of its answers that are not ok, by status.

    Args:
        counts: `model`, `language`, `status`, `n` answers.
    """
    table = counts.pivot_table(
        index=["model", "language"], columns="status", values="n", aggfunc="sum", fill_value=0, sort=False
    )
    several = counts["model"].nunique() > 1
    table.index = pd.Index([f"{short(str(m))}, {code}" if several else str(code) for m, code in table.index])
    n_answers = table.sum(axis=1)
    sums = table.drop(columns="ok", errors="ignore").sum()
    statuses = [str(name) for name in sums[sums > 0].sort_values(ascending=False, kind="stable").index]
    shares = table.reindex(columns=statuses, fill_value=0).div(n_answers.where(n_answers > 0, 1), axis=0)
    caption = list(notes)
    if len(table) > MOST_ROWS:
        worst = shares.sum(axis=1).sort_values(ascending=False, kind="stable").index[:MOST_ROWS]
        caption.append(f"The {MOST_ROWS} of {len(table)} with the largest losses; the table has all of them.")
        shares, n_answers = shares.loc[worst], n_answers.loc[worst]
    looks = status_looks(statuses)
    handles = status_handles(looks)
    row_in = 0.17 if len(shares) > 12 else 0.24
    figure = style.new_figure(height_in=1.3 + row_in * max(2, len(shares)) + legend_in(handles, 4))
    axes = figure.add_subplot()
    if not len(shares):
        say_nothing(axes)
        axes.set_yticks([])
    else:
        draw_shares(axes, shares, looks)
        name_rows(axes, list(shares.index), row_pt(row_in))
        for place, (share, n) in enumerate(zip(shares.sum(axis=1), n_answers, strict=True)):
            write_beside(axes, place, f"{round(share * n):,} of {int(n):,}")
        axes.set_xlabel("share of the answers that are not ok")
    title = "What is wrong with answers?" if statuses else "What is wrong with answers? Nothing."
    return style.finish(figure, title, caption, handles, 4, planted)
