"""Distances between the main answer and each other estimate, by item: for review, not for choosing an estimate."""

from typing import Any

import pandas as pd

from valuesassets.answers.estimators import COLUMNS
from valuesassets.records.frames import column

ITEM = ["model", "language", "question_id", "wording"]


def derive_disagreements(probe: pd.DataFrame) -> pd.DataFrame:
    """Total variation distance, [0, 1], between each estimate and the main averaged answer.

    Args:
        probe: rows of `PROBE_DISTRIBUTIONS`; columns of estimates may be absent.

    Returns:
        One row per (item, available estimate): model, language, question_id, wording, estimator, tvd.
    """
    main = column(probe, "prob_averaged").astype(float)
    estimates = {name.removeprefix("prob_"): column(probe, name).astype(float) for name in COLUMNS if name in probe}
    differences = pd.DataFrame({name: (probs - main).abs() / 2 for name, probs in estimates.items()}, index=probe.index)
    # Without `min_count` an item without estimates would seem to agree perfectly.
    distances = differences.groupby([column(probe, name) for name in ITEM], sort=False).sum(min_count=1)
    long = distances.reset_index().melt(id_vars=ITEM, var_name="estimator", value_name="tvd")
    return pd.DataFrame(long.dropna(subset=["tvd"])).reset_index(drop=True)


def list_disagreements(probe: pd.DataFrame, threshold: float) -> tuple[list[dict[str, Any]], int, int]:
    """The estimates of a cell whose distance from the main answer exceeds the threshold, largest distance first.

    Returns:
        Their rows, the number of compared estimates, and the number of items that lack one. Where nothing was compared,
        a single row gives the reason.
    """
    distances, reasons = derive_disagreements(probe), probe.drop_duplicates(ITEM)["estimator_reason"].dropna()
    far = distances.loc[distances["tvd"] > threshold].sort_values("tvd", ascending=False)
    rows = far.loc[:, ["question_id", "wording", "estimator", "tvd"]].to_dict("records")
    if not len(distances):
        rows = [{"question_id": "(no item)", "reason": reasons.iloc[0] if len(reasons) else "nothing was asked"}]
    return rows, len(distances), len(reasons)


def summarise_disagreements(probe: pd.DataFrame, threshold: float) -> pd.DataFrame:
    """Per cell and estimate: items compared, median total variation, and the share of items above the threshold."""
    distances = derive_disagreements(probe)
    distances["is_far"] = distances["tvd"] > threshold
    groups = distances.groupby(["model", "language", "estimator"], sort=False)
    summary = groups.agg(n_items=("tvd", "size"), median_tvd=("tvd", "median"), share=("is_far", "mean"))
    return pd.DataFrame(summary).rename(columns={"share": "share_above_threshold"}).reset_index()
