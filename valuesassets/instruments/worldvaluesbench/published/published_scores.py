"""The distances published with the benchmark: 36 questions, four models with and without attributes, two nulls.

Source: Zhao et al. (2024), table 2; as printed, to two decimals. Their data files have been withdrawn and their
script has changed since, so that a difference from them proves nothing.
"""

import functools
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.records.frames import column, parts_of
from valuesassets.records.places import STUDIES

FILE = STUDIES / "worldvaluesbench" / "published_scores.csv"
NULLS = ("uniform", "majority")
"""Models of the table that are answers which ask no model."""
THRESHOLDS = tuple(step / 20 for step in range(21))
ROUNDING = 1e-9
"""By which a distance may miss the threshold that it stands on."""


@functools.cache
def load_published_scores() -> pd.DataFrame:
    """Printed numbers: `model`, `attributes` (`with`, `without`; null for nulls), `question_id`, `w1_seed`."""
    return pd.read_csv(FILE, keep_default_na=False, na_values=[""], dtype={"attributes": object})


def published_parts() -> Iterator[tuple[str, str | None, NDArray[np.float64]]]:
    """Each model, with or without attributes (None: a null), and its distances in the order of the questions."""
    known = load_published_scores().fillna({"attributes": ""})
    for (model, asked), part in parts_of(known, ["model", "attributes"]):
        yield model, asked or None, column(part, "w1_seed").to_numpy(float)


def share_at_most(distances: NDArray[np.float64], threshold: float) -> float:
    """Share of the distances that are known which are at most a threshold; NaN where none is. Rounding does not count.

    >>> share_at_most(np.array([0.1, 0.2, 0.30000000000000004]), 0.3)
    1.0
    >>> share_at_most(np.array([0.1, np.nan]), 0.3)
    1.0
    """
    known = distances[np.isfinite(distances)]
    return float(np.mean(known <= threshold + ROUNDING)) if known.size else float("nan")


@functools.cache
def published_shares() -> pd.DataFrame:
    """Shares of the 36 questions whose published distance is at most a threshold, 0 to 1 in steps of .05.

    Columns `model`, `attributes`, `threshold`, `share`; `<=`, which gives the percentages of the paper's abstract.
    """
    return pd.DataFrame(
        {"model": model, "attributes": asked, "threshold": threshold, "share": share_at_most(distances, threshold)}
        for model, asked, distances in published_parts()
        for threshold in THRESHOLDS
    )
