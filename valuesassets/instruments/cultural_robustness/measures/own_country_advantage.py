"""Own-country advantage: whether answers without a country are nearest to those for the language's own country.

It compares answers within one language only, so that it uses no distance between languages.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.cultural_robustness.measures.language_pairs import PairDistances
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.resampling import label_permutations, own_and_by_chance, permutation_p, resampled_means

FEWEST = 2
"""Least number of languages with an own country, and of different own countries: fewer cannot be permuted."""


@dataclass(frozen=True, eq=False)
class Closeness:
    """How close each language's unanchored answers are to its answers for each country, beside other languages.

    Attributes:
        distance: (L, N) P, mean over questions.
        closeness: (L, N) I: -P without the means of its rows and columns.
        drawn: (draws, L, N) the same in resamples of questions.
        of_questions: (Q, L, N) what each question adds: closeness plus (Q - 1) times what leaving it out takes away.
        own: (L,) place of the own country; -1 where it has none among the countries.
    """

    distance: Array
    closeness: Array
    drawn: Array
    of_questions: Array
    own: NDArray[np.intp]


@dataclass(frozen=True)
class OwnCountryAdvantage:
    """Mean closeness to the own country, in half squared distances.

    Attributes:
        of_questions: (Q,) mean over the languages that have one, question by question; their mean is the advantage.
        p: one-sided, own countries permuted over languages.
        by_chance: mean under these permutations.
        n_languages: those with an own country among the countries.
    """

    of_questions: Array
    p: float
    by_chance: float
    n_languages: int


def measure_closeness(pairs: PairDistances, own_countries: Mapping[str, str], counts: Array) -> Closeness | None:
    """Closeness to every country; None where answers without or with a country are missing.

    Args:
        own_countries: ISO 3166 by language; languages may have none.
        counts: (draws, Q) resamples of questions.
    """
    if pairs.to_countries is None:
        return None
    by_language = np.moveaxis(pairs.to_countries, 0, -1)
    places = {name: place for place, name in enumerate(pairs.countries)}
    own = [places.get(own_countries.get(language, ""), -1) for language in pairs.languages]
    distance = mean_of_known(by_language)
    n, closeness = by_language.shape[-1], double_centred(-distance)
    drawn, without = (double_centred(-resampled_means(by_language, each)) for each in (counts, 1 - np.eye(n)))
    of_questions = closeness + (n - 1) * np.nan_to_num(closeness - without)
    return Closeness(distance, closeness, drawn, of_questions, np.array(own, dtype=np.intp))


def double_centred(values: Array) -> Array:
    """(..., L, N) values without the means of their rows and columns; NaN is left out and stays.

    >>> double_centred(np.array([[2.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    by_row = mean_of_known(values, axis=-1)[..., :, None]
    by_column = mean_of_known(values, axis=-2)[..., None, :]
    return values - by_row - by_column + np.asarray(mean_of_known(by_row, axis=-2))[..., None, :]


def own_country_advantage(measured: Closeness, draws: int, random: np.random.Generator) -> OwnCountryAdvantage | str:
    """The advantage with its test; or the reason, in words, why there is none.

    Source: own countries are permuted as labels of rows are: Phipson and Smyth (2010), see `permutation_p`.
    """
    chosen = np.flatnonzero(measured.own >= 0)
    own = measured.own[chosen]
    if chosen.size < FEWEST or np.unique(own).size < FEWEST:
        return (
            f"{chosen.size} of {measured.own.size} languages have an own country among those named, "
            f"{np.unique(own).size} different ones: two languages with different ones are needed"
        )
    permuted = own[label_permutations(own.size, draws, random)]
    value, by_chance = own_and_by_chance(measured.closeness[chosen], own, permuted)
    of_questions = mean_of_known(measured.of_questions[:, chosen, own])
    # questions of which some lack a country do not quite add up
    of_questions += value - of_questions.mean()
    p = permutation_p(value, by_chance)
    return OwnCountryAdvantage(of_questions, p, float(by_chance.mean()), chosen.size)
