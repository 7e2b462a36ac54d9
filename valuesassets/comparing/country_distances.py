"""How far answers are from the people of every country, where their own country ranks, and what chance gives.

The own-country advantage of an item is the mean divergence from the other countries minus that from the own one, each
without what the size of a country's sample adds to it.
Averaged over items it ranks countries as their mean distances do, and where a country lacks some items it is not taken
for near or far because those are easy or hard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.hypotheses import as_test
from valuesassets.comparing.null_answers import kind_of
from valuesassets.measure.arrays import Array
from valuesassets.measure.distances import jsd_bits_by_sampling, jsd_bits_of
from valuesassets.measure.means import mean_of_known
from valuesassets.measure.resampling import (
    ROUNDING,
    interval_ends,
    labelled_p,
    labellings,
    resampled_means,
    with_ends,
)
from valuesassets.measure.seeding import seeded
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES

LEAST_COUNTRIES = 3
"""Fewest countries among which a rank says something."""
TEST_FAMILY = "own country"


def jsd_bits_to_countries(answers: Array, people: Array, effective_n: Array) -> Array:
    """(R, N, I) Jensen-Shannon divergences of answers (R, I, K) from people (N, I, K), without the bias of a sample.

    Fewer people lie further from any answer, by chance alone: what their number adds is taken off, so that some are
    below 0. A root would bring a bias back.

    Args:
        effective_n: (N, I) respondents over the design effect.
    """
    found = np.empty((answers.shape[0], people.shape[0], answers.shape[1]))
    for place, country in enumerate(people):
        by_chance = jsd_bits_by_sampling(answers, country, effective_n[place])
        found[:, place] = jsd_bits_of(answers, country) - by_chance
    return found


def advantages(divergences: Array) -> Array:
    """(R, N, I) mean divergence from the other countries minus that from this one; NaN where there is no other.

    >>> advantages(np.array([[[0.1], [0.4], [0.3]]]))[0, :, 0].round(2).tolist()
    [0.25, -0.2, -0.05]
    """
    known = np.isfinite(divergences)
    n_others = known.sum(axis=1, keepdims=True) - 1
    total = np.where(known, divergences, 0).sum(axis=1, keepdims=True)
    return np.where(known & (n_others > 0), (total - divergences) / np.maximum(n_others, 1) - divergences, np.nan)


def of_own(by_country: Array, own: NDArray[np.intp]) -> Array:
    """(R, ...) the entry of each row's own country, out of (R, N, ...); NaN where it has none."""
    return _known(by_country[np.arange(own.size), np.maximum(own, 0)], own)


def at_own(of_countries: Array, own: NDArray[np.intp]) -> Array:
    """(R, ...) what each row's own country has, out of (N, ...) for all rows; NaN where it has none."""
    return _known(of_countries[np.maximum(own, 0)], own)


def _known(chosen: Array, own: NDArray[np.intp]) -> Array:
    return np.where((own >= 0).reshape(-1, *[1] * (chosen.ndim - 1)), chosen, np.nan)


@dataclass(frozen=True)
class Ranks:
    """Where every country stands for each of R answers, 1 being the nearest.

    Attributes:
        by_country: (R, N) ranks by mean advantage; NaN where no item is shared.
        advantage: (R, N) mean over items.
        own: (R,) the own country's place; -1 where it has no people.
        drawn_rank, drawn_advantage: (draws, R) of the own country, in samples of items.
    """

    by_country: Array
    advantage: Array
    own: NDArray[np.intp]
    drawn_rank: Array
    drawn_advantage: Array

    @property
    def own_rank(self) -> Array:
        """(R,) of the own country."""
        return of_own(self.by_country, self.own)

    @property
    def own_advantage(self) -> Array:
        """(R,) of the own country."""
        return of_own(self.advantage, self.own)


def rank_countries(advantage: Array, own: NDArray[np.intp], counts: Array) -> Ranks:
    """Ranks of all countries by their mean advantage, 1 the nearest; those that are equally near share the mean rank.

    Args:
        advantage: (R, N, I).
        own: (R,) places of the own countries; -1 where there are no people.
        counts: (draws, I) resamples of items.
    """
    mean = mean_of_known(advantage)
    ranks = _mid_ranks(mean[:, None, :] - mean[:, :, None])
    drawn = resampled_means(advantage, counts)
    drawn_own = np.where(own >= 0, drawn[:, np.arange(own.size), np.maximum(own, 0)], np.nan)
    drawn_rank = np.where(np.isfinite(drawn_own), _mid_ranks(drawn - drawn_own[..., None]), np.nan)
    return Ranks(np.where(np.isfinite(mean), ranks, np.nan), mean, own, drawn_rank, drawn_own)


