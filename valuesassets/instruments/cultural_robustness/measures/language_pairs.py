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


@dataclass(frozen=True, eq=False)
class PairDistances:
    """What is compared of a model's answers, by question; Q questions, L languages.

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
        found = cross_distances(cells.means, cells.noise, cells.strata, draws if space.has_anchored else 0, random)
        conditions.append(mean_over_pairs(found.same))
        same.append(_by_kind(found, space))
        if space.has_anchored:
            other.append(found.other)
            follow += found.by_chance / len(space.questions)
        if has_both:
            own.append(_to_countries(found, cells, countries))
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


def _by_kind(found: Crossed, space: AnswerSpace) -> tuple[Array, Array]:
    """(L, L) each: U, and A as the mean over anchors; what is not there is an empty mean that nobody asks for."""
    n_before = int(space.has_unanchored)
    anchored = found.same[n_before:]
    return found.same[0], anchored.mean(axis=0) if len(anchored) else found.same[0]


def _to_countries(found: Crossed, cells: QuestionCells, countries: tuple[str, ...]) -> Array:
    """(L, N) distance of the unanchored answer to that for each country, mean over personas; NaN where it is not."""
    at = np.array([countries.index(name) for name in cells.countries])
    is_it = at[:, None] == np.arange(len(countries))
    n = is_it.sum(axis=0)
    return np.where(n > 0, found.own[:, 0, 1:] @ is_it / np.maximum(n, 1), np.nan)


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


def derive_language_pairs(model: str, found: PairDistances, counts: Array, level: float = 0.95) -> pd.DataFrame:
    """A row per pair of languages: U, A and C, mean over questions, and U - A with its interval.

    Args:
        counts: (draws, Q) resamples of questions.
    """
    first, second = np.triu_indices(len(found.languages), 1)
    names = np.array(found.languages, dtype=object)
    columns: dict[str, NDArray] = {"language": names[first], "other_language": names[second]}
    for name, values in (
        ("unanchored_distance", found.unanchored),
        ("same_country_distance", found.same_country),
        ("other_country_distance", found.other_country),
    ):
        columns[name] = np.full(first.size, np.nan) if values is None else values.mean(axis=0)[first, second]
    gain = (
        np.full((first.size, len(found.conditions)), np.nan) if found.gain is None else found.gain[:, first, second].T
    )
    columns |= means_with_intervals(gain, counts, level).columns("culture_gain")
    frame = pd.DataFrame({"model": model} | columns)
    return frame.assign(n_questions=len(found.conditions)).reindex(columns=LANGUAGE_PAIRS.names)
