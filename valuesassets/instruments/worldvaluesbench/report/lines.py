"""One line for each asset of WorldValuesBench: what its latest materialisation holds."""

from collections.abc import Mapping

import pandas as pd

from valuesassets.records.frames import records, rows_where

Frames = Mapping[str, pd.DataFrame]


def questions_line(frame: pd.DataFrame) -> str:
    """How many questions are asked."""
    return f"{len(frame)} questions of {frame['category'].nunique()} categories"


def participants_line(frame: pd.DataFrame) -> str:
    """Who was asked."""
    return f"{len(frame):,} people of {frame['country'].nunique()} countries"


def answers_line(frame: pd.DataFrame) -> str:
    """How much they answered."""
    answers = frame.drop(columns="participant_id")
    return f"{int((answers >= 0).to_numpy().sum()):,} answers to {answers.shape[1]} questions"


def splits_line(frame: pd.DataFrame) -> str:
    """How people are split."""
    return ", ".join(f"{name} {n:,}" for name, n in frame["split"].value_counts().items())


def statistics_line(frames: Frames) -> str:
    """How many examples there are, and what was left out."""
    whole = frames["splits"].iloc[0]
    return f"{int(whole['examples']):,} examples of {int(whole['participants']):,} people"


def samples_line(frame: pd.DataFrame) -> str:
    """About whom is asked, and how much of a file of samples is left out."""
    from valuesassets.instruments.worldvaluesbench.material.probe_samples import NOT_ASKED

    groups = frame[["continent", "settlement", "education"]].drop_duplicates()
    asked = f"{len(frame):,} pairs of a person and a question, {len(groups)} groups"
    n, of = frame.attrs.get(NOT_ASKED, (0, 0))
    return asked + (f"; {n:,} of {of:,} rows of the file are of questions not asked" if n else "")


def personas_line(frame: pd.DataFrame) -> str:
    """How many different people are described."""
    return f"{len(frame):,} distinct profiles of {int(frame['n_people'].sum()):,} people"


def ratings_line(frame: pd.DataFrame) -> str:
    """How much of a cell could be read."""
    once = frame.drop_duplicates(["question_id", "wording"])
    read = once.loc[once["p_valid"].notna()]
    if not len(read):
        return f"none of {len(once)} prompts could be read"
    return f"{len(read)} of {len(once)} prompts read; median P_valid {read['p_valid'].median():.2f}"


def decoded_line(frame: pd.DataFrame) -> str:
    """How much of what was written is a rating."""
    parsed = int(frame["is_on_scale"].astype(bool).sum())
    return f"{parsed:,} of {len(frame):,} answers written are ratings" if len(frame) else "nothing was asked for"


def groups_line(frame: pd.DataFrame) -> str:
    """How many answers a group has."""
    once = frame.drop_duplicates(["question_id", "continent", "settlement", "education"])
    return f"{len(once)} groups of a question, median {once['n'].median():g} answers"


def scores_line(frames: Frames) -> str:
    """The benchmark's own score of each model."""
    scores = frames["scores"]
    whole = rows_where(scores, subset="all").groupby("model", sort=False)["w1_seed"].mean()
    return "the benchmark's own score: " + ", ".join(f"{name} {score:.3f}" for name, score in whole.items())


def distances_line(frame: pd.DataFrame) -> str:
    """How far models are from groups of people."""
    median = frame.groupby("model", sort=False)["w1_unit"].median()
    return "median W1 of a group: " + ", ".join(f"{name} {distance:.3f}" for name, distance in median.items())


def awareness_line(frames: Frames) -> str:
    """The slope of each model."""
    factors = frames["factors"]
    rows = records(rows_where(factors, factor="all"))
    shown = (f"{row['model']} {row['slope']:.2f} ({row['slope_low']:.2f} to {row['slope_high']:.2f})" for row in rows)
    return "slope: " + ", ".join(shown)


def readouts_line(frames: Frames) -> str:
    """How far readouts are from the exact one."""
    rows = [row for row in records(frames["readouts"]) if row["w1_unit"] == row["w1_unit"]]
    shown = (f"{row['model']} {row['readout']} {row['w1_unit']:.3f}" for row in rows)
    return "mean W1 from the exact distribution: " + ", ".join(shown)
