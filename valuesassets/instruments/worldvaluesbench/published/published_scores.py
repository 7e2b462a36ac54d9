"""The published probe, and its published distances: 36 questions, four models with and without attributes, two nulls.

Source: Zhao et al. (2024), table 2; as printed, to two decimals. The authors have since withdrawn their data files and
changed their script, so a difference from these numbers is no evidence of an error.
"""

import functools
import hashlib
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldvaluesbench.measures.controls import without_attributes
from valuesassets.records.frames import column, parts_of, rows_where
from valuesassets.records.places import STUDIES

FILE = STUDIES / "worldvaluesbench" / "published_scores.csv"
NULLS = ("uniform", "majority")
"""Rows of the table that come from no model."""
THRESHOLDS = tuple(step / 20 for step in range(21))
ROUNDING = 1e-9
"""The tolerance for a distance on a threshold."""


@functools.cache
def load_published_scores() -> pd.DataFrame:
    """The printed numbers: `model`, `attributes` (`with`, `without`; null for nulls), `question_id`, `w1_seed`."""
    return pd.read_csv(FILE, keep_default_na=False, na_values=[""], dtype={"attributes": object})


def published_parts() -> Iterator[tuple[str, str | None, NDArray[np.float64]]]:
    """Each model, with or without attributes (None for a null), and its distances in the order of questions."""
    scores = load_published_scores().fillna({"attributes": ""})
    for (model, side), part in parts_of(scores, ["model", "attributes"]):
        yield model, side or None, column(part, "w1_seed").to_numpy(float)


def share_at_most(distances: NDArray[np.float64], threshold: float) -> float:
    """The share of finite distances that are at most a threshold, up to rounding; NaN without a finite distance.

    >>> share_at_most(np.array([0.1, 0.2, 0.30000000000000004]), 0.3)
    1.0
    >>> share_at_most(np.array([0.1, np.nan]), 0.3)
    1.0
    """
    finite = distances[np.isfinite(distances)]
    return float(np.mean(finite <= threshold + ROUNDING)) if finite.size else float("nan")


@functools.cache
def published_shares() -> pd.DataFrame:
    """Shares of the 36 questions whose published distance is at most a threshold, 0 to 1 in steps of .05.

    Columns `model`, `attributes`, `threshold`, `share`; `<=` gives the percentages of the paper's abstract.
    """
    return pd.DataFrame(
        {"model": model, "attributes": side, "threshold": threshold, "share": share_at_most(distances, threshold)}
        for model, side, distances in published_parts()
        for threshold in THRESHOLDS
    )


PROBE_ROWS = 8280
PROBE_SHA256 = "5d68c10538ea6c3007721e026519e01d6d98c868511f47491404788e6e64c44d"
"""The hash of the sorted lines (question, tab, D_INTERVIEW) of the published probe."""


def is_published_probe(samples: pd.DataFrame) -> bool:
    """Whether the samples are those of the published probe."""
    if len(samples) != PROBE_ROWS:
        return False
    lines = sorted(samples["question_id"].astype(str) + "\t" + samples["participant_id"].astype(str))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest() == PROBE_SHA256


def beside_published(scores: pd.DataFrame) -> pd.DataFrame:
    """The published distances (`model, attributes, question_id, w1_published`), and `w1_seed` of our models.

    Args:
        scores: rows of `derive_benchmark_scores`, of models with attributes and without.
    """
    everybody = rows_where(scores, subset="all")
    ours = everybody.set_index(["model", "question_id"])["w1_seed"].to_dict()
    for null in NULLS:
        keys = ((null, question_id) for question_id in everybody["question_id"])
        ours |= dict(zip(keys, everybody[f"w1_{null}_unit"], strict=True))
    published = load_published_scores().rename(columns={"w1_seed": "w1_published"})
    is_without = published["attributes"] == "without"
    names = published["model"].where(~is_without, published["model"].map(without_attributes))
    keys = zip(names, published["question_id"], strict=True)
    return published.assign(w1_seed=[ours.get(key) for key in keys])
