"""Shares of faulty answers, by kind of fault."""

import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.backgrounds import short
from valuesassets.figures.status_bars import draw_losses


@style.styled
def draw_answer_quality(counts: pd.DataFrame, planted: bool = False) -> Figure:
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
    words = [f"{round(lost * n):,} of {int(n):,}" for lost, n in zip(shares.sum(axis=1), n_answers, strict=True)]
    title = "What is wrong with answers?" if statuses else "What is wrong with answers? Nothing."
    return draw_losses(shares, words, "", "share of the answers that are not ok", title, planted)
