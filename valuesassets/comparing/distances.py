"""`distances`: distances between all cells, their structure, and a plane that shows them."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.distance_structure import (
    CellDistances,
    compare_groups,
    contrast_languages,
    find_neighbours,
    share_variance,
)
from valuesassets.comparing.hypotheses import tests_table
from valuesassets.comparing.null_answers import ALWAYS_FIRST, UNIFORM, kind_of
from valuesassets.measure.arrays import Array
from valuesassets.measure.distances import jsd_bits_of, jsd_distance_of
from valuesassets.measure.mds import plane_from_distances
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.permanova import pairs_of
from valuesassets.measure.resampling import interval_ends, means_with_intervals, resample_counts
from valuesassets.measure.seeding import seeded
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES

LEAST_POINTS = 3
GROUPINGS = ("zone", "region")
"""Groupings of languages in the study file by which distances are compared."""


def derive_distances(grid: AnswerGrid, study: Study) -> dict[str, pd.DataFrame]:
    """The tables `distances/...`: distances between all cells over shared items, and their structure."""
    distances, w1_unit = cell_distances(grid, study), between_cells(grid.answers, grid.scales.w1_unit)
    points, plane = plane_of_cells(distances)
    tables = compare_cells(distances, study)
    notes = [
        plane,
        *grid.notes,
        f"Intervals are {study.inference.level:.0%} bootstrap intervals over items; p-values from "
        f"{study.inference.resamples} permutations of labels, jointly over items.",
        f"{UNIFORM} and {ALWAYS_FIRST} are the same in every language: 0 apart among themselves (see baselines).",
    ]
    tests = tables.pop("tests")
    return {
        "pairs": _pairs(grid, distances, w1_unit, study.inference.level),
        "points": points,
        **tables,
        "contrasts": contrast_languages(distances, study),
        "baselines": _baselines(grid, distances, w1_unit, study),
        "tests": tests,
        "notes": pd.DataFrame({"note": notes}),
    }


def cell_distances(grid: AnswerGrid, study: Study) -> CellDistances:
    """Jensen-Shannon distances between all cells of a grid."""
    counts = resample_counts(len(grid.items), study.inference.resamples, seeded(study.seed, "distances", "items"))
    return CellDistances(grid.cells, between_cells(grid.answers, jsd_bits_of), counts)


def between_cells(answers: Array, measure: Callable[[Array, Array], Array]) -> Array:
    """(P, I) a measure of every two of C answers (C, I, K), in the order of `pairs_of`."""
    parts = [measure(cell, answers[place + 1 :]) for place, cell in enumerate(answers)]
    return np.concatenate(parts)


def compare_cells(distances: CellDistances, study: Study) -> dict[str, pd.DataFrame]:
    """Tables of groups of languages, shares of variance and nearest cells, with the tests of all."""
    groupings = {
        name: {code: getattr(study.languages[code], name) for code in distances.languages} for name in GROUPINGS
    }
    groups, group_tests = compare_groups(distances, groupings, study)
    shares, share_tests = share_variance(distances, study)
    neighbours, counts, neighbour_tests = find_neighbours(distances, study)
    tests = tests_table([*group_tests, *share_tests, *neighbour_tests], study)
    corrected = tests["p_corrected"].to_numpy()
    return {
        "groups": groups.assign(p_corrected=corrected[: len(groups)]),
        "variance_shares": shares.assign(p_corrected=corrected[len(groups) : len(groups) + len(shares)]),
        "neighbours": neighbours,
        "neighbour_counts": counts,
        "tests": tests,
    }


def plane_of_cells(distances: CellDistances) -> tuple[pd.DataFrame, str]:
    """Rows of `distances/points`, and a note on the plane; without rows the note says why there is no plane."""
    n = len(distances.cells)
    if n < LEAST_POINTS or np.isnan(distances.mean).any():
        why = f"{n} cells" if n < LEAST_POINTS else "some cells share no item"
        note = f"No plane is drawn: {why}; three or more that share items are needed."
        return TABLES["distances/points"].frame([]), note
    plane = plane_from_distances(distances.square(distances.mean))
    note = (
        f"{distances.words}, mean over {distances.n_items.min()} to {distances.n_items.max()} shared items; "
        f"normalised stress of the plane {plane.stress:.2f} over {n} cells."
    )
    return distances.labels.assign(x=plane.points[:, 0], y=plane.points[:, 1], stress=plane.stress, n_cells=n), note


def _pairs(grid: AnswerGrid, distances: CellDistances, w1_unit: Array, level: float) -> pd.DataFrame:
    """All ordered pairs of cells with their distances, rows of `distances/pairs`."""
    low, high = interval_ends(distances.drawn, distances.n_items, level)
    is_known = np.isfinite(grid.answers).all(axis=-1)
    n_ordered = (is_known & grid.scales.is_ordinal).sum(axis=1)
    size = len(grid.cells)
    first, second = np.repeat(np.arange(size), size), np.tile(np.arange(size), size)
    matrices = {
        "jsd_distance": distances.square(distances.mean),
        "jsd_distance_low": distances.square(low),
        "jsd_distance_high": distances.square(high),
        "n_items": distances.square(distances.n_items, is_known.sum(axis=1)),
        "w1_unit": distances.square(mean_of_known(w1_unit)),
        "n_items_w1": distances.square(np.isfinite(w1_unit).sum(axis=1), n_ordered),
    }
    sides = [grid.labels.iloc[at].reset_index(drop=True).add_suffix(end) for end, at in (("_a", first), ("_b", second))]
    return pd.concat(sides, axis=1).assign(**{name: matrix.ravel() for name, matrix in matrices.items()})


def _baselines(grid: AnswerGrid, distances: CellDistances, w1_unit: Array, study: Study) -> pd.DataFrame:
    """Distances among each family's cells, and to null answers, which are the same in every language."""
    first, second = pairs_of(len(grid.cells))
    nulls = {UNIFORM: grid.scales.uniform(), ALWAYS_FIRST: grid.scales.always_first()}
    baselines: list[tuple[str, str, Array, Array]] = []
    for model in grid.models:
        kind = kind_of(model, study)
        within = (grid.model_of[first] == model) & (grid.model_of[second] == model)
        if within.any():
            baselines.append((f"{model}: languages among themselves", kind, distances.by_item[within], w1_unit[within]))
        cells = grid.answers[grid.model_of == model]
        for name, null in nulls.items():
            to_null = jsd_distance_of(cells, null), grid.scales.w1_unit(cells, null)
            baselines.append((f"{model} to {name}", kind, *to_null))
    flat, always = (null[None] for null in nulls.values())
    both = jsd_distance_of(flat, always), grid.scales.w1_unit(flat, always)
    baselines.append((f"{UNIFORM} to {ALWAYS_FIRST}", "null", *both))
    what, kinds, *by_item = zip(*baselines, strict=True)
    # Means over cells come first: the interval is that of a mean over items.
    jsd, w1 = (np.stack([mean_of_known(each, axis=0) for each in of_measure]) for of_measure in by_item)
    mean = means_with_intervals(jsd, distances.counts, study.inference.level)
    columns = {"what": what, "kind": kinds, **mean.columns("jsd_distance"), "w1_unit": mean_of_known(w1)}
    return pd.DataFrame(columns | {"n_pairs": [len(each) for each in by_item[0]], "n_items": mean.n})
