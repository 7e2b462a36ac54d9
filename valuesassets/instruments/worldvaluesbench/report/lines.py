"""The line of each asset of WorldValuesBench in the UI, which summarises its latest materialisation."""

from collections.abc import Mapping

import pandas as pd

from valuesassets.records.frames import records, rows_where

Frames = Mapping[str, pd.DataFrame]


def questions_line(frame: pd.DataFrame) -> str:
    """The number of questions."""
    return f"{len(frame)} questions of {frame['category'].nunique()} categories"


def participants_line(frame: pd.DataFrame) -> str:
    """The number of people."""
    return f"{len(frame):,} people of {frame['country'].nunique()} countries"


def answers_line(frame: pd.DataFrame) -> str:
    """The number of answers."""
    answers = frame.drop(columns="participant_id")
    return f"{int((answers >= 0).to_numpy().sum()):,} answers to {answers.shape[1]} questions"


def splits_line(frame: pd.DataFrame) -> str:
    """The number of people in each split."""
    return ", ".join(f"{name} {n:,}" for name, n in frame["split"].value_counts().items())


def statistics_line(frames: Frames) -> str:
    """The number of examples."""
    whole = frames["splits"].iloc[0]
    return f"{int(whole['examples']):,} examples of {int(whole['participants']):,} people"


def samples_line(frame: pd.DataFrame) -> str:
    """The number of samples, and of rows of a file that are left out."""
    from valuesassets.instruments.worldvaluesbench.material.probe_samples import NOT_ASKED

    groups = frame[["continent", "settlement", "education"]].drop_duplicates()
    line = f"{len(frame):,} pairs of a person and a question, {len(groups)} groups"
    n, total = frame.attrs.get(NOT_ASKED, (0, 0))
    return line + (f"; {n:,} of {total:,} rows of the file are of questions not asked" if n else "")


def personas_line(frame: pd.DataFrame) -> str:
    """The number of distinct profiles."""
    return f"{len(frame):,} distinct profiles of {int(frame['n_people'].sum()):,} people"


def ratings_line(frame: pd.DataFrame) -> str:
    """The number of prompts that could be read."""
    once = frame.drop_duplicates(["question_id", "wording"])
    readable = once.loc[once["p_valid"].notna()]
    if not len(readable):
        return f"none of {len(once)} prompts could be read"
    return f"{len(readable)} of {len(once)} prompts read; median P_valid {readable['p_valid'].median():.2f}"


def decoded_line(frame: pd.DataFrame) -> str:
    """The number of written answers that are ratings."""
    parsed = int(frame["is_on_scale"].astype(bool).sum())
    return f"{parsed:,} of {len(frame):,} answers written are ratings" if len(frame) else "nothing was asked for"


def groups_line(frame: pd.DataFrame) -> str:
    """The number of groups, and of answers in them."""
    once = frame.drop_duplicates(["question_id", "continent", "settlement", "education"])
    return f"{len(once)} groups of a question, median {once['n'].median():g} answers"


def scores_line(frames: Frames) -> str:
    """The published score of each model."""
    scores = frames["scores"]
    whole = rows_where(scores, subset="all").groupby("model", sort=False)["w1_seed"].mean()
    return "the benchmark's own score: " + ", ".join(f"{name} {score:.3f}" for name, score in whole.items())


def distances_line(frame: pd.DataFrame) -> str:
    """The distance of each model from groups of people."""
    median = frame.groupby("model", sort=False)["w1_unit"].median()
    return "median W1 of a group: " + ", ".join(f"{name} {distance:.3f}" for name, distance in median.items())


def awareness_line(frames: Frames) -> str:
    """The slope of each model."""
    factors = frames["factors"]
    rows = records(rows_where(factors, factor="all"))
    parts = (f"{row['model']} {row['slope']:.2f} ({row['slope_low']:.2f} to {row['slope_high']:.2f})" for row in rows)
    return "slope: " + ", ".join(parts)


def readouts_line(frames: Frames) -> str:
    """The distance of each readout from the exact one."""
    rows = [row for row in records(frames["readouts"]) if row["w1_unit"] == row["w1_unit"]]
    parts = (f"{row['model']} {row['readout']} {row['w1_unit']:.3f}" for row in rows)
    return "mean W1 from the exact distribution: " + ", ".join(parts)
