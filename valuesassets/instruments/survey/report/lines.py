"""A line of the UI for each of the survey's own analyses: the main numbers of its tables."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from valuesassets.records.frames import records


def cultural_map(frames: Mapping[str, pd.DataFrame]) -> str:
    """The number of placed cells, and of those that differ from answers without content."""
    points = frames["points"]
    models = points.loc[points.kind == "model"]
    n_people = int(((points.kind == "human") & points.x.notna()).sum())
    is_distinct = models.is_distinguishable == True  # noqa: E712  # may be null
    return (
        f"{int(models.x.notna().sum())} of {len(models)} cells placed, {int(is_distinct.sum())} distinguished from "
        f"answers without content; people of {n_people} countries"
    )


def question_answers(frames: Mapping[str, pd.DataFrame]) -> str:
    """The numbers of questions, cells and usable answers."""
    answers = frames["answers"]
    n_cells = len(answers.drop_duplicates(["model", "language"]))
    usable = int(answers["option"].notna().sum())
    return f"{answers.question_id.nunique()} questions in {n_cells} cells; {usable} of {len(answers)} answers usable"


def simulated_worlds(frames: Mapping[str, pd.DataFrame]) -> str:
    """The number of simulations, and the coverage of their intervals."""
    held = frames["coverage"].coverage
    n_simulations = int(frames["coverage"].n_worlds.iloc[0])
    return f"{n_simulations} simulations of each kind; intervals held the truth in {held.min():.0%} to {held.max():.0%}"


def shift(frames: Mapping[str, pd.DataFrame]) -> str:
    """The verdict on each shift towards each country."""
    return "; ".join(f"{row['shift']}: {_verdict(row)}" for row in records(frames["verdicts"]))


def _verdict(row: Mapping[str, Any]) -> str:
    return str(row["verdict"]) if isinstance(row["verdict"], str) else f"towards {row['toward']} no verdict"
