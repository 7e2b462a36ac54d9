"""How much of a model's probability the candidates have: before an answer, and in the row behind it."""

from typing import Any

import pandas as pd

from valuesassets.records.frames import column, parts_of, rows


def masses_by_history(marks: pd.DataFrame) -> list[dict[str, Any]]:
    """The median P_valid of each history's marks; and as published code reads it, one row late, where that was read.

    `is_likelier_late` says that candidates are likelier behind the answer than before it: where a model is asked at the
    right place they are not, for there the answer has been given.
    """
    found = []
    for (history,), part in parts_of(rows(marks, column(marks, "p_valid").notna()), ["history"]):
        before = float(column(part, "p_valid").astype(float).median())
        late = column(part, "p_valid_late").astype(float).dropna()
        behind = float(late.median()) if len(late) else None
        row = {"history": history, "marks": len(part), "median_p_valid": before, "median_p_valid_late": behind}
        found.append(row | {"is_likelier_late": behind is not None and behind > before})
    return found
