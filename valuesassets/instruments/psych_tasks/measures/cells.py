"""Tables of many cells in one, each row with its model and task."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from valuesassets.records.errors import MissingData
from valuesassets.records.frames import records


def table_of_cells(answers: Mapping[tuple[str, str], Mapping[str, pd.DataFrame]], name: str) -> pd.DataFrame:
    """One table of all cells.

    Raises:
        MissingData: there is no cell yet.
    """
    tables = [frames[name].assign(model=model, task=task) for (model, task), frames in answers.items()]
    if not tables:
        raise MissingData("no cell has been read yet; materialise readings and answer_distributions")
    with_rows = [frame.astype(object) for frame in tables if len(frame)] or tables[:1]
    return pd.concat(with_rows, ignore_index=True).infer_objects()


def tables_of_tasks(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One table of all tasks."""
    return pd.concat([frame.astype(object).assign(task=task) for task, frame in tables.items()], ignore_index=True)


def lost_marks(ledger: pd.DataFrame, marks: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """The histories of cells whose number of marks in the ledger is not that of the transcripts."""
    wanted = {task: int(frame["mark"].notna().sum()) for task, frame in marks.items()}
    sums = ledger.groupby(["model", "task", "history", "draw", "layout"], dropna=False)["marks"].sum().reset_index()
    return [
        row | {"wanted": wanted[row["task"]]}
        for row in records(sums)
        if row["task"] in wanted and row["marks"] != wanted[row["task"]]
    ]
