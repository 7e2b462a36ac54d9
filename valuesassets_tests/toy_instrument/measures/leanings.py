"""`toy/leanings`: the mean yes of each task."""

from collections.abc import Mapping

import pandas as pd


def derive_leanings(answers: Mapping[tuple[str, str], pd.DataFrame]) -> pd.DataFrame:
    """A row for each cell that there is."""
    return pd.concat(answers.values()).groupby(["model", "task"], as_index=False)["yes"].mean()
