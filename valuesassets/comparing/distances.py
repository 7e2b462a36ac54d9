"""`distances`: distances between all cells, their structure, and a plane that shows them."""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.country_distances import UNBIASED
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
from valuesassets.measure.resampling import interval_ends, means_with_intervals, resample_counts, with_ends
from valuesassets.measure.seeding import seeded
from valuesassets.measure.skewed_means import skewed_mean_ends
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES

LEAST_POINTS = 3
CRAMER = UNBIASED["cramer"]
GROUPINGS = ("zone", "region")
"""Groupings of languages in the study file by which distances are compared."""


def derive_distances(grid: AnswerGrid, study: Study) -> dict[str, pd.DataFrame]:
    """The tables `distances/...`: distances between all cells over shared items, and their structure."""
    distances, w1_unit = cell_distances(grid, study), _w1_unit(grid)
    jsd = distances if study.distance == "jsd" else _jsd_distances(grid, study)
    points, plane = plane_of_cells(distances)
    tables = compare_cells(distances, study)
    notes = [
        plane,
        *grid.notes,
        *_about_draws(grid, study),
        f"Intervals are {study.inference.level:.0%} bootstrap intervals over items; p-values from "
        f"{study.inference.resamples} permutations of labels, jointly over items.",
        f"{UNIFORM} and {ALWAYS_FIRST} are the same in every language: 0 apart among themselves (see baselines).",
    ]
    tests = tables.pop("tests")
    return {
        "pairs": _pairs(grid, distances, jsd, w1_unit, study.inference.level),
        "points": points,
        **tables,
        "contrasts": contrast_languages(distances, study),
        "baselines": _baselines(grid, distances, jsd, w1_unit, study),
        "tests": tests,
        "notes": pd.DataFrame({"note": notes}),
    }


def cell_distances(grid: AnswerGrid, study: Study) -> CellDistances:
    """Distances between all cells of a grid: Jensen-Shannon distances, or squared Cramér distances without noise."""
    if study.distance == "jsd":
        return _jsd_distances(grid, study)
    first, second = pairs_of(len(grid.cells))
    noise = grid.cramer_noise[first] + grid.cramer_noise[second]
    squared = between_cells(grid.answers, grid.scales.cramer_unit2) - noise
    return CellDistances(grid.cells, squared, _counts(grid, study), CRAMER, "squared Cramér distance", is_rooted=False)


def _jsd_distances(grid: AnswerGrid, study: Study) -> CellDistances:
    """Jensen-Shannon distances; NaN where a cell's answer is drawn."""
    divergences = _of_exact(grid, between_cells(grid.answers, jsd_bits_of))
    return CellDistances(grid.cells, divergences, _counts(grid, study))


def _w1_unit(grid: AnswerGrid) -> Array:
    """(P, I) W1 between all cells; NaN where a cell's answer is drawn."""
    return _of_exact(grid, between_cells(grid.answers, grid.scales.w1_unit))


def _of_exact(grid: AnswerGrid, by_pair: Array) -> Array:
    """(P, I) values of pairs, NaN where an answer of either cell is drawn."""
    first, second = pairs_of(len(grid.cells))
    return np.where(grid.is_drawn[first] | grid.is_drawn[second], np.nan, by_pair)


def _counts(grid: AnswerGrid, study: Study) -> Array:
    """(draws, I) resamples of items, the same for all distances."""
    return resample_counts(len(grid.items), study.inference.resamples, seeded(study.seed, "distances", "items"))


def _about_draws(grid: AnswerGrid, study: Study) -> list[str]:
    """What distances are, where they are not Jensen-Shannon distances, and which are empty."""
    if study.distance == "jsd":
        return []
    return [
        "Distances are squared Cramér distances without what drawing adds: equal answers have a mean of 0, and by "
        "chance a distance may be below 0. The plane shows their roots, with 0 for those below.",
        *grid.why_empty("Jensen-Shannon distances and W1"),
    ]


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
    plane = plane_from_distances(distances.square(distances.lengths))
    note = (
        f"{distances.words}, mean over {distances.n_items.min()} to {distances.n_items.max()} shared items; "
        f"normalised stress of the plane {plane.stress:.2f} over {n} cells."
    )
    return distances.labels.assign(x=plane.points[:, 0], y=plane.points[:, 1], stress=plane.stress, n_cells=n), note


