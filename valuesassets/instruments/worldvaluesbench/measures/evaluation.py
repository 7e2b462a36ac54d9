"""All that is computed of a probe: one function for the command line and for the graph."""

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
    derive_benchmark_scores,
    derive_threshold_shares,
)
from valuesassets.instruments.worldvaluesbench.measures.controls import control_models, majority_of_groups
from valuesassets.instruments.worldvaluesbench.measures.gathered import Ledger, gather_probe
from valuesassets.instruments.worldvaluesbench.measures.group_distances import derive_group_distances
from valuesassets.instruments.worldvaluesbench.measures.large_groups import large_groups
from valuesassets.instruments.worldvaluesbench.measures.rating_checks import check_independent_of_groups, check_usable
from valuesassets.instruments.worldvaluesbench.published.published_probe import beside_published, is_published_probe
from valuesassets.records.csv_tables import csv_text
from valuesassets.records.errors import RatingsError
from valuesassets.records.files import write_text
from valuesassets.records.frames import records, stacked

RESAMPLES = 2000
CONTROL_RESAMPLES = 400
"""At most, for the intervals of controls, which are three times as many as models."""
MIN_GROUP = 5
FILES = {
    "benchmark_scores": None,
    "threshold_shares": None,
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
    "rating_orders": None,
    "ledger": None,
    "published_scores": None,
}
"""What is written, and which columns; all of them where none are named."""
AWARENESS = {"factors": "awareness"} | {name: f"awareness_{name}" for name in ("categories", "questions", "style_free")}
"""Tables of `derive_awareness`, and what they are called among the tables of an evaluation."""


def evaluate(
    dataset: People,
    samples: pd.DataFrame,
    ratings: Mapping[str, Given],
    without: Mapping[str, Given] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    min_group: int = MIN_GROUP,
) -> dict[str, pd.DataFrame]:
    """Tables by name: `benchmark_scores, threshold_shares, group_distances, awareness, ..., rating_orders,
    ledger`.

    Models stand first, controls (`controls`) below. `published_scores` is there where the published probe was asked.

    Args:
        samples: who is asked what (`probe_samples`).
        ratings, without: by model, files or frames of ratings with attributes and without (`ratings_files`).
        resamples: of people within groups, for the intervals.
        min_group: people who answered that a group needs in a question to be compared; pooled scores are of everybody.

    Raises:
        RatingsError: as `gather_probe`; no ratings; a name stands for a control.
    """
    _require_names(ratings, without or {})
    probe, ledger = gather_probe(dataset, samples, ratings, without, min_group)
    if not any(asked.with_attributes for asked in probe.questions):
        why = "; ".join(str(row["reason"]) for row in ledger.orders if row["is_evidence"] is False)
        raise RatingsError(f"ratings: no model is left to score: {why}; ask another model, or a chat model in a chat")
    tables = evaluate_probe(probe, dataset, samples, resamples, seed, min_group, ledger)
    if is_published_probe(samples):
        tables["published_scores"] = beside_published(tables["benchmark_scores"])
    return tables


def evaluate_probe(
    probe: Probe, dataset: People, samples: pd.DataFrame, resamples: int, seed: int, min_group: int, ledger: Ledger
) -> dict[str, pd.DataFrame]:
    """As `evaluate`, of what is gathered already."""
    probes = probe, control_models(probe, dataset, samples, seed)
    scores = stacked([*map(derive_benchmark_scores, (*probes, majority_of_groups(probe)))])
    tables = {
        "benchmark_scores": scores,
        "threshold_shares": derive_threshold_shares(scores),
    }
    probes = tuple(large_groups(each, min_group) for each in probes)
    tables["group_distances"] = stacked([derive_group_distances(each) for each in probes])
    # Models alone first: what is corrected for several tests counts no controls.
    drawn = resamples, min(resamples, CONTROL_RESAMPLES)
    awareness = [derive_awareness(each, n, seed, min_group) for each, n in zip(probes, drawn, strict=True)]
    for name, key in AWARENESS.items():
        tables[key] = stacked([each[name] for each in awareness])
    _tell_checks(probe, seed, ledger)
    return tables | {"rating_orders": ledger.orders_frame(), "ledger": ledger.frame()}


def write_evaluation(tables: Mapping[str, pd.DataFrame], folder: Path) -> list[Path]:
    """Write the tables as CSV files, nulls empty, each whole or not at all; those of an earlier evaluation go.

    Returns:
        What was written.
    """
    for name, columns in FILES.items():
        if name in tables:
            table = tables[name]
            write_text(_file(folder, name), csv_text(table.loc[:, list(columns or table.columns)]))
        else:
            _file(folder, name).unlink(missing_ok=True)
    return [_file(folder, name) for name in FILES if name in tables]


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.csv"


def _tell_checks(probe: Probe, seed: int, ledger: Ledger) -> None:
    for row in records(check_usable(probe)):
        if not row["passes"]:
            told = f"too many ratings {row['attributes']} attributes cannot be used"
            ledger.tell(told, row["n_missing"] + row["n_out_of_scale"], row["n"], row["model"])
    for row in records(check_independent_of_groups(probe, seed=seed)):
        if not row["passes"]:
            told = f"ratings without attributes depend on the group: p = {row['p_value']:.3g}, share of variance"
            ledger.tell(f"{told} {row['share_between']:.2f}", 1, 1, row["model"])


def _require_names(ratings: Mapping[str, Given], without: Mapping[str, Given]) -> None:
    if not ratings:
        raise RatingsError("ratings: none given; name a model and its file: --ratings NAME=FILE")
    if lone := [name for name in without if name not in ratings]:
        raise RatingsError(
            f"--without {lone[0]}: no ratings with attributes have this name; give --ratings {lone[0]}=FILE"
        )
    taken = {"uniform", "majority", controls.OTHER_PEOPLE, controls.OTHER_GROUPS, controls.GROUPS_MAJORITY}
    taken |= {made(name) for made in (controls.without_attributes, controls.shuffled) for name in ratings}
    if wrong := [name for name in ratings if name in taken]:
        raise RatingsError(f"--ratings {wrong[0]}=...: this name stands for a control; choose another")
