"""Tables of many cells in one, each row with its model and task; and the analyses of scales over them."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.instruments.psych_tasks.measures.keying import derive_keying
from valuesassets.instruments.psych_tasks.measures.model_lines import with_lines
from valuesassets.instruments.psych_tasks.measures.reliability import derive_reliability
from valuesassets.instruments.psych_tasks.measures.scale_answers import (
    consistency_frame,
    label_frame,
    of_each_task,
    published_frame,
)
from valuesassets.instruments.psych_tasks.published.published_scores import ScoredScale, derive_published_scores
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import records
from valuesassets.records.settings.measuring import Inference

Frames = dict[str, pd.DataFrame]


def table_of_cells(answers: Mapping[tuple[str, str], Mapping[str, pd.DataFrame]], name: str) -> pd.DataFrame:
    """One table of all cells.

    Raises:
        MissingData: there is no cell yet.
    """
    found = [frames[name].assign(model=model, task=task) for (model, task), frames in answers.items()]
    if not found:
        raise MissingData("no cell has been read yet; materialise readings and answer_distributions")
    kept = [frame.astype(object) for frame in found if len(frame)] or found[:1]
    return pd.concat(kept, ignore_index=True).infer_objects()


def tables_of_tasks(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """One table of all tasks."""
    return pd.concat([frame.astype(object).assign(task=task) for task, frame in tables.items()], ignore_index=True)


def lost_marks(ledger: pd.DataFrame, marks: Mapping[str, pd.DataFrame]) -> list[dict[str, Any]]:
    """The histories of cells whose marks in the ledger are not as many as the transcripts have."""
    wanted = {task: int(frame["mark"].notna().sum()) for task, frame in marks.items()}
    sums = ledger.groupby(["model", "task", "history", "draw", "layout"], dropna=False)["marks"].sum().reset_index()
    return [
        row | {"wanted": wanted[row["task"]]}
        for row in records(sums)
        if row["task"] in wanted and row["marks"] != wanted[row["task"]]
    ]


def reliability_of_scales(
    tasks: Mapping[str, Task], marks: pd.DataFrame, lines: Mapping[str, str], inference: Inference
) -> Frames:
    """The reliability of scale scores, task by task, in tables with a column `task`; see `_of_tasks`."""
    return _of_tasks(
        tasks, marks, lines, lambda own, scales: derive_reliability(consistency_frame(own, scales), inference.level)
    )


def keying_of_scales(
    tasks: Mapping[str, Task], marks: pd.DataFrame, lines: Mapping[str, str], inference: Inference
) -> Frames:
    """The same of what scales measure: what their items say, or a label."""
    return _of_tasks(
        tasks, marks, lines, lambda own, scales: derive_keying(label_frame(own, scales), scales, inference.level)
    )


def published_scores_of_scales(
    tasks: Mapping[str, Task], marks: pd.DataFrame, lines: Mapping[str, str], inference: Inference, seed: int
) -> Frames:
    """The same of published scores, beside their nulls."""
    return _of_tasks(
        tasks,
        marks,
        lines,
        lambda own, scales: derive_published_scores(published_frame(own), scales, seed, inference.level),
    )


def _of_tasks(
    tasks: Mapping[str, Task],
    marks: pd.DataFrame,
    lines: Mapping[str, str],
    derive: Callable[[pd.DataFrame, Mapping[str, ScoredScale]], Frames],
) -> Frames:
    """One analysis of scales, task by task, in one set of tables with a column `task`.

    Args:
        marks: rows of `answer_distributions/marks` with `model` and `task`.
        lines: by model the line that it belongs to; by its name where it is not there.

    Raises:
        MissingData: no task has scales that were read.
    """
    by_table: dict[str, list[pd.DataFrame]] = {}
    for task, own, scales in of_each_task(tasks, with_lines(marks, lines)):
        for table, frame in derive(own, scales).items():
            by_table.setdefault(table, []).append(frame.assign(task=task))
    return {table: pd.concat(frames, ignore_index=True) for table, frames in by_table.items()}
