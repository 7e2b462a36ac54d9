"""One line for each kind of asset of psych tasks: the contents of its latest materialisation."""

from collections.abc import Mapping

import pandas as pd

from valuesassets.records.frames import records


def transcripts_line(transcripts: pd.DataFrame) -> str:
    """Numbers of people and of experiments."""
    n = transcripts["experiment"].nunique()
    longest = int(transcripts["text"].str.len().max())
    return (
        f"{len(transcripts)} participants of {n} experiment{'s' * (n != 1)}, the longest text of {longest} characters"
    )


def marks_line(marks: pd.DataFrame) -> str:
    """Number of marks of each status."""
    counts = marks["status"].value_counts()
    return ", ".join(f"{n} {status}" for status, n in counts.items())


def asked_line(asked_marks: pd.DataFrame) -> str:
    """Number of marks that each history asks."""
    is_asked = asked_marks["trial_id"].notna().groupby(asked_marks["history"], sort=False)
    return "marks asked: " + ", ".join(f"{history} {int(part.sum())} of {len(part)}" for history, part in is_asked)


def answers_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """Number of marks that were read, and the median P_valid."""
    marks = frames["marks"]
    n_read = int(marks["p_valid"].notna().sum())
    return f"{n_read} of {len(marks)} marks read, median P_valid {marks['p_valid'].astype(float).median():.2f}"


def ledger_line(ledger: pd.DataFrame) -> str:
    """Number of marks of all cells of each status."""
    counts = {str(status): int(n) for status, n in ledger.groupby("status")["marks"].sum().items()}
    return ", ".join(f"{n} {status}" for status, n in sorted(counts.items(), key=lambda each: -each[1]) if n)


def prediction_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """Number of cells, and in how many the gain of content is significant."""
    gains = frames["gains"]
    content = gains.loc[gains["gain"] == "content"]
    n_rejected = sum(bool(each) for each in content["is_rejected"] if each is not None and each == each)
    cells = len(frames["scores"].loc[:, ["model", "task"]].drop_duplicates())
    return f"{cells} cells; content beyond style in {n_rejected} of {len(content)}"


def keying_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """The verdict on each scale."""
    return "; ".join(f"{row['experiment']} {row['scale']}: {row['verdict']}" for row in records(frames["scales"]))


def scales_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """Number of rows with a number."""
    first = next(iter(frames.values()))
    n = int(first["reason"].isna().sum()) if "reason" in first else len(first)
    return f"{n} of {len(first)} rows with a number"


def layout_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """Number of comparisons of layouts, and the largest difference."""
    table = next(iter(frames.values()))
    share = table["share_other_likeliest"].astype(float).max()
    return f"{len(table)} comparisons; another likeliest candidate at {share:.0%} of the marks at most"


def calibration_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """Number of histories in which the planted probabilities were recovered."""
    recovery = frames["recovery"]
    n = int(recovery["is_recovered"].astype(bool).sum())
    worst = recovery["tvd_mean"].astype(float).max()
    return f"{n} of {len(recovery)} histories recovered, largest mean total variation {worst:.3f}"
