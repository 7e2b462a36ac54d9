"""What was lost: the answers of each cell that were not read, and why."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.backgrounds import legend_in, short
from valuesassets.figures.marks import name_rows, row_pt, say_nothing, write_beside
from valuesassets.figures.status_bars import draw_shares, status_handles, status_looks
from valuesassets.records.frames import parts_of, rows, rows_where

MOST_ROWS = 48
"""Rows at most; the worst are shown."""
DETAILS = (["task", "model", "history"], ["task", "model"])
"""What a row stands for: the first of these of which there are few enough rows, else the worst rows of the last."""
READ = "read"


@style.styled
def draw_mark_ledger(
    ledger: pd.DataFrame,
    unread: Sequence[str],
    beside: Sequence[str] = (),
    planted: bool = False,
    notes: Sequence[str] = (),
) -> Figure:
    """A bar for each cell, or each history of one: the share of its marks that were not read, by status.

    Args:
        ledger: `task`, `model`, `history`, `status`, `marks`.
        unread: statuses that a bar is made of.
        beside: statuses that are counted in words, and no loss.
    """
    counted = _alike_together(rows(ledger, ledger["marks"] > 0))
    tables = (_counts(counted, names) for names in DETAILS)
    table = next((each for each in tables if len(each) <= MOST_ROWS), _counts(counted, DETAILS[-1]))
    sums = {status: int(part["marks"].sum()) for (status,), part in parts_of(counted, ["status"])}
    statuses = sorted(set(unread) & sums.keys(), key=lambda status: (-sums[status], status))
    of = table.sum(axis=1)
    shares = table.reindex(columns=statuses, fill_value=0).div(of.where(of > 0, 1), axis=0)
    said = list(notes)
    if len(table) > MOST_ROWS:
        kept = shares.sum(axis=1).sort_values(ascending=False, kind="stable").index[:MOST_ROWS]
        said.append(f"The {MOST_ROWS} of {len(table)} cells that lost most; the table has all of them.")
        table, shares, of = table.loc[kept], shares.loc[kept], of.loc[kept]
    looks = status_looks(statuses)
    handles = status_handles(looks)
    row_in = 0.17 if len(table) > 12 else 0.24
    figure = style.new_figure(height_in=1.3 + row_in * max(2, len(table)) + legend_in(handles, 4))
    axes = figure.add_subplot()
    if not len(table):
        say_nothing(axes)
        axes.set_yticks([])
    else:
        draw_shares(axes, shares, looks)
        for place, name in enumerate(table.index):
            lost = int(table.reindex(columns=statuses, fill_value=0).loc[name].sum())
            words = [f"{lost:,} of {int(of.loc[name]):,}"]
            words += [
                f"{int(table.loc[name, each]):,} {each.replace('_', ' ')}"
                for each in beside
                if each in table and table.loc[name, each] > 0
            ]
            write_beside(axes, place, "; ".join(words))
        name_rows(axes, [short(str(name), 44) for name in table.index], row_pt(row_in))
        axes.set_xlabel("share of the marks that were not read")
    title = "What was lost?" if statuses else "What was lost? No mark."
    return style.finish(figure, title, said, handles, 4, planted)


def _alike_together(ledger: pd.DataFrame) -> pd.DataFrame:
    """The rows with one history in place of several after which a model lost the same of a task."""
    kept = []
    for _, cell in parts_of(ledger, ["task", "model"]):
        alike: dict[tuple[tuple[str, int], ...], list[str]] = {}
        for (history,), part in parts_of(cell, ["history"]):
            alike.setdefault(tuple(sorted(zip(part["status"], part["marks"], strict=True))), []).append(str(history))
        for names in alike.values():
            first = rows_where(cell, history=names[0])
            kept.append(first if len(names) == 1 else first.assign(history=f"each of {len(names)} histories"))
    return pd.concat(kept, ignore_index=True) if kept else ledger


def _counts(ledger: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """(rows, statuses) marks, in the order of the ledger; rows named by what sets them apart."""
    told = [name for name in names if ledger[name].nunique() > 1] or list(names[:1])
    label = ledger[told[0]].astype(str)
    for name in told[1:]:
        label = label + ", " + ledger[name].astype(str)
    named = ledger.assign(label=label)
    for name in reversed(told):  # in the order in which each first stands there
        order = {value: place for place, value in enumerate(dict.fromkeys(named[name]))}
        named = named.sort_values(name, key=lambda values, order=order: values.map(order), kind="stable")
    found = named.pivot_table(index="label", columns="status", values="marks", aggfunc="sum", fill_value=0, sort=False)
    return found.reindex(list(dict.fromkeys(named["label"])))
