"""Marks as items of scales: what each analysis of scales takes of them."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.instruments.psych_tasks.published.published_scores import ScoredScale
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, rows

CONSISTENT = ("alone", "own")
"""Histories without any human answer."""
NO_SCALES = "no task of the study has scales whose items are numbers and were read; add [scales.<name>] to a task file"


def scales_of(tasks: Mapping[str, Task], marks: pd.DataFrame) -> dict[str, dict[str, ScoredScale]]:
    """By task and name the scales of which numbers were read, with their ends as the marks have them."""
    found: dict[str, dict[str, ScoredScale]] = {}
    for name, task in tasks.items():
        own = rows(marks, (column(marks, "task") == name) & column(marks, "value_low").notna())
        for scale, items in task.scales.items():
            read = rows(own, own["mark"].isin(list(items.items)))
            if len(read):
                low, high = float(read["value_low"].min()), float(read["value_high"].max())
                found.setdefault(name, {})[scale] = ScoredScale(items.items, items.reversed, low, high)
    return found


def of_each_task(
    tasks: Mapping[str, Task], marks: pd.DataFrame
) -> Iterator[tuple[str, pd.DataFrame, dict[str, ScoredScale]]]:
    """Each task with scales, its marks in one layout and these; kinds that do not flip have no presentation.

    Raises:
        MissingData: no task has any.
    """
    scales = scales_of(tasks, marks)
    if not scales:
        raise MissingData(NO_SCALES)
    for name, own in scales.items():
        of_task = rows(marks, column(marks, "task") == name)
        still = [kind.name for kind in tasks[name].kinds if not kind.flips]
        turned = of_task["presentation"].where(~of_task["kind"].isin(still), None)
        yield name, _in_first_layout(of_task.assign(presentation=turned)), own


def _in_first_layout(marks: pd.DataFrame) -> pd.DataFrame:
    """The marks of each model in the first of the layouts that it was asked in."""
    first = marks.groupby("model", sort=False)["layout"].transform("first")
    return rows(marks, column(marks, "layout") == first)


def consistency_frame(marks: pd.DataFrame, scales: Mapping[str, ScoredScale]) -> pd.DataFrame:
    """Expected answers that rest on no human one, re-keyed: a row for each item, as `reliability` takes them."""
    read = rows(marks, column(marks, "history").isin(CONSISTENT) & column(marks, "expected_value").notna())
    found = []
    for name, scale in scales.items():
        own = rows(read, read["mark"].isin(list(scale.items)))
        is_reversed = own["mark"].isin(list(scale.reversed))
        expected = own["expected_value"].where(~is_reversed, scale.low + scale.high - own["expected_value"])
        found.append(own.assign(scale=name, item=own["mark"], expected=expected))
    return pd.concat(found, ignore_index=True)


def label_frame(marks: pd.DataFrame, scales: Mapping[str, ScoredScale]) -> pd.DataFrame:
    """Expected answers on the labels as they were shown, each block alone: as `keying` takes them."""
    read = rows(marks, (column(marks, "history") == "alone") & column(marks, "expected_label").notna())
    found = [rows(read, read["mark"].isin(list(scale.items))).assign(scale=name) for name, scale in scales.items()]
    frame = pd.concat(found, ignore_index=True)
    return frame.assign(item=frame["mark"], expected=frame["expected_label"], lean=frame["label_lean"])


def published_frame(marks: pd.DataFrame) -> pd.DataFrame:
    """What participants answered, and how likely the model found it: as `published_scores` takes them."""
    answered = rows(marks, (column(marks, "status") == str(MarkStatus.READ)) & column(marks, "human_value").notna())
    human = rows(answered, answered["history"] == "human")
    keys = ["model", "task", "experiment", "participant", "mark", "layout"]
    blank = rows(answered, answered["history"] == "blank")
    beside = blank.assign(q_blank_human=_share(blank, "log_prob_human", "p_valid")).loc[:, [*keys, "q_blank_human"]]
    human = human.assign(
        item=human["mark"],
        q_human=_share(human, "log_prob_human", "p_valid"),
        q_late_human=_share(human, "log_prob_human_late", "p_valid_late"),
    )
    return human.merge(beside, on=keys, how="left")


def _share(frame: pd.DataFrame, log_prob: str, total: str) -> np.ndarray:
    logs, totals = (frame[name].astype(float).to_numpy() for name in (log_prob, total))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(totals > 0, np.exp(logs) / totals, np.nan)
