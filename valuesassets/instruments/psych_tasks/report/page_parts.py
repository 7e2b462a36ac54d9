"""Rows by task and scale, and intervals in words, for the sections of the psych tasks page."""

import re
from collections.abc import Sequence

import pandas as pd

from valuesassets.instruments.psych_tasks.report.pictures import named_scales
from valuesassets.records.frames import records
from valuesassets.reporting.interval_words import spelled
from valuesassets.reporting.parts import is_absent


def by_task(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows sorted by the tasks' first appearance, else in their order."""
    order = {name: place for place, name in enumerate(dict.fromkeys(frame["task"]))}
    return frame.sort_values("task", key=lambda tasks: tasks.map(order), kind="stable")


def of_scales(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with an unambiguous name of their scale in the column `scale`."""
    return named_scales(frame).drop(columns="scale").rename(columns={"name": "scale"})


def without_depth(alpha: str) -> str:
    """Alpha in words, where numbers below -1, which have no further meaning, are written `below -1`.

    >>> without_depth("-0.71 [-64.70, 1.00]"), without_depth("-962.28 to 0.98")
    ('-0.71 [below -1, 1.00]', 'below -1 to 0.98')
    """
    return re.sub(r"-\d+\.\d+", lambda number: number[0] if float(number[0]) >= -1 else "below -1", alpha)


def spell_ends(frame: pd.DataFrame, names: Sequence[str], digits: int = 2, is_signed: bool = False) -> pd.DataFrame:
    """The rows with each of these numbers and its ends in one column of words, empty where there is no number."""
    words = {
        name: [
            None
            if is_absent(row[name])
            else spelled(row[name], row.get(f"{name}_low"), row.get(f"{name}_high"), digits, is_signed)
            for row in records(frame)
        ]
        for name in names
        if name in frame
    }
    ends = [f"{name}{end}" for name in words for end in ("_low", "_high") if f"{name}{end}" in frame]
    return frame.drop(columns=ends).assign(
        **{name: pd.Series(texts, index=frame.index, dtype=object) for name, texts in words.items()}
    )
