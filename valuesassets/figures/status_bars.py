"""Bars of shares by status, each with a colour and a hatch of its own: faulty answers and lost marks."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from valuesassets.figures import style
from valuesassets.figures.backgrounds import legend_in, short
from valuesassets.figures.marks import name_rows, row_pt, say_nothing, write_beside
from valuesassets.records.frames import parts_of, records, rows, rows_where

COLORS = (style.VERMILLION, style.BLUE, style.ORANGE, style.PURPLE, style.GREEN, style.SKY, style.BLACK, style.GREY)
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo", "****")
LEAST_SHARE = 0.01
"""The axis reaches this far where there is next to nothing."""
MOST_ROWS = 48
"""Maximum number of rows; those with the largest losses are drawn."""
DETAILS = (["task", "model", "history"], ["task", "model"])
"""Levels of detail of a row: the first one with few enough rows is used, else the worst rows of the last one."""


def status_looks(statuses: Sequence[str]) -> Mapping[str, style.Keywords]:
    """A colour and a hatch for each status; the ninth has the first colour and another hatch."""
    n, looks = len(COLORS), {}
    for place, name in enumerate(statuses):
        hatch = HATCHES[(place + place // n) % n]
        looks[name] = style.Keywords(facecolor=COLORS[place % n], hatch=hatch, edgecolor="white", lw=0)
    return looks


def status_handles(looks: Mapping[str, style.Keywords]) -> list[Patch]:
    """A legend's entries for statuses."""
    return [Patch(label=name.replace("_", " "), **look) for name, look in looks.items()]


def draw_shares(axes: Axes, shares: pd.DataFrame, looks: Mapping[str, style.Keywords]) -> None:
    """A bar for each row, made of the shares of its statuses; the axis is in percent.

    Args:
        shares: (rows, statuses); a part of a bar is called `<status> <row>`.
    """
    left = np.zeros(len(shares))
    for name, look in looks.items():
        width = shares[name].to_numpy(float)
        bars = axes.barh(range(len(shares)), width, left=left, height=0.72, **look)
        for number, bar in enumerate(bars):
            bar.set_gid(f"{name} {shares.index[number]}")
        left += width
    axes.set_xlim(0, max(LEAST_SHARE, float(left.max()) * 1.03))
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")


def _draw_losses(
    shares: pd.DataFrame, words: Sequence[str], things: str, label: str, title: str, planted: bool
) -> Figure:
    """A figure with a bar for each row, its name at the left and words at the right; the worst rows where many lose.

    Args:
        shares: (rows, statuses), see `draw_shares`; the index names the rows.
        things: what the rows are, for the note on those that are left out.
        label: of the axis.
    """
    places, notes = np.arange(len(shares)), []
    if len(shares) > MOST_ROWS:
        places = np.argsort(-shares.sum(axis=1).to_numpy(), kind="stable")[:MOST_ROWS]
        notes = [f"The {MOST_ROWS} of {len(shares)}{things} with the largest losses; the table has all of them."]
    drawn = shares.iloc[places]
    looks = status_looks(list(shares.columns))
    handles = status_handles(looks)
    row_in = 0.17 if len(drawn) > 12 else 0.24
    figure = style.new_figure(height_in=1.3 + row_in * max(2, len(drawn)) + legend_in(handles, 4))
    axes = figure.add_subplot()
    if not len(drawn):
        say_nothing(axes)
        axes.set_yticks([])
    else:
        draw_shares(axes, drawn, looks)
        name_rows(axes, [short(str(name), 44) for name in drawn.index], row_pt(row_in))
        for row, place in enumerate(places.tolist()):
            write_beside(axes, row, words[place])
        axes.set_xlabel(label)
    return style.finish(figure, title, notes, handles, 4, planted)


@style.styled
def draw_answer_quality(counts: pd.DataFrame, planted: bool = False) -> Figure:
    """A bar for each model and language: the share of its answers that are not ok, by status.

    Args:
        counts: `model`, `language`, `status`, `n` answers.
    """
    question = "What is wrong with answers?"
    return draw_statuses(counts, "ok", question, "share of the answers that are not ok", planted)