def _pairs(
    grid: AnswerGrid, distances: CellDistances, jsd: CellDistances, w1_unit: Array, level: float
) -> pd.DataFrame:
    """All ordered pairs of cells with their distances, rows of `distances/pairs`."""
    is_known = np.isfinite(grid.answers).all(axis=-1)
    n_ordered = (is_known & grid.scales.is_ordinal).sum(axis=1)
    size = len(grid.cells)
    first, second = np.repeat(np.arange(size), size), np.tile(np.arange(size), size)
    matrices = {
        **_squares(jsd, level),
        **(_squares(distances, level) if distances.name != jsd.name else {}),
        "n_items": distances.square(distances.n_items, is_known.sum(axis=1)),
        "w1_unit": distances.square(mean_of_known(w1_unit)),
        "n_items_w1": distances.square(np.isfinite(w1_unit).sum(axis=1), n_ordered),
    }
    sides = [grid.labels.iloc[at].reset_index(drop=True).add_suffix(end) for end, at in (("_a", first), ("_b", second))]
    return pd.concat(sides, axis=1).assign(**{name: matrix.ravel() for name, matrix in matrices.items()})


def _squares(distances: CellDistances, level: float) -> dict[str, Array]:
    """(C, C) mean distances and the ends of their intervals, by column."""
    low, high = _mean_ends(distances, level)
    by_pair = with_ends(distances.name, distances.mean, (low, high))
    return {name: distances.square(each) for name, each in by_pair.items()}


def _mean_ends(distances: CellDistances, level: float) -> tuple[Array, Array]:
    """(P,) ends of mean distances; squared ones are skewed, so that percentile intervals would end too low."""
    if distances.is_rooted:
        return interval_ends(distances.drawn, distances.n_items, level)
    return skewed_mean_ends(distances.by_item, level)


def _baselines(
    grid: AnswerGrid, distances: CellDistances, jsd: CellDistances, w1_unit: Array, study: Study
) -> pd.DataFrame:
    """Distances among each family's cells, and to null answers, which are the same in every language."""
    first, second = pairs_of(len(grid.cells))
    by_pair = {jsd.name: jsd.by_item, "w1_unit": w1_unit, distances.name: distances.by_item}
    nulls = {UNIFORM: grid.scales.uniform(), ALWAYS_FIRST: grid.scales.always_first()}
    baselines: list[tuple[str, str, Mapping[str, Array]]] = []
    for model in grid.models:
        kind = kind_of(model, study)
        within = (grid.model_of[first] == model) & (grid.model_of[second] == model)
        if within.any():
            among = {name: each[within] for name, each in by_pair.items()}
            baselines.append((f"{model}: languages among themselves", kind, among))
        cells = np.flatnonzero(grid.model_of == model)
        for name, null in nulls.items():
            baselines.append((f"{model} to {name}", kind, _to_null(grid, cells, null)))
    flat, always = (null[None] for null in nulls.values())
    both = {"jsd_distance": jsd_distance_of(flat, always), "w1_unit": grid.scales.w1_unit(flat, always)}
    both[CRAMER] = grid.scales.cramer_unit2(flat, always)
    baselines.append((f"{UNIFORM} to {ALWAYS_FIRST}", "null", both))
    what, kinds, by_item = zip(*baselines, strict=True)
    # Means over cells come first: the interval is that of a mean over items.
    of_measure = {name: np.stack([mean_of_known(each[name], axis=0) for each in by_item]) for name in by_pair}
    mean = {
        name: means_with_intervals(of_measure[name], distances.counts, study.inference.level)
        for name in dict.fromkeys([jsd.name, distances.name])
    }
    columns = {"what": what, "kind": kinds, **mean[jsd.name].columns(jsd.name)}
    columns |= {"w1_unit": mean_of_known(of_measure["w1_unit"])}
    columns |= {"n_pairs": [len(each["w1_unit"]) for each in by_item], "n_items": mean[distances.name].n}
    if distances.is_rooted:
        return pd.DataFrame(columns)
    ends = skewed_mean_ends(of_measure[distances.name], study.inference.level)
    return pd.DataFrame(columns | with_ends(distances.name, mean[distances.name].mean, ends))


def _to_null(grid: AnswerGrid, cells: NDArray[np.intp], null: Array) -> dict[str, Array]:
    """(cells, I) distances of cells from an answer without content, by column."""
    answers, is_drawn = grid.answers[cells], grid.is_drawn[cells]
    plug_ins = {"jsd_distance": jsd_distance_of(answers, null), "w1_unit": grid.scales.w1_unit(answers, null)}
    return {name: np.where(is_drawn, np.nan, each) for name, each in plug_ins.items()} | {
        CRAMER: grid.scales.cramer_unit2(answers, null) - grid.cramer_noise[cells]
    }
