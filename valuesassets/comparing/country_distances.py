"""Divergence of answers from the people of every country, and the rank of their own country, with permutation tests.

Divergences are Jensen-Shannon divergences, or squared Cramér distances where a study says so or has drawn answers. The
own-country advantage of an item is the mean divergence from the other countries minus that from the own country, each
corrected for the size of the country's sample, and for drawing. Averaged over items, it ranks countries like their mean
distances do; a country that lacks some items is not ranked by how easy or hard these are.
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
from valuesassets.measure.resampling import ROUNDING, interval_ends, labelled_p, labellings, resampled_means, with_ends
from valuesassets.measure.seeding import seeded
from valuesassets.records.study import Study
from valuesassets.records.tables import TABLES

LEAST_COUNTRIES = 3
"""Fewest countries for a meaningful rank."""
TEST_FAMILY = "own country"
UNBIASED = {"jsd": "jsd_bits_unbiased", "cramer": "cramer_unit2"}
"""The column of corrected divergences, by the study's distance."""


def divergences_from_countries(
    grid: AnswerGrid, study: Study, answers: Array | None = None, noise: Array | None = None
) -> Array:
    """(R, N, I) divergences from the people of every country, in the study's distance and corrected.

    Args:
        answers: (R, I, K); the grid's own if left out.
        noise: (R, I) what drawing adds to each answer's squared Cramér distances; the grid's own if left out.
    """
    rows = grid.answers if answers is None else answers
    if study.distance == "jsd":
        return jsd_bits_to_countries(rows, grid.people, grid.effective_n)
    return cramer_to_countries(grid, rows, grid.cramer_noise if noise is None else noise)


def cramer_to_countries(grid: AnswerGrid, answers: Array, noise: Array) -> Array:
    """(R, N, I) squared Cramér distances of answers (R, I, K) from people, without what sampling and drawing add.

    Args:
        noise: (R, I) what drawing adds to each answer.
    """
    of_people = grid.scales.cramer_noise(grid.people, grid.effective_n)
    distances = [grid.scales.cramer_unit2(answers, country) for country in grid.people]
    return np.stack(distances, axis=1) - noise[:, None] - of_people if distances else np.empty((len(answers), 0, 0))


def jsd_bits_to_countries(answers: Array, people: Array, effective_n: Array) -> Array:
    """(R, N, I) Jensen-Shannon divergences of answers (R, I, K) from people (N, I, K), corrected for sampling bias.

    Small samples of people diverge more from any answer, by chance alone. This bias is subtracted, so that divergences
    can be negative. Their square roots would be biased again.

    Args:
        effective_n: (N, I) respondents over the design effect.
    """
    divergences = np.empty((answers.shape[0], people.shape[0], answers.shape[1]))
    for place, country in enumerate(people):
        by_chance = jsd_bits_by_sampling(answers, country, effective_n[place])
        divergences[:, place] = jsd_bits_of(answers, country) - by_chance
    return divergences


def advantages(divergences: Array) -> Array:
    """(R, N, I) mean divergence from the other countries minus that from this country; NaN without other countries.

    >>> advantages(np.array([[[0.1], [0.4], [0.3]]]))[0, :, 0].round(2).tolist()
    [0.25, -0.2, -0.05]
    """
    is_known = np.isfinite(divergences)
    n_others = is_known.sum(axis=1, keepdims=True) - 1
    total = np.where(is_known, divergences, 0).sum(axis=1, keepdims=True)
    return np.where(is_known & (n_others > 0), (total - divergences) / np.maximum(n_others, 1) - divergences, np.nan)


def of_own(by_country: Array, own: NDArray[np.intp]) -> Array:
    """(R, ...) the value of each row at its own country, from (R, N, ...); NaN where it has no own country."""
    return _where_own(by_country[np.arange(own.size), np.maximum(own, 0)], own)


def at_own(of_countries: Array, own: NDArray[np.intp]) -> Array:
    """(R, ...) the value of each row's own country, from (N, ...) by country; NaN where it has no own country."""
    return _where_own(of_countries[np.maximum(own, 0)], own)


def _where_own(values: Array, own: NDArray[np.intp]) -> Array:
    return np.where((own >= 0).reshape(-1, *[1] * (values.ndim - 1)), values, np.nan)


