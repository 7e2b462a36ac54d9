"""Distances between languages per question: without a country, for the same country, and for another one."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.cultural_robustness.measures.answer_space import AnswerSpace, QuestionCells
from valuesassets.instruments.cultural_robustness.tables import LANGUAGE_PAIRS
from valuesassets.measure.crossed_distances import Crossed, cross_distances, mean_over_pairs
from valuesassets.measure.means import Array
from valuesassets.measure.resampling import means_with_intervals
from valuesassets.records.frames import records


@dataclass(frozen=True, eq=False)
class PairDistances:
    """Distances of a model's answers by question; Q questions, L languages.

    Attributes:
        unanchored: (Q, L, L) U; None where nothing was asked without a country.
        same_country: (Q, L, L) A, mean over countries; None where no country was named.
        other_country: (Q, L, L) C, whose diagonal is V of each language; None likewise.
        conditions: of each question (K,) mean distance between languages under each condition, the unanchored first.
        countries: all that are compared.
        to_countries: (Q, L, N) distance of a language's unanchored answer to its answer for each country; NaN where the
            question has it not; None where one kind is missing.
        follow_by_chance: (draws,) mean C - A with countries permuted within question and language.
    """

    languages: tuple[str, ...]
    unanchored: Array | None
    same_country: Array | None
    other_country: Array | None
    conditions: tuple[Array, ...]
    countries: tuple[str, ...]
    to_countries: Array | None
    follow_by_chance: Array

    @cached_property
    def gain(self) -> Array | None:
        """(Q, L, L) U - A of each pair of languages."""
        both = self.unanchored, self.same_country
        return None if both[0] is None or both[1] is None else both[0] - both[1]

    @cached_property
    def gains(self) -> Array:
        """(Q,) U - A, mean over pairs; NaN without one of the kinds."""
        return self._nothing if self.gain is None else mean_over_pairs(self.gain)

    @cached_property
    def follows(self) -> Array:
        """(Q,) C - A, mean over pairs; NaN without countries."""
        both = self.other_country, self.same_country
        return self._nothing if both[0] is None or both[1] is None else mean_over_pairs(both[0] - both[1])

    @cached_property
    def between_countries(self) -> Array:
        """(Q,) V, mean over languages; NaN without countries."""
        if self.other_country is None:
            return self._nothing
        return np.einsum("qll->ql", self.other_country).mean(axis=1)

    @property
    def _nothing(self) -> Array:
        return np.full(len(self.conditions), np.nan)


def measure_pairs(space: AnswerSpace, draws: int, random: np.random.Generator) -> PairDistances:
    """Distances of every question, one after the other, so that only one question's are held at a time.

    Args:
        space: with two languages and one question at least (its `lack` is None).
        draws: permutations of countries.
    """
    countries = tuple(sorted({name for each in space.questions for name in each.countries}))
    has_both = space.has_unanchored and space.has_anchored
    same, other, own, conditions = [], [], [], []
    follow = np.zeros(draws)
    for cells in space.questions:
        crossed = cross_distances(cells.means, cells.noise, cells.strata, draws if space.has_anchored else 0, random)
        conditions.append(mean_over_pairs(crossed.same))
        same.append(_by_kind(crossed, space))
        if space.has_anchored:
            other.append(crossed.other)
            follow += crossed.by_chance / len(space.questions)
        if has_both:
            own.append(_to_countries(crossed, cells, countries))
    return PairDistances(
        languages=space.languages,
        unanchored=np.stack([each[0] for each in same]) if space.has_unanchored else None,
        same_country=np.stack([each[1] for each in same]) if space.has_anchored else None,
        other_country=np.stack(other) if space.has_anchored else None,
        conditions=tuple(conditions),
        countries=countries,
        to_countries=np.stack(own) if has_both else None,
        follow_by_chance=follow if space.has_anchored else np.empty(0),
    )


def _by_kind(crossed: Crossed, space: AnswerSpace) -> tuple[Array, Array]:
    """(L, L) each: U, and A as the mean over anchors; without one kind its place holds the other, which is not used."""
    n_before = int(space.has_unanchored)
    anchored = crossed.same[n_before:]
    return crossed.same[0], anchored.mean(axis=0) if len(anchored) else crossed.same[0]


def _to_countries(crossed: Crossed, cells: QuestionCells, countries: tuple[str, ...]) -> Array:
    """(L, N) distance of the unanchored answer to that for each country, mean over personas; NaN where it is not."""
    place_of = np.array([countries.index(name) for name in cells.countries])
    is_it = place_of[:, None] == np.arange(len(countries))
    n = is_it.sum(axis=0)
    return np.where(n > 0, crossed.own[:, 0, 1:] @ is_it / np.maximum(n, 1), np.nan)


def gain_by_chance(conditions: tuple[Array, ...], draws: int, random: np.random.Generator) -> Array:
    """(draws,) mean gain where any of a question's conditions may have been the unanchored one.

    Args:
        conditions: of each question (K,) mean distance between languages under each condition.

    >>> np.abs(gain_by_chance((np.array([1.0, 0.0]),), 3, np.random.default_rng(0))).tolist()
    [1.0, 1.0, 1.0]
    """
    total = np.zeros(draws)
    for each in conditions:
        k = each.size
        gains = (each * k - each.sum()) / (k - 1)
        total += gains[random.integers(0, k, draws)]
    return total / len(conditions)


def derive_language_pairs(model: str, pairs: PairDistances, counts: Array, level: float = 0.95) -> pd.DataFrame:
    """A row per pair of languages: U, A and C, mean over questions, and U - A with its interval.

    Args:
        counts: (draws, Q) resamples of questions.
    """
    first, second = np.triu_indices(len(pairs.languages), 1)
    names = np.array(pairs.languages, dtype=object)
    columns: dict[str, NDArray] = {"language": names[first], "other_language": names[second]}
    for name, values in (
        ("unanchored_distance", pairs.unanchored),
        ("same_country_distance", pairs.same_country),
        ("other_country_distance", pairs.other_country),
    ):
        columns[name] = np.full(first.size, np.nan) if values is None else values.mean(axis=0)[first, second]
    n = len(pairs.conditions)
    gain = np.full((first.size, n), np.nan) if pairs.gain is None else pairs.gain[:, first, second].T
    columns |= means_with_intervals(gain, counts, level).columns("culture_gain")
    return pd.DataFrame({"model": model, "n_questions": n} | columns).reindex(columns=LANGUAGE_PAIRS.names)


def pair_square(pairs: pd.DataFrame, name: str) -> tuple[list[str], Array]:
    """The languages of one model's pairs, and a column as a symmetric matrix with a diagonal of 0."""
    languages = [str(each) for each in dict.fromkeys([*pairs["language"], *pairs["other_language"]])]
    square = np.full((len(languages), len(languages)), np.nan)
    np.fill_diagonal(square, 0.0)
    for row in records(pairs):
        at = languages.index(row["language"]), languages.index(row["other_language"])
        square[at] = square[at[::-1]] = row[name]
    return languages, square
