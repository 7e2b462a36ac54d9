"""One line for each of the survey's own analyses: what the UI says of its tables before anybody opens them."""

from collections.abc import Mapping

import pandas as pd


def cultural_map(frames: Mapping[str, pd.DataFrame]) -> str:
    """How many cells are placed, and how many of them are told from answers without content."""
    points = frames["points"]
    models = points.loc[points.kind == "model"]
    n_people = int(((points.kind == "human") & points.x.notna()).sum())
    told = models.is_distinguishable == True  # noqa: E712  # null where it cannot be said
    return (
        f"{int(models.x.notna().sum())} of {len(models)} cells placed, {int(told.sum())} told from answers without "
        f"content; people of {n_people} countries"
    )


def question_answers(frames: Mapping[str, pd.DataFrame]) -> str:
    """How many questions were asked in how many cells, and how many answers can be used."""
    answers = frames["answers"]
    n_cells = len(answers.drop_duplicates(["model", "language"]))
    usable = int(answers["option"].notna().sum())
    return f"{answers.question_id.nunique()} questions in {n_cells} cells; {usable} of {len(answers)} answers usable"


def simulated_worlds(frames: Mapping[str, pd.DataFrame]) -> str:
    """How many worlds there are, and how often intervals held the truth in them."""
    held = frames["coverage"].coverage
    n_worlds = int(frames["coverage"].n_worlds.iloc[0])
    return f"{n_worlds} worlds of each kind; intervals held the truth in {held.min():.0%} to {held.max():.0%}"
