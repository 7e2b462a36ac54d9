"""The lines that the UI shows of the toy's analyses."""

import pandas as pd


def line(leanings: pd.DataFrame) -> str:
    """How many cells there are."""
    return f"{len(leanings)} cells"
