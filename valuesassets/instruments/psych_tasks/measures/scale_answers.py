"""The analyses of scales: the answers at marks that are items of scales, as each analysis takes them, task by task."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.material.statuses import MarkStatus
from valuesassets.instruments.psych_tasks.material.task_files import Task
from valuesassets.instruments.psych_tasks.measures.keying import derive_keying
from valuesassets.instruments.psych_tasks.measures.model_lines import with_lines
from valuesassets.instruments.psych_tasks.measures.reliability import derive_reliability
from valuesassets.instruments.psych_tasks.published.published_scores import ScoredScale, derive_published_scores
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, rows
from valuesassets.records.settings.measuring import Inference

Frames = dict[str, pd.DataFrame]
CONSISTENT = ("alone", "own")
"""Histories without any human answer."""
NO_SCALES = "no task of the study has scales whose items are numbers and were read; add [scales.<name>] to a task file"


def reliability_of_scales(
    tasks: Mapping[str, Task], marks: pd.DataFrame, lines: Mapping[str, str], inference: Inference
) -> Frames:
    """Tables of `derive_reliability` for all tasks; arguments as in `_of_tasks`."""
    return _of_tasks(
        tasks, marks, lines, lambda part, scales: derive_reliability(consistency_frame(part, scales), inference.level)
    )


def keying_of_scales(
    tasks: Mapping[str, Task], marks: pd.DataFrame, lines: Mapping[str, str], inference: Inference
) -> Frames:
    """Tables of `derive_keying` for all tasks; arguments as in `_of_tasks`."""
    return _of_tasks(
        tasks, marks, lines, lambda part, scales: derive_keying(label_frame(part, scales), scales, inference.level)
    )


def published_scores_of_scales(
    tasks: Mapping[str, Task], marks: pd.DataFrame, lines: Mapping[str, str], inference: Inference, seed: int
) -> Frames:
    """Tables of `derive_published_scores` for all tasks; arguments as in `_of_tasks`."""

    def derive(part: pd.DataFrame, scales: Mapping[str, ScoredScale]) -> Frames:
        return derive_published_scores(published_frame(part), scales, seed, inference.level)

    return _of_tasks(tasks, marks, lines, derive)


def _of_tasks(
    tasks: Mapping[str, Task],
    marks: pd.DataFrame,
    lines: Mapping[str, str],
    derive: Callable[[pd.DataFrame, Mapping[str, ScoredScale]], Frames],
) -> Frames:
    """The tables of one analysis of scales with a column `task`.

    Each model's marks are those of its first layout. Kinds that do not flip have no presentation.

    Args:
        marks: rows of `answer_distributions/marks` with `model` and `task`.
        lines: the line of each model; a model that is not in it has the line of its name.

    Raises:
        MissingData: no task has scales that were read.
    """
    by_table: dict[str, list[pd.DataFrame]] = {}
    marks = with_lines(marks, lines)
    for name, task in tasks.items():
        part = rows(marks, column(marks, "task") == name)
        if scales := scales_of(task, part):
            unflipped = [kind.name for kind in task.kinds if not kind.flips]
            presentation = part["presentation"].where(~part["kind"].isin(unflipped), None)
            is_first = part["layout"] == part.groupby("model", sort=False)["layout"].transform("first")
            for table, frame in derive(rows(part.assign(presentation=presentation), is_first), scales).items():
                by_table.setdefault(table, []).append(frame.assign(task=name))
    if not by_table:
        raise MissingData(NO_SCALES)
    return {table: pd.concat(frames, ignore_index=True) for table, frames in by_table.items()}


def scales_of(task: Task, marks: pd.DataFrame) -> dict[str, ScoredScale]:
    """The scales of a task of which numbers were read, with the ends that the marks have."""
    scales = {}
    numeric = rows(marks, column(marks, "value_low").notna())
    for name, scale in task.scales.items():
        items = rows(numeric, numeric["mark"].isin(list(scale.items)))
        if len(items):
            low, high = float(items["value_low"].min()), float(items["value_high"].max())
            scales[name] = ScoredScale(scale.items, scale.reversed, low, high)
    return scales


def consistency_frame(marks: pd.DataFrame, scales: Mapping[str, ScoredScale]) -> pd.DataFrame:
    """Expected answers after histories without human answers, re-keyed, as `derive_reliability` takes them."""
    read = rows(marks, column(marks, "history").isin(CONSISTENT) & column(marks, "expected_value").notna())
    parts = []
    for name, scale in scales.items():
        items = rows(read, read["mark"].isin(list(scale.items)))
        is_reversed = items["mark"].isin(list(scale.reversed))
        expected = items["expected_value"].where(~is_reversed, scale.low + scale.high - items["expected_value"])
        parts.append(items.assign(scale=name, item=items["mark"], expected=expected))
    return pd.concat(parts, ignore_index=True)


def label_frame(marks: pd.DataFrame, scales: Mapping[str, ScoredScale]) -> pd.DataFrame:
    """Expected answers on the labels as shown, each block alone, as `derive_keying` takes them."""
    read = rows(marks, (column(marks, "history") == "alone") & column(marks, "expected_label").notna())
    parts = [rows(read, read["mark"].isin(list(scale.items))).assign(scale=name) for name, scale in scales.items()]
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(item=frame["mark"], expected=frame["expected_label"], lean=frame["label_lean"])


def published_frame(marks: pd.DataFrame) -> pd.DataFrame:
    """Participants' answers and their probabilities, as `derive_published_scores` takes them."""
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
