"""What the scores of a planted family should be, enumerated from what is planted: no sample, no estimator.

The mean vector of a prompt is the sum over its answers of probability times vector; distances between these are taken
in plain loops over questions, languages and countries. Nothing here is shared with what the scores are estimated by.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.cultural_robustness.plants.planted_answers import (
    QUESTIONS,
    Cell,
    country_shares,
    planted_faults,
)
from valuesassets.instruments.cultural_robustness.plants.planted_embedder import Sentence, sentence_vector

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Expected:
    """Half squared distances of expected vectors, means over questions.

    Attributes:
        unanchored, same_country, other_country: between languages: without a country, under the same one, under others.
        within_language: between countries in one language.
    """

    unanchored: float
    same_country: float
    other_country: float
    within_language: float

    @property
    def diversity(self) -> float:
        """(U - A) / V."""
        return (self.unanchored - self.same_country) / self.within_language

    @property
    def robustness(self) -> float:
        """(C - A) / V."""
        return (self.other_country - self.same_country) / self.within_language


def expected_distances(
    family: str, languages: Sequence[str], countries: Sequence[str], questions: Sequence[str] = QUESTIONS
) -> Expected:
    """What U, A, C and V should be of a family; a country counts in a question where no language's prompt is at fault.

    Args:
        countries: those that are named in prompts.
    """
    faults = planted_faults(family)
    by_question: list[tuple[float, float, float, float]] = []
    for question in questions:
        kept = [each for each in countries if not any(Cell(one, question, each) in faults for one in languages)]
        plain = {one: mean_vector(family, Cell(one, question)) for one in languages}
        under = {(one, a): mean_vector(family, Cell(one, question, a)) for one in languages for a in kept}
        pairs, others = list(combinations(languages, 2)), list(permutations(kept, 2))
        by_question.append(
            (
                fmean(_distance(plain[one], plain[two]) for one, two in pairs),
                fmean(_distance(under[one, a], under[two, a]) for one, two in pairs for a in kept),
                fmean(_distance(under[one, a], under[two, b]) for one, two in pairs for a, b in others),
                fmean(_distance(under[one, a], under[one, b]) for one in languages for a, b in combinations(kept, 2)),
            )
        )
    return Expected(*(fmean(each) for each in zip(*by_question, strict=True)))


def mean_vector(family: str, cell: Cell) -> Array:
    """The expected vector of an answer to a prompt."""
    shares = country_shares(family, cell)
    vectors = [
        share * sentence_vector(Sentence(cell.language, cell.question_id, country)) for country, share in shares.items()
    ]
    return np.sum(vectors, axis=0)


def _distance(first: Array, second: Array) -> float:
    return float(((first - second) ** 2).sum()) / 2
