"""One line for each asset of worldwise: what its latest materialisation holds."""

from collections.abc import Mapping

import pandas as pd

from valuesassets.records.frames import parts_of, rows


def scenarios_line(frame: pd.DataFrame) -> str:
    """How many dilemmas there are."""
    return f"{len(frame)} dilemmas on {frame['axis'].nunique()} axes"


def exemplars_line(frame: pd.DataFrame) -> str:
    """How many sentences there are."""
    return f"{len(frame)} sentences on {frame['axis'].nunique()} axes"


def axes_line(frames: Mapping[str, pd.DataFrame]) -> str:
    """How far each axis of each embedder can be relied on."""
    said = []
    for (embedder,), part in parts_of(frames["validity"], ["embedder"]):
        shown = ", ".join(
            f"{axis} {auc:.2f}{'' if is_valid else ' (not valid)'}"
            for axis, auc, is_valid in zip(part["axis"], part["held_out_auc"], part["is_valid"], strict=True)
        )
        said.append(f"{embedder}: {shown}")
    return f"held-out AUC of {'; '.join(said)}"


def reasons_line(frame: pd.DataFrame) -> str:
    """What became of the answers of a cell."""
    return ", ".join(f"{n} {status}" for status, n in frame["status"].value_counts().items()) or "nobody is asked"


def vectors_line(frame: pd.DataFrame) -> str:
    """How many texts are vectors."""
    counts = frame["kind"].value_counts()
    return ", ".join(f"{n} of {kind}" for kind, n in counts.items()) or "no text"


def projections_line(frame: pd.DataFrame) -> str:
    """Where reasons stand on the axes of their dilemmas."""
    own = rows(frame, frame["is_own_axis"].astype(bool) & (frame["status"] == "ok"))
    means = own.groupby("axis", sort=False)["position"].mean()
    shown = ", ".join(f"{axis} {position:+.2f}" for axis, position in means.items())
    return f"mean position: {shown}" if shown else "no reason is placed"


def choices_line(frame: pd.DataFrame) -> str:
    """How much of a cell could be read, and how it leans."""
    if not len(frame):
        return "nobody is asked"
    read = frame.loc[frame["status"] == "ok"]
    if not len(read):
        return f"none of {len(frame)} choices could be read"
    leans = read.groupby("axis", sort=False)["lean"].mean()
    shown = ", ".join(f"{axis} {lean:+.2f}" for axis, lean in leans.items())
    return f"{len(read)} of {len(frame)} choices read; mean lean: {shown}"
