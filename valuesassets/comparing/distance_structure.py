"""Structure of the distances between cells: groups of languages, shares of language and family, nearest neighbours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations as ordered_pairs
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.answer_grid import Cell, CellLabels
from valuesassets.comparing.hypotheses import as_test
from valuesassets.comparing.null_answers import kind_of, null_families
from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.permanova import pairs_of, variance_share
from valuesassets.measure.resampling import (
    interval_ends,
    label_permutations,
    means_with_intervals,
    permutation_p,
    resampled_means,
    with_ends,
)
from valuesassets.measure.seeding import seeded
from valuesassets.records.errors import MissingData
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES

ALL = "all families"
LEAST_LANGUAGES = 3
"""Fewest shared languages of two families for counts of nearest neighbours."""


@dataclass(frozen=True)
class CellDistances(CellLabels):
    """Distances between C cells: between their answer distributions, or between embedded texts.

    Attributes:
        cells: (family, language) of each cell.
        squared: (P, I) squared distances of unordered pairs in the order of `pairs_of`; NaN where one of the two cells
            lacks the item.
        counts: (draws, I) resamples of items, the same for all analyses of distances.
        name: name of the distance in columns.
        words: name of the distance in sentences.
        is_rooted: whether distances are the roots of the squared ones. Squared distances without the noise of draws may
            be below 0, and are themselves averaged and compared.
    """

    cells: tuple[Cell, ...]
    squared: Array
    counts: Array
    name: str = "jsd_distance"
    words: str = "Jensen-Shannon distance"
    is_rooted: bool = True

    @cached_property
    def by_item(self) -> Array:
        """(P, I) distances."""
        return np.sqrt(self.squared) if self.is_rooted else self.squared

    @cached_property
    def mean(self) -> Array:
        """(P,) mean distance over shared items."""
        return mean_of_known(self.by_item)

    @property
    def lengths(self) -> Array:
        """(P,) mean distances as lengths in a plane: roots of mean squared ones, 0 for those below."""
        return self.mean if self.is_rooted else np.sqrt(np.maximum(self.mean, 0))

    @cached_property
    def drawn(self) -> Array:
        """(draws, P) mean distance in resamples of items."""
        return resampled_means(self.by_item, self.counts)

    @cached_property
    def n_items(self) -> NDArray[np.intp]:
        """(P,) number of items that both cells have."""
        return np.isfinite(self.squared).sum(axis=1)

    @cached_property
    def numbers(self) -> NDArray[np.intp]:
        """(C, C) index of each pair of cells on the pair axis; -1 for a cell with itself."""
        return self.square(np.arange(self.squared.shape[0]), -1)

    def square(self, by_pair: NDArray[Any], diagonal: float | NDArray[Any] = 0.0) -> NDArray[Any]:
        """(..., C, C) symmetric matrices from values (..., P) by pair."""
        size = len(self.cells)
        first, second = pairs_of(size)
        matrix = np.empty((*by_pair.shape[:-1], size, size), dtype=by_pair.dtype)
        matrix[..., first, second] = matrix[..., second, first] = by_pair
        matrix[..., np.arange(size), np.arange(size)] = diagonal
        return matrix


def compare_groups(
    cells: CellDistances, groupings: Mapping[str, Mapping[str, str | None]], study: Study
) -> tuple[pd.DataFrame, list[dict[str, object]]]:
    """Mean distance within groups of languages minus mean distance between groups, by family and over all families.

    Only pairs of two languages of the same family count, so that differences between families have no effect. The
    labels of languages are permuted jointly over items and families.

    Args:
        groupings: by name of the grouping, each language's group; languages without a group are left out.

    Returns:
        Rows of `distances/groups`, and their tests as `tests_table` takes them.
    """
    claiming = [model for model in cells.models if model not in null_families(study)]
    sets = {ALL: claiming} if len(claiming) > 1 else {}
    sets |= {model: [model] for model in cells.models}
    rows = [
        {"grouping": grouping, "kind": kind_of(name, study), "model": name} | _difference(cells, groups, members, study)
        for grouping, groups in groupings.items()
        for name, members in sets.items()
    ]
    test, statistic = "{model}: distances within a {grouping} are smaller than between", "within - between"
    tests = [
        as_test(row, "zones", test, f"mean {cells.words} {statistic}", "difference", study, n="n_languages")
        for row in rows
    ]
    return TABLES["distances/groups"].frame(rows), tests


def _difference(
    cells: CellDistances, group_of: Mapping[str, str | None], members: Sequence[str], study: Study
) -> dict[str, Any]:
    languages = [language for language in cells.languages if group_of.get(language)]
    groups = pd.factorize(np.array([group_of[language] for language in languages], dtype=object))[0]
    numbers = {language: number for number, language in enumerate(languages)}
    number_of_cell = np.array([numbers.get(language, -1) for _, language in cells.cells], dtype=np.intp)
    first, second = pairs_of(len(cells.cells))
    is_compared = (cells.model_of[first] == cells.model_of[second]) & np.isin(cells.model_of[first], members)
    has_groups = (number_of_cell[first] >= 0) & (number_of_cell[second] >= 0)
    pairs = np.flatnonzero(is_compared & has_groups & np.isfinite(cells.mean))
    first_of_pair, second_of_pair = number_of_cell[first[pairs]], number_of_cell[second[pairs]]
    present = np.unique(np.concatenate([first_of_pair, second_of_pair]))
    is_within = groups[first_of_pair] == groups[second_of_pair]
    n_within, n_between = int(is_within.sum()), int((~is_within).sum())
    row: dict[str, Any] = {"n_within": n_within, "n_between": n_between, "note": None}
    row |= {"n_languages": present.size, "n_groups": np.unique(groups[present]).size}
    if not n_within or not n_between:
        why = f"{n_within} pairs of languages within a group and {n_between} between: one of both at least is needed"
        return row | {"note": why}
    distances, drawn = cells.mean[pairs], cells.drawn[:, pairs]
    within, between = distances[is_within].mean(), distances[~is_within].mean()
    differences = drawn[:, is_within].mean(axis=1) - drawn[:, ~is_within].mean(axis=1)
    ends = interval_ends(differences, cells.n_items[pairs].max(), study.inference.level)
    random = seeded(study.seed, "distances", "zones")
    # Only the labels of languages that these families have are permuted.
    permuted = np.tile(groups, (study.inference.resamples, 1))
    permuted[:, present] = groups[present][label_permutations(present.size, study.inference.resamples, random)]
    same = permuted[:, first_of_pair] == permuted[:, second_of_pair]
    sizes = same.sum(axis=1)
    by_chance = same @ distances / np.maximum(sizes, 1) - ~same @ distances / np.maximum((~same).sum(axis=1), 1)
    row |= {"mean_within": within, "mean_between": between, "p": permutation_p(between - within, -by_chance)}
    return row | with_ends("difference", within - between, ends)


def share_variance(distances: CellDistances, study: Study) -> tuple[pd.DataFrame, list[dict[str, object]]]:
    """PERMANOVA of the cells by language, labels permuted within family, and by family, permuted within language.

    The squared distance of two cells is a mean over shared items. The squared Jensen-Shannon distance is the divergence
    in bits; it is the squared distance in a Euclidean space (Source: Fuglede and Topsoe 2004, IEEE ISIT, 31), so that
    shares are shares of a variance; so is the squared Cramér distance. Null families are left out.

    Returns:
        Rows of `distances/variance_shares`, and their tests as `tests_table` takes them.
    """
    cells = np.flatnonzero(~np.isin(distances.model_of, null_families(study)))
    first, second = pairs_of(cells.size)
    by_item = distances.squared[distances.numbers[cells[first], cells[second]]]
    squared, drawn = mean_of_known(by_item), resampled_means(by_item, distances.counts)
    n_items, draws = int(np.isfinite(by_item).any(axis=0).sum()), study.inference.resamples
    models, languages = distances.model_of[cells], distances.language_of[cells]
    rows = []
    for factor, labels, within, stratum in (
        ("language", languages, models, "within family"),
        ("family", models, languages, "within language"),
    ):
        row: dict[str, Any] = {"factor": factor, "n_groups": np.unique(labels).size, "n_cells": cells.size}
        row |= {"permuted": stratum, "note": None}
        random = seeded(study.seed, "distances", "variance shares", factor)
        try:
            if np.unique(models).size < 2:
                raise MissingData("one family alone: what goes with the language and what with the cell is the same")
            if all(np.unique(labels[within == one]).size < 2 for one in np.unique(within)):
                raise MissingData("no language was answered by two families: labels cannot be permuted")
            share = variance_share(squared, labels, label_permutations(cells.size, draws, random, within))
            row |= {name: getattr(share, name) for name in ("r2", "pseudo_f", "r2_by_chance", "p")}
            ends = interval_ends(share.excesses(drawn), n_items, study.inference.level)
            row |= with_ends("excess", share.excess, ends)
        except MissingData as error:
            row["note"] = str(error)
        rows.append(row)
    test = "cells of the same {factor} answer more alike than expected by chance (labels permuted {permuted})"
    statistic = "R2 - its permutation mean (PERMANOVA)"
    tests = [as_test(row, "variance shares", test, statistic, "excess", study, n="n_cells") for row in rows]
    return TABLES["distances/variance_shares"].frame(rows), tests


def contrast_languages(distances: CellDistances, study: Study) -> pd.DataFrame:
    """Rows of `distances/contrasts`: distance to the near language minus distance to the far one, over shared items.

    A negative difference is as hypothesised.
    """
    rows, differences = [], []
    for contrast in study.inference.contrasts:
        for model in distances.models:
            places = distances.places(model)
            if not {contrast.language, contrast.near, contrast.far} <= set(places):
                continue
            near, far = (
                distances.by_item[distances.numbers[places[contrast.language], places[each]]]
                for each in (contrast.near, contrast.far)
            )
            is_known = np.isfinite(near + far)
            row: dict[str, Any] = {"contrast": contrast.name, "kind": kind_of(model, study), "model": model}
            row |= {
                f"{distances.name}_{name}": each[is_known].mean() if is_known.any() else np.nan
                for name, each in (("near", near), ("far", far))
            }
            rows.append(row)
            differences.append(near - far)
    if not rows:
        return pd.DataFrame()
    mean = means_with_intervals(np.stack(differences), distances.counts, study.inference.level)
    return pd.DataFrame(rows).assign(**mean.columns("difference"), n_items=mean.n)


def find_neighbours(
    distances: CellDistances, study: Study
) -> tuple[pd.DataFrame, pd.DataFrame, list[dict[str, object]]]:
    """The nearest neighbour of every cell in its own and one other family, for each ordered pair of families.

    Returns:
        Rows of `distances/neighbours` and of `distances/neighbour_counts`, and the tests of the latter as `tests_table`
        takes them.
    """
    square, drawn = (distances.square(each, np.inf) for each in (distances.mean, distances.drawn.astype(np.float32)))
    for each in (square, drawn):
        each[np.isnan(each)] = np.inf
    tables, counts = [], []
    for model, other in ordered_pairs(distances.models, 2):
        own, others = distances.places(model), distances.places(other)
        of_own, of_other = np.array([*own.values()]), np.array([*others.values()])
        both = [code for code in own if code in others and np.isfinite(square[own[code], others[code]])]
        row: dict[str, Any] = {"model": model, "other": other, "n_languages": len(both), "note": None}
        counts.append(row)
        if len(both) < LEAST_LANGUAGES:
            languages = f"{len(both)} language{'s' * (len(both) != 1)}"
            row["note"] = f"{languages} answered by both families: {LEAST_LANGUAGES} are needed"
            continue
        rows, same = (np.array([places[code] for code in both]) for places in (own, others))
        nearest, rank = _nearest_and_rank(square, rows, same, of_own, of_other)
        to_own, to_others, to_same = square[rows[:, None], of_own], square[rows[:, None], of_other], square[rows, same]
        to_all = np.concatenate([to_own, to_others], axis=1)
        is_same, is_own = nearest == same, np.isin(nearest, of_own)
        columns = {"model": model, "language": both, "other": other} | {
            "nearest_model": distances.model_of[nearest].astype(object),
            "nearest_language": distances.language_of[nearest].astype(object),
            f"nearest_{distances.name}": square[rows, nearest],
            f"same_language_{distances.name}": to_same,
            f"own_family_{distances.name}": to_own.min(axis=1),
            "rank": rank,
            "n_ranked": np.isfinite(to_others).sum(axis=1),
            "rank_of_all": 1 + (to_all < to_same[:, None]).sum(axis=1),
            "n_all": np.isfinite(to_all).sum(axis=1),
            "is_same_language": is_same,
            "is_own_family": is_own,
        }
        tables.append(pd.DataFrame(columns))
        random = seeded(study.seed, "distances", "nearest", model, other)
        shuffled = label_permutations(len(both), study.inference.resamples, random)
        ranks = 1 + (to_others[:, None, :] < to_others[:, :, None]).sum(axis=-1)  # among all cells of the other family
        column = np.array([[*others].index(code) for code in both])
        chance_rank = ranks[np.arange(len(both)), column[shuffled]].mean(axis=1)
        chance_same = (nearest == same[shuffled]).sum(axis=1)
        drawn_nearest, drawn_rank = _nearest_and_rank(drawn, rows, same, of_own, of_other)
        n_items, level = int(distances.n_items.max()), study.inference.level
        same_ends = interval_ends((drawn_nearest == same).sum(axis=1).astype(float), n_items, level)
        row |= with_ends("n_same_language", is_same.sum(), same_ends)
        row |= with_ends("mean_rank", rank.mean(), interval_ends(drawn_rank.mean(axis=1), n_items, level))
        row |= {
            "n_own_family": is_own.sum(),
            "n_same_language_by_chance": chance_same.mean(),
            "n_same_language_p": permutation_p(is_same.sum(), chance_same),
            "mean_rank_by_chance": chance_rank.mean(),
            "mean_rank_p": permutation_p(-rank.mean(), -chance_rank),
        }
    test = "{model}'s answers are closer to {other}'s in the same language than expected by chance"
    tests = [
        as_test(row, "nearest neighbours", test, statistic, statistic, study, n="n_languages", p=f"{statistic}_p")
        for row in counts
        for statistic in ("n_same_language", "mean_rank")
    ]
    neighbours = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    return neighbours, TABLES["distances/neighbour_counts"].frame(counts), tests


def _nearest_and_rank(
    square: Array, rows: np.ndarray, same: np.ndarray, of_own: np.ndarray, of_other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(..., L) the nearest cell in both families, and the rank of the same language among the other family's cells."""
    candidates = np.concatenate([of_own, of_other])
    nearest = candidates[square[..., rows[:, None], candidates].argmin(axis=-1)]
    to_same = square[..., rows, same]
    return nearest, 1 + (square[..., rows[:, None], of_other] < to_same[..., None]).sum(axis=-1)
