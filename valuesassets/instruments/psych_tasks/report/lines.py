"""One line for each kind of asset of psych tasks: what the latest materialisation holds."""

from collections.abc import Mapping

import pandas as pd

from valuesassets.records.frames import records


def transcripts_line(transcripts: pd.DataFrame) -> str:
    """How many people, of how many experiments."""
    n = transcripts["experiment"].nunique()
    longest = int(transcripts["text"].str.len().max())
    return (
        f"{len(transcripts)} participants of {n} experiment{'s' * (n != 1)}, the longest text of {longest} characters"
    )


def marks_line(marks: pd.DataFrame) -> str:
    """How many marks there are of each status."""
    counts = marks["status"].value_counts()
    return ", ".join(f"{n} {status}" for status, n in counts.items())


def asked_line(asked: pd.DataFrame) -> str:
    """How many marks each history asks."""
    known = asked["trial_id"].notna().groupby(asked["history"], sort=False)
    said = (f"{history} {int(here.sum())} of {len(here)}" for history, here in known)
    return "marks asked: " + ", ".join(said)


def answers_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """How many marks were read."""
    marks = frames["marks"]
    n_read = int(marks["p_valid"].notna().sum())
    return f"{n_read} of {len(marks)} marks read, median P_valid {marks['p_valid'].astype(float).median():.2f}"


def ledger_line(ledger: pd.DataFrame) -> str:
    """How many marks of all cells are of each status."""
    counts = {str(status): int(n) for status, n in ledger.groupby("status")["marks"].sum().items()}
    return ", ".join(f"{n} {status}" for status, n in sorted(counts.items(), key=lambda each: -each[1]) if n)


def prediction_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """What the ladder says, in how many cells."""
    gains = frames["gains"]
    found = gains.loc[gains["gain"] == "content"]
    n_rejected = sum(bool(each) for each in found["is_rejected"] if each is not None and each == each)
    cells = len(frames["scores"].loc[:, ["model", "task"]].drop_duplicates())
    return f"{cells} cells; content beyond style in {n_rejected} of {len(found)}"


def keying_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """What each scale measures."""
    said = (f"{row['experiment']} {row['scale']}: {row['verdict']}" for row in records(frames["scales"]))
    return "; ".join(said)


def scales_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """How many scales there are numbers of."""
    first = next(iter(frames.values()))
    n = int(first["reason"].isna().sum()) if "reason" in first else len(first)
    return f"{n} of {len(first)} rows with a number"


def layout_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """How far layouts differ."""
    table = next(iter(frames.values()))
    share = table["share_other_likeliest"].astype(float).max()
    return f"{len(table)} comparisons; another likeliest candidate at {share:.0%} of the marks at most"


def calibration_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """How well what was planted came back."""
    recovery = frames["recovery"]
    n = int(recovery["is_recovered"].astype(bool).sum())
    worst = recovery["tvd_mean"].astype(float).max()
    return f"{n} of {len(recovery)} histories recovered, largest mean total variation {worst:.3f}"