@dataclass(frozen=True)
class Ranks:
    """Ranks of all countries for each of R answers; rank 1 is the nearest country.

    Attributes:
        by_country: (R, N) ranks by mean advantage; NaN where no item is shared.
        advantage: (R, N) mean over items.
        own: (R,) index of the own country; -1 where it has no people.
        drawn_rank, drawn_advantage: (draws, R) of the own country, in resamples of items.
    """

    by_country: Array
    advantage: Array
    own: NDArray[np.intp]
    drawn_rank: Array
    drawn_advantage: Array

    @property
    def own_rank(self) -> Array:
        """(R,) rank of the own country."""
        return of_own(self.by_country, self.own)

    @property
    def own_advantage(self) -> Array:
        """(R,) mean advantage of the own country."""
        return of_own(self.advantage, self.own)


def rank_countries(advantage: Array, own: NDArray[np.intp], counts: Array) -> Ranks:
    """Ranks of all countries by mean advantage, 1 being the nearest; ties share their mean rank.

    Args:
        advantage: (R, N, I) as `advantages` returns it.
        own: (R,) index of the own country; -1 where there are no people.
        counts: (draws, I) resamples of items.
    """
    mean = mean_of_known(advantage)
    ranks = _mid_ranks(mean[:, None, :] - mean[:, :, None])
    drawn = resampled_means(advantage, counts)
    drawn_own = np.where(own >= 0, drawn[:, np.arange(own.size), np.maximum(own, 0)], np.nan)
    drawn_rank = np.where(np.isfinite(drawn_own), _mid_ranks(drawn - drawn_own[..., None]), np.nan)
    return Ranks(np.where(np.isfinite(mean), ranks, np.nan), mean, own, drawn_rank, drawn_own)


def _mid_ranks(ahead: Array) -> Array:
    """(...,) mid-ranks of a value, from (..., N) differences of N values, itself included, minus this value."""
    is_tied = np.abs(ahead) <= ROUNDING
    return 1 + ((ahead > 0) & ~is_tied).sum(axis=-1) + (is_tied.sum(axis=-1) - 1) / 2


def rank_columns(grid: AnswerGrid, ranks: Ranks, n_items: NDArray[np.intp], level: float) -> dict[str, Any]:
    """Columns of each answer: advantage and rank of the own country with intervals over items; the nearest country."""
    is_known = np.isfinite(ranks.advantage)
    nearest = np.array(grid.countries, dtype=object)[np.where(is_known, ranks.advantage, -np.inf).argmax(axis=1)]
    return {
        **with_ends("own_country_advantage", ranks.own_advantage, interval_ends(ranks.drawn_advantage, n_items, level)),
        **with_ends("own_country_rank", ranks.own_rank, interval_ends(ranks.drawn_rank, n_items, level)),
        "n_countries": is_known.sum(axis=1),
        "nearest_country": np.where(is_known.any(axis=1), nearest, np.array(None, dtype=object)),
    }


def own_country_of_families(
    grid: AnswerGrid, ranks: Ranks, study: Study
) -> tuple[pd.DataFrame, list[dict[str, object]]]:
    """Mean rank and mean advantage of the own country per family, with their tests.

    Single cells are not tested: the rank of a cell among N countries has no p-value below 1 / N, which a correction for
    the number of cells would never make significant.
    """
    n, level = len(grid.countries), study.inference.level
    random = seeded(study.seed, "human_comparison", "countries")
    permutations, is_all = labellings(n, study.inference.resamples, random)
    rows, tests = [], []
    nearer = "nearer to the own country than expected by chance"
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
    """p-value of the mean over rows of the value at the own country, under permuted labels of countries.

    Args:
        evidence: (R, N) over all items together, so that labels are permuted jointly; large values are evidence.
        rows: the rows of a family that have an own country.
        permutations: (B, N) permutations of the countries.
        is_all: whether these are all permutations.
    """
    chosen = np.array(rows, dtype=np.intp)
    observed = mean_of_known(evidence[chosen, own[chosen]])
    return labelled_p(float(observed), mean_of_known(evidence[chosen, permutations[:, own[chosen]]]), is_all)
