"""The evaluation of files of ratings, and its tables as files."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import Probe
from valuesassets.instruments.worldvaluesbench.answers.rating_sources import Given
from valuesassets.instruments.worldvaluesbench.material.backgrounds import FACTORS
from valuesassets.instruments.worldvaluesbench.material.probe_samples import People
from valuesassets.instruments.worldvaluesbench.measures import controls
from valuesassets.instruments.worldvaluesbench.measures.awareness import derive_awareness
from valuesassets.instruments.worldvaluesbench.measures.benchmark_scores import (
    derive_threshold_shares,
)
from valuesassets.instruments.worldvaluesbench.measures.gathered import Gathered, Ledger, gather_probe
from valuesassets.instruments.worldvaluesbench.measures.rating_checks import check_independent_of_groups, check_usable
from valuesassets.instruments.worldvaluesbench.measures.set_ratings import distances_of_set
from valuesassets.instruments.worldvaluesbench.published.published_scores import beside_published, is_published_probe
from valuesassets.records.csv_tables import csv_text
from valuesassets.records.errors import RatingsError
from valuesassets.records.files import write_text
from valuesassets.records.frames import records, stacked

RESAMPLES = 2000
CONTROL_RESAMPLES = 400
"""The most resamples for controls, which are three times as many as models."""
COLUMNS = {
    "group_distances": (
        "model",
        "question_id",
        *FACTORS,
        "n",
        "effective_n",
        "w1_unit",
        "w1_floor_unit",
        "cramer_unit",
    ),
    "awareness": (
        *("model", "factor", "slope", "slope_low", "slope_high", "exaggeration", "direction", "skill"),
        *("p_value", "n_arrangements"),
    ),
}
"""The columns of tables that are not written whole."""
FILES = ("benchmark_scores", "threshold_shares", *COLUMNS, "rating_orders", "ledger", "published_scores")
AWARENESS = {"factors": "awareness"} | {name: f"awareness_{name}" for name in ("categories", "questions", "style_free")}
"""The names of the tables of `derive_awareness` among the tables of an evaluation."""


def evaluate(
    dataset: People,
    samples: pd.DataFrame,
    ratings: Mapping[str, Given],
    without: Mapping[str, Given] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    min_group: int = 5,
) -> dict[str, pd.DataFrame]:
    """Tables by name: `benchmark_scores, threshold_shares, group_distances, awareness, ..., rating_orders, ledger`.

    Rows of models come first, then those of `controls`. With the published probe there are `published_scores` too.

    Args:
        samples: rows of `probe_samples`.
        ratings, without: by model, files or frames of ratings with attributes and without (`ratings_files`).
        resamples: of people within groups, for the intervals.
        min_group: fewest people with an answer for a group to be compared in a question; pooled scores use everybody.

    Raises:
        RatingsError: as `gather_probe`; no ratings; a model has the name of a control.
    """
    _require_names(ratings, without or {})
    probe, ledger = gather_probe(dataset, samples, ratings, without, min_group)
    if not any(item.with_attributes for item in probe.questions):
        why = "; ".join(str(row["reason"]) for row in ledger.orders if row["is_evidence"] is False)
        raise RatingsError(f"ratings: no model is left to score: {why}; ask another model, or a chat model in a chat")
    tables = evaluate_gathered(Gathered(probe, ledger, dataset, samples, min_group, seed), resamples)
    if is_published_probe(samples):
        tables["published_scores"] = beside_published(tables["benchmark_scores"])
    return tables


def evaluate_gathered(gathered: Gathered, resamples: int) -> dict[str, pd.DataFrame]:
    """The tables of `evaluate` from gathered people and ratings."""
    scores, seed = gathered.scores, gathered.seed
    tables = {"benchmark_scores": scores, "threshold_shares": derive_threshold_shares(scores)}
    tables["group_distances"] = distances_of_set(gathered)
    # Separately, because p-values are corrected over models and not over controls.
    probes = (gathered.compared, resamples), (gathered.compared_controls, min(resamples, CONTROL_RESAMPLES))
    awareness = [derive_awareness(probe, n, seed, gathered.min_group) for probe, n in probes]
    for name, key in AWARENESS.items():
        tables[key] = stacked([each[name] for each in awareness])
    _tell_checks(gathered.probe, seed, gathered.ledger)
    return tables | {"rating_orders": gathered.ledger.orders_frame(), "ledger": gathered.ledger.frame()}


def write_evaluation(tables: Mapping[str, pd.DataFrame], folder: Path) -> list[Path]:
    """Write the tables as whole CSV files with empty cells for nulls, and remove other files of earlier evaluations.

    Returns:
        The paths of the files.
    """
    paths = {name: folder / f"{name}.csv" for name in FILES}
    for name, path in paths.items():
        if name in tables:
            write_text(path, csv_text(tables[name].loc[:, list(COLUMNS.get(name, tables[name].columns))]))
        else:
            path.unlink(missing_ok=True)
    return [path for name, path in paths.items() if name in tables]


def _tell_checks(probe: Probe, seed: int, ledger: Ledger) -> None:
    for row in records(check_usable(probe)):
        if not row["passes"]:
            what = f"too many ratings {row['attributes']} attributes cannot be used"
            ledger.tell(what, row["n_missing"] + row["n_out_of_scale"], row["n"], row["model"])
    for row in records(check_independent_of_groups(probe, seed=seed)):
        if not row["passes"]:
            what = f"ratings without attributes depend on the group: p = {row['p_value']:.3g}, share of variance"
            ledger.tell(f"{what} {row['share_between']:.2f}", 1, 1, row["model"])


def _require_names(ratings: Mapping[str, Given], without: Mapping[str, Given]) -> None:
    if not ratings:
        raise RatingsError("ratings: none given; name a model and its file: --ratings NAME=FILE")
    if lone := [name for name in without if name not in ratings]:
        raise RatingsError(
            f"--without {lone[0]}: no ratings with attributes have this name; give --ratings {lone[0]}=FILE"
        )
    reserved = {"uniform", "majority", controls.OTHER_PEOPLE, controls.OTHER_GROUPS, controls.GROUPS_MAJORITY}
    reserved |= {name_of(name) for name_of in (controls.without_attributes, controls.shuffled) for name in ratings}
    if wrong := [name for name in ratings if name in reserved]:
        raise RatingsError(f"--ratings {wrong[0]}=...: this name stands for a control; choose another")
