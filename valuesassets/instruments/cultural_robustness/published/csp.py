"""The published scores CD, CR and CSP: distances between languages' answers, and their correlation.

U of a question and a pair of languages is the distance of their answers without a country, A the mean over countries of
the distance of their answers under the same one; the distance of vectors of length 1 is 1 - cosine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from scipy.stats import rankdata

from valuesassets.instruments.cultural_robustness.published.clustering import Texts
from valuesassets.measure.seeding import seeded

Array = NDArray[np.float64]
FEWEST_QUESTIONS = 3
"""Questions whose ranks can go together to some degree: those of two always agree or disagree wholly."""
DIGITS = 12
"""Distances that differ behind these are equal: rounding makes no ranks."""


@dataclass(frozen=True)
class PairDistances:
    """Distances between languages, question by question.

    Attributes:
        questions: their ids.
        languages: in order; pairs stand as `itertools.combinations` gives them.
        values: (questions, pairs) half the squared distance; NaN where one of the two has no answer.
    """

    questions: tuple[str, ...]
    languages: tuple[str, ...]
    values: Array

    @property
    def mean(self) -> float | None:
        """Mean over the pairs of a question, then over questions; None where there is no pair."""
        of_questions = [float(np.mean(distances)) for row in self.values if (distances := row[np.isfinite(row)]).size]
        return float(np.mean(of_questions)) if of_questions else None


def pair_distances(texts: Sequence[Texts]) -> PairDistances:
    """Distances of every pair of languages in each question; of a question with anchors their mean over these."""
    languages = tuple(sorted({language for each in texts for language in each.languages}))
    questions = tuple(dict.fromkeys(each.question_id for each in texts))
    places = {pair: place for place, pair in enumerate(combinations(languages, 2))}
    sums = np.zeros((len(questions), len(places)))
    counts = np.zeros_like(sums)
    row = {question: number for number, question in enumerate(questions)}
    for each in texts:
        pairs = [places[pair] for pair in combinations(each.languages, 2)]
        sums[row[each.question_id], pairs] += pdist(each.vectors.astype(np.float64), "sqeuclidean") / 2
        counts[row[each.question_id], pairs] += 1
    values = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return PairDistances(questions, languages, values)


def common(first: PairDistances, second: PairDistances) -> tuple[PairDistances, PairDistances]:
    """The questions and pairs of languages that both have, in the same order."""
    questions = tuple(question for question in first.questions if question in second.questions)
    languages = tuple(language for language in first.languages if language in second.languages)

    def of(each: PairDistances) -> PairDistances:
        rows = [each.questions.index(question) for question in questions]
        places = {pair: place for place, pair in enumerate(combinations(each.languages, 2))}
        columns = [places[pair] for pair in combinations(languages, 2)]
        return PairDistances(questions, languages, each.values[np.ix_(rows, columns)])

    return of(first), of(second)


def csp(unanchored: Array, anchored: Array) -> float | None:
    """1 - (mean over pairs of Spearman's rho of U and A over questions)^2, in [0, 1].

    A pair whose U or A are equal in all questions has no rho and is left out.

    Args:
        unanchored, anchored: (questions, pairs) of the same questions and pairs; NaN where there is none.

    Returns:
        None where no pair has a rho.
    """
    rhos = [ranks.rho() for ranks in _ranked(unanchored, anchored)]
    return 1 - float(np.mean(rhos)) ** 2 if rhos else None


def csp_question(unanchored: Array, anchored: Array) -> float | None:
    """1 - rho^2 of the questions' means over pairs; otherwise as `csp`."""
    return csp(*_over_pairs(unanchored, anchored))


def csp_null(unanchored: Array, anchored: Array, draws: int, seed: int) -> float | None:
    """Mean of `csp` where U and A do not go together: the questions of A permuted, in all pairs alike."""
    keys = seeded(seed, "csp").random((draws, len(unanchored)))
    rhos = [ranks.rho(np.argsort(keys[:, ranks.has_both], axis=1)) for ranks in _ranked(unanchored, anchored)]
    return 1 - float(np.mean(np.mean(rhos, axis=0) ** 2)) if rhos else None


def csp_question_null(unanchored: Array, anchored: Array, draws: int, seed: int) -> float | None:
    """`csp_null` of the questions' means over pairs."""
    return csp_null(*_over_pairs(unanchored, anchored), draws, seed)


@dataclass(frozen=True)
class _Ranks:
    """Ranks of one pair's U and A over the questions that have both, each centred and of length 1."""

    has_both: NDArray[np.bool_]
    first: Array
    second: Array

    def rho(self, order: NDArray[np.intp] | slice = slice(None)) -> Array:
        """Spearman's rho of U, and A in an order, or in each of many."""
        return np.asarray(self.second[order] @ self.first)


def _ranked(unanchored: Array, anchored: Array) -> list[_Ranks]:
    """The pairs that have a rho."""
    ranked = []
    for first, second in zip(unanchored.T, anchored.T, strict=True):
        has_both = np.isfinite(first) & np.isfinite(second)
        ranks = [rankdata(np.round(each[has_both], DIGITS)) for each in (first, second)]
        if has_both.sum() >= FEWEST_QUESTIONS and all(np.ptp(each) > 0 for each in ranks):
            ranked.append(_Ranks(has_both, *map(_unit, ranks)))
    return ranked


def _unit(ranks: Array) -> Array:
    centred = ranks - ranks.mean()
    return centred / np.linalg.norm(centred)


def _over_pairs(unanchored: Array, anchored: Array) -> tuple[Array, Array]:
    """Means over the pairs that have both, as one column each."""
    has_both = np.isfinite(unanchored) & np.isfinite(anchored)
    sizes = has_both.sum(axis=1)
    means = [
        np.divide(np.where(has_both, each, 0).sum(axis=1), sizes, out=np.full(len(sizes), np.nan), where=sizes > 0)
        for each in (unanchored, anchored)
    ]
    return means[0][:, None], means[1][:, None]
