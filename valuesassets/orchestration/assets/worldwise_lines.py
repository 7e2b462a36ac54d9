"""One line for each asset of worldwise: what its latest materialisation holds."""

import pandas as pd


def scenarios_line(frame: pd.DataFrame) -> str:
    """How many dilemmas there are."""
    return f"{len(frame)} dilemmas on {frame['axis'].nunique()} axes"


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