def draw_statuses(counts: pd.DataFrame, sound: str, question: str, label: str, planted: bool) -> Figure:
    """A bar for each model and language: the share of its answers that are not of the sound status, by status.

    Args:
        counts: `model`, `language`, `status`, `n` answers.
        question: the title, which is answered where all answers are sound.
        label: of the axis.
    """
    table = counts.pivot_table(
        index=["model", "language"], columns="status", values="n", aggfunc="sum", fill_value=0, sort=False
    )
    several = counts["model"].nunique() > 1
    table.index = pd.Index([f"{short(str(m))}, {code}" if several else str(code) for m, code in table.index])
    n_answers = table.sum(axis=1)
    sums = table.drop(columns=sound, errors="ignore").sum()
    statuses = [str(name) for name in sums[sums > 0].sort_values(ascending=False, kind="stable").index]
    shares = table.reindex(columns=statuses, fill_value=0).div(n_answers.where(n_answers > 0, 1), axis=0)
    words = [f"{round(lost * n):,} of {int(n):,}" for lost, n in zip(shares.sum(axis=1), n_answers, strict=True)]
    return _draw_losses(shares, words, "", label, question if statuses else f"{question} Nothing.", planted)


@style.styled
def draw_mark_ledger(
    ledger: pd.DataFrame, unread: Sequence[str], beside: Sequence[str] = (), planted: bool = False
) -> Figure:
    """A bar for each cell, or each history of one: the share of its marks that were not read, by status.

    Args:
        ledger: `task`, `model`, `history`, `status`, `marks`.
        unread: statuses of unread marks, the parts of a bar.
        beside: statuses that are no loss and are counted in words.
    """
    counted = _merge_equal_histories(rows(ledger, ledger["marks"] > 0))
    tables = (_counts(counted, names) for names in DETAILS)
    table = next((each for each in tables if len(each) <= MOST_ROWS), _counts(counted, DETAILS[-1]))
    sums = {status: int(part["marks"].sum()) for (status,), part in parts_of(counted, ["status"])}
    statuses = sorted(set(unread) & sums.keys(), key=lambda status: (-sums[status], status))
    n_marks, lost = table.sum(axis=1), table.reindex(columns=statuses, fill_value=0)
    shares = lost.div(n_marks.where(n_marks > 0, 1), axis=0)
    words = []
    for row, n_lost, n in zip(records(table), lost.sum(axis=1), n_marks, strict=True):
        others = [f"{int(row[each]):,} {each.replace('_', ' ')}" for each in beside if row.get(each, 0) > 0]
        words.append("; ".join([f"{int(n_lost):,} of {int(n):,}", *others]))
    title = "What was lost?" if statuses else "What was lost? No mark."
    return _draw_losses(shares, words, " cells", "share of the marks that were not read", title, planted)


def _merge_equal_histories(ledger: pd.DataFrame) -> pd.DataFrame:
    """The ledger with one row in place of several histories with equal losses of a model in a task."""
    parts = []
    for _, cell in parts_of(ledger, ["task", "model"]):
        histories_by_counts: dict[tuple[tuple[str, int], ...], list[str]] = {}
        for (history,), part in parts_of(cell, ["history"]):
            histories_by_counts.setdefault(tuple(sorted(zip(part["status"], part["marks"], strict=True))), []).append(
                str(history)
            )
        for names in histories_by_counts.values():
            first = rows_where(cell, history=names[0])
            parts.append(first if len(names) == 1 else first.assign(history=f"each of {len(names)} histories"))
    return pd.concat(parts, ignore_index=True) if parts else ledger


def _counts(ledger: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """(rows, statuses) numbers of marks in the ledger's order; rows are named by the columns in which they differ."""
    varying = [name for name in names if ledger[name].nunique() > 1] or list(names[:1])
    label = ledger[varying[0]].astype(str)
    for name in varying[1:]:
        label = label + ", " + ledger[name].astype(str)
    labelled = ledger.assign(label=label)
    for name in reversed(varying):  # in order of first occurrence
        order = {value: place for place, value in enumerate(dict.fromkeys(labelled[name]))}
        labelled = labelled.sort_values(name, key=lambda values, order=order: values.map(order), kind="stable")
    table = labelled.pivot_table(
        index="label", columns="status", values="marks", aggfunc="sum", fill_value=0, sort=False
    )
    return table.reindex(list(dict.fromkeys(labelled["label"])))
