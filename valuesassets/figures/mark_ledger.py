"""Lost answers: the share of each cell's marks that were not read, by reason."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures import style
from valuesassets.figures.status_bars import MOST_ROWS, draw_losses
from valuesassets.records.frames import parts_of, records, rows, rows_where

DETAILS = (["task", "model", "history"], ["task", "model"])
"""Levels of detail of a row: the first one with few enough rows is used, else the worst rows of the last one."""


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
    return draw_losses(shares, words, " cells", "share of the marks that were not read", title, planted)


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
