"""`psych_tasks/mark_ledger`: the statuses of all marks, by cell; they add up to the opening delimiters of the files."""

from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.material.statuses import ASKED, MarkStatus
from valuesassets.instruments.psych_tasks.tables import LEDGER
from valuesassets.records.frames import column, parts_of, records, rows

UNREAD = frozenset(str(status) for status in MarkStatus) - {str(status) for status in ASKED}
LEFT_OUT = {str(MarkStatus.NOT_ASKED)}
"""Statuses of marks that have no such history: nothing was lost there."""
GROUPS = ["model", "task", "experiment", "history", "draw", "layout", "kind", "status"]


def derive_mark_ledger(marks: pd.DataFrame, task_marks: pd.DataFrame) -> pd.DataFrame:
    """Marks by model, task, experiment, history, kind and status.

    Args:
        marks: rows of `answer_distributions/marks` with `model` and `task`.
        task_marks: rows of `marks` with `task`; for the transcripts without marks.
    """
    with_history = rows(marks, marks["history"].notna())
    cells = with_history.loc[:, ["model", "task", "history", "draw", "layout"]].drop_duplicates()
    unasked = rows(marks, marks["history"].isna()).drop(columns=["history", "draw", "layout"])
    empty = rows(task_marks, task_marks["status"] == str(MarkStatus.NO_MARKS))
    spread = [with_history, unasked.merge(cells, on=["model", "task"])]
    if len(empty):
        spread.append(empty.merge(cells, on="task"))
    every = pd.concat([each.astype(object) for each in spread], ignore_index=True)
    return LEDGER.frame([_ledger_row(part) for _, part in every.groupby(GROUPS, sort=False, dropna=False)])


def _ledger_row(part: pd.DataFrame) -> dict[str, Any]:
    row = records(part.loc[:, GROUPS].head(1))[0]
    row["marks"] = 0 if row["status"] == MarkStatus.NO_MARKS else len(part)
    row["transcripts"] = len(part.drop_duplicates("participant"))
    several = column(part, "n_multi_token").astype(float)
    n = float(column(part, "n_candidates").astype(float).sum())
    row["share_multi_token"] = float(several.sum()) / n if several.notna().any() and n > 0 else None
    p_valid = column(part, "p_valid").astype(float).dropna()
    moved = moved_by_item(part)
    row |= {"moved_by_item": float(moved.median()) if len(moved) else None}
    return row | {"p_valid": float(p_valid.median()) if len(p_valid) else None}


def moved_by_item(marks: pd.DataFrame) -> pd.Series:
    """|ln share of the answer - ln of the mean share of its place at other marks| (nats), of marks that have both.

    A model that gives the same answer to every question has 0 everywhere: it chooses by place, or by label.
    """
    if "log_share_by_place" not in marks:
        return pd.Series(dtype=float)
    log_share = column(marks, "log_prob_human").astype(float) - np.log(column(marks, "p_valid").astype(float))
    return (log_share - column(marks, "log_share_by_place").astype(float)).abs().dropna()


def unread_share(marks: pd.DataFrame) -> float:
    """Share of the marks that should have been read and were not; marks without such a history do not count."""
    counted = rows(marks, ~column(marks, "status").isin([*LEFT_OUT, str(MarkStatus.NO_MARKS)]))
    return float(column(counted, "status").isin(list(UNREAD)).mean()) if len(counted) else 0.0


def unread_differ(marks: pd.DataFrame) -> list[dict[str, Any]]:
    """How answers at unread marks differ from those at read ones, by kind, the largest difference first."""
    differences = []
    answered = rows(marks, column(marks, "human_answer").notna() & ~column(marks, "status").isin(list(LEFT_OUT)))
    for (kind,), part in parts_of(answered.assign(kind=answered["kind"].fillna("")), ["kind"]):
        is_unread = column(part, "status").isin(list(UNREAD))
        if not 0 < is_unread.sum() < len(part):
            continue
        read, unread = (
            column(rows(part, each), "human_answer").value_counts(normalize=True) for each in (~is_unread, is_unread)
        )
        difference = unread.subtract(read, fill_value=0.0)
        answer = str(difference.abs().idxmax())
        differences.append(
            {
                "kind": kind,
                "answer": answer,
                "share_unread": float(unread.reindex([answer]).fillna(0.0).iloc[0]),
                "share_read": float(read.reindex([answer]).fillna(0.0).iloc[0]),
                "n_unread": int(is_unread.sum()),
                "total_variation": float(difference.abs().sum() / 2),
            }
        )
    return sorted(differences, key=lambda row: -row["total_variation"])


def masses_by_history(marks: pd.DataFrame) -> list[dict[str, Any]]:
    """Median P_valid of each history's marks, before the answer and, as published code reads it, one row late.

    `is_likelier_late` is true where the candidates are likelier behind the answer than before it: then the model was
    not asked at the right place, for behind it the answer has been given.
    """
    masses = []
    for (history,), part in parts_of(rows(marks, column(marks, "p_valid").notna()), ["history"]):
        before = float(column(part, "p_valid").astype(float).median())
        late = column(part, "p_valid_late").astype(float).dropna()
        behind = float(late.median()) if len(late) else None
        row = {"history": history, "marks": len(part), "median_p_valid": before, "median_p_valid_late": behind}
        masses.append(row | {"is_likelier_late": behind is not None and behind > before})
    return masses
