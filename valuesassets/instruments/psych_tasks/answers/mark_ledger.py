"""`psych_tasks/mark_ledger`: what became of every mark, cell by cell; the sums are the files' opening delimiters."""

from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.material.statuses import ASKED, MarkStatus
from valuesassets.instruments.psych_tasks.tables import LEDGER
from valuesassets.records.frames import column, parts_of, records, rows

UNREAD = frozenset(str(status) for status in MarkStatus) - {str(status) for status in ASKED}
LEFT_OUT = {str(MarkStatus.NOT_ASKED)}
"""Of marks that a history cannot be had at: nothing was lost there."""


def derive_mark_ledger(marks: pd.DataFrame, task_marks: pd.DataFrame) -> pd.DataFrame:
    """Marks by model, task, experiment, history, kind and status.

    Args:
        marks: rows of `answer_distributions/marks` with `model` and `task`.
        task_marks: rows of `marks` with `task`; for the transcripts without any.
    """
    asked = rows(marks, marks["history"].notna())
    cells = asked.loc[:, ["model", "task", "history", "draw", "layout"]].drop_duplicates()
    unasked = rows(marks, marks["history"].isna()).drop(columns=["history", "draw", "layout"])
    empty = rows(task_marks, task_marks["status"] == str(MarkStatus.NO_MARKS))
    spread = [asked, unasked.merge(cells, on=["model", "task"])]
    if len(empty):
        spread.append(empty.merge(cells, on="task"))
    every = pd.concat([each.astype(object) for each in spread], ignore_index=True)
    return LEDGER.frame([_counted(part) for _, part in _groups(every)])


def _groups(every: pd.DataFrame) -> Any:
    names = ["model", "task", "experiment", "history", "draw", "layout", "kind", "status"]
    return every.groupby(names, sort=False, dropna=False)


def _counted(part: pd.DataFrame) -> dict[str, Any]:
    first = records(part.head(1))[0]
    row = {name: first[name] for name in ("model", "task", "experiment", "history", "draw", "layout", "kind", "status")}
    row["marks"] = 0 if first["status"] == MarkStatus.NO_MARKS else len(part)
    row["transcripts"] = len(part.drop_duplicates("participant"))
    several = column(part, "n_multi_token").astype(float)
    n = float(column(part, "n_candidates").astype(float).sum())
    is_known = bool(several.notna().any()) and n > 0
    row["share_multi_token"] = float(several.sum()) / n if is_known else None
    p_valid = column(part, "p_valid").astype(float).dropna()
    moved = moved_by_item(part)
    row |= {"moved_by_item": float(moved.median()) if len(moved) else None}
    return row | {"p_valid": float(p_valid.median()) if len(p_valid) else None}


def moved_by_item(marks: pd.DataFrame) -> pd.Series:
    """|ln share of the answer - ln of the mean share of its place at other marks| (nats), of marks that have both.

    A model that says the same whatever is asked has 0 everywhere: it goes by the place, or by the label, alone.
    """
    if "log_share_by_place" not in marks:
        return pd.Series(dtype=float)
    said = column(marks, "log_prob_human").astype(float) - np.log(column(marks, "p_valid").astype(float))
    return (said - column(marks, "log_share_by_place").astype(float)).abs().dropna()


def unread_share(marks: pd.DataFrame) -> float:
    """Share of the marks that should have been read and were not; where a history cannot be had, none is lost."""
    counted = rows(marks, ~column(marks, "status").isin([*LEFT_OUT, str(MarkStatus.NO_MARKS)]))
    return float(column(counted, "status").isin(list(UNREAD)).mean()) if len(counted) else 0.0


def unread_differ(marks: pd.DataFrame) -> list[dict[str, Any]]:
    """Whether answers at unread marks are others than at read ones, kind by kind, the most different first."""
    found = []
    answered = rows(marks, column(marks, "human_answer").notna() & ~column(marks, "status").isin(list(LEFT_OUT)))
    for (kind,), part in parts_of(answered.assign(kind=answered["kind"].fillna("")), ["kind"]):
        is_unread = column(part, "status").isin(list(UNREAD))
        if not 0 < is_unread.sum() < len(part):
            continue
        read, unread = (
            column(rows(part, each), "human_answer").value_counts(normalize=True) for each in (~is_unread, is_unread)
        )
        apart = unread.subtract(read, fill_value=0.0)
        answer = str(apart.abs().idxmax())
        found.append(
            {
                "kind": kind,
                "answer": answer,
                "share_unread": float(unread.reindex([answer]).fillna(0.0).iloc[0]),
                "share_read": float(read.reindex([answer]).fillna(0.0).iloc[0]),
                "n_unread": int(is_unread.sum()),
                "total_variation": float(apart.abs().sum() / 2),
            }
        )
    return sorted(found, key=lambda row: -row["total_variation"])