def _mid_ranks(ahead: Array) -> Array:
    """(...,) ranks of what (..., N) things are ahead of, itself among them: by differences of their means."""
    is_tied = np.abs(ahead) <= ROUNDING
    return 1 + ((ahead > 0) & ~is_tied).sum(axis=-1) + (is_tied.sum(axis=-1) - 1) / 2


def rank_columns(grid: AnswerGrid, ranks: Ranks, n_items: NDArray[np.intp], level: float) -> dict[str, Any]:
    """Columns by row: advantage and rank of the own country with intervals over items, and the nearest country."""
    known = np.isfinite(ranks.advantage)
    nearest = np.array(grid.countries, dtype=object)[np.where(known, ranks.advantage, -np.inf).argmax(axis=1)]
    return {
        **with_ends("own_country_advantage", ranks.own_advantage, interval_ends(ranks.drawn_advantage, n_items, level)),
        **with_ends("own_country_rank", ranks.own_rank, interval_ends(ranks.drawn_rank, n_items, level)),
        "n_countries": known.sum(axis=1),
        "nearest_country": np.where(known.any(axis=1), nearest, np.array(None, dtype=object)),
    }


def own_country_of_families(
    grid: AnswerGrid, ranks: Ranks, study: Study
) -> tuple[pd.DataFrame, list[dict[str, object]]]:
    """Mean rank and advantage of the own country per family, tested.

    A single cell's rank among N countries has no p below 1 / N: corrected for as many cells, none could be told from
    chance, so that cells are not tested one by one.
    """
    n, level = len(grid.countries), study.inference.level
    random = seeded(study.seed, "human_comparison", "countries")
    permutations, is_all = labellings(n, study.inference.resamples, random)
    rows, tests = [], []
    nearer = "nearer to the own country than chance has it"
    for model in grid.models:
        cells = [place for place in grid.places(model).values() if np.isfinite(ranks.own_rank[place])]
        row: dict[str, Any] = {"kind": kind_of(model, study), "model": model, "n_cells": len(cells), "n_countries": n}
        row |= {"mean_rank_by_chance": (n + 1) / 2, "note": None}
        if n < LEAST_COUNTRIES or not cells:
            row["note"] = (
                f"{len(cells)} cells of {model} with people of their own country, {n} countries in all: three "
                "countries and a cell are needed"
            )
        for name, values, drawn, by_country, sign in (
            ("mean_rank", ranks.own_rank, ranks.drawn_rank, ranks.by_country, -1),
            ("own_country_advantage", ranks.own_advantage, ranks.drawn_advantage, ranks.advantage, 1),
        ):
            if cells:
                ends = interval_ends(drawn[:, cells].mean(axis=1), len(grid.items), level)
                row |= with_ends(name, values[cells].mean(), ends)
            if row["note"] is None:
                row[f"{name}_p"] = _own_against_chance(sign * by_country, ranks.own, cells, permutations, is_all)
            tests.append(as_test(row, TEST_FAMILY, f"{{model}}: {nearer}", name, name, study, "n_cells", f"{name}_p"))
        rows.append(row)
    return TABLES["human_comparison/own_country"].frame(rows), tests


def _own_against_chance(
    evidence: Array, own: NDArray[np.intp], rows: Sequence[int], permutations: NDArray[np.intp], is_all: bool
) -> float:
    """p of the mean over some rows of what their own country has, the labels of countries permuted for all of them.

    Args:
        evidence: (R, N), of all items together, so that labels move jointly across items; much is evidence.
        rows: those of a family that have an own country.
        permutations: (B, N) of the countries.
        is_all: whether these are all there are.
    """
    chosen = np.array(rows, dtype=np.intp)
    observed = mean_of_known(evidence[chosen, own[chosen]])
    return labelled_p(float(observed), mean_of_known(evidence[chosen, permutations[:, own[chosen]]]), is_all)
