"""Own-country advantage: is a language's answer without a country nearest to its answer for its own country?

It compares answers within one language only, so that no distance between languages comes in.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.cultural_robustness.language_pairs import PairDistances
from valuesassets.measure.means import Array, mean_of_known
from valuesassets.measure.own_against_chance import own_and_by_chance
from valuesassets.measure.resampling import interval_ends, label_permutations, permutation_p, resampled_means

FEWEST = 2
"""Languages with an own country, and countries, below which nothing can be exchanged."""


@dataclass(frozen=True, eq=False)
class Closeness:
    """How close each language's unanchored answers are to its answers for each country, beside other languages.

    Attributes:
        distance: (L, N) P, mean over questions.
        closeness: (L, N) I: -P without the means of its rows and columns.
        drawn: (draws, L, N) the same in resamples of questions.
        own: (L,) place of the own country; -1 where it has none among the countries.
    """

    distance: Array
    closeness: Array
    drawn: Array
    own: NDArray[np.intp]


@dataclass(frozen=True)
class OwnCountryAdvantage:
    """Mean closeness to the own country, in half squared distances.

    Attributes:
        value, low, high: mean over the languages that have one, and its interval over questions.
        p: one-sided, own countries permuted over languages.
        by_chance: mean under these permutations.
        n_languages: those with an own country among the countries.
    """

    value: float
    low: float
    high: float
    p: float
    by_chance: float
    n_languages: int


def measure_closeness(found: PairDistances, own_countries: Mapping[str, str], counts: Array) -> Closeness | None:
    """Closeness to every country; None where answers without or with a country are missing.

    Args:
        own_countries: ISO 3166 by language; languages may have none.
        counts: (draws, Q) resamples of questions.
    """
    if found.to_countries is None:
        return None
    by_language = np.moveaxis(found.to_countries, 0, -1)
    places = {name: place for place, name in enumerate(found.countries)}
    own = [places.get(own_countries.get(language, ""), -1) for language in found.languages]
    distance = mean_of_known(by_language)
    drawn = double_centred(-resampled_means(by_language, counts))
    return Closeness(distance, double_centred(-distance), drawn, np.array(own, dtype=np.intp))


def double_centred(values: Array) -> Array:
    """(..., L, N) values without the means of their rows and columns; NaN is left out and stays.

    >>> double_centred(np.array([[2.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    by_row = mean_of_known(values, axis=-1)[..., :, None]
    by_column = mean_of_known(values, axis=-2)[..., None, :]
    return values - by_row - by_column + np.asarray(mean_of_known(by_row, axis=-2))[..., None, :]


def own_country_advantage(
    found: Closeness, n_questions: int, draws: int, random: np.random.Generator, level: float = 0.95
) -> OwnCountryAdvantage | str:
    """The advantage with its test; in words, why there is none.

    Source: own countries are permuted as labels of rows are: Phipson and Smyth (2010), see `permutation_p`.
    """
    chosen = np.flatnonzero(found.own >= 0)
    own = found.own[chosen]
    if chosen.size < FEWEST or np.unique(own).size < FEWEST:
        return (
            f"{chosen.size} of {found.own.size} languages have an own country among those named, "
            f"{np.unique(own).size} different ones: two languages with different ones are needed"
        )
    permuted = own[label_permutations(own.size, draws, random)]
    value, by_chance = own_and_by_chance(found.closeness[chosen], own, permuted)
    low, high = interval_ends(mean_of_known(found.drawn[:, chosen, own]), n_questions, level)
    p = permutation_p(value, by_chance)
    return OwnCountryAdvantage(value, float(low), float(high), p, float(by_chance.mean()), chosen.size)
