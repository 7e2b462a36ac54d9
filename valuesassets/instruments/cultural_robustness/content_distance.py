"""Content distance: do answers without a country differ more between languages than translations of one text do?

It is all that can be said where no country is named: 0 as translations of one question, 1 as different questions.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from valuesassets.instruments.cultural_robustness.answer_space import AnswerSpace
from valuesassets.instruments.cultural_robustness.embedder_report import question_vectors
from valuesassets.measure.crossed_distances import mean_over_pairs, unbiased_distances
from valuesassets.measure.means import Array
from valuesassets.measure.resampling import interval_ends

FEWEST_QUESTIONS = 3
"""Below which the mean over the other questions is hardly a language's mean."""


@dataclass(frozen=True)
class ContentDistance:
    """(U' - F) / (T - F) with its interval over questions, and how many questions it rests on."""

    value: float
    low: float
    high: float
    n_questions: int


def content_distance(
    space: AnswerSpace, vectors: pd.DataFrame, counts: Array, level: float = 0.95
) -> ContentDistance | str:
    """The content distance of a model; in words, why there is none.

    Each language's mean over the questions themselves is taken off its answers (U'), and off its questions, each
    without its own share (F, T): a text lies too near to a mean that it is part of.

    Args:
        space: with unanchored answers.
        vectors: those of the questions among them (kind `question`).
        counts: (draws, Q) resamples of the questions of `space`.

    Source: Libovicky, Rosa and Fraser (2020), Findings of EMNLP, 1663-1674, section 3 (centring by language).
    """
    asked = question_vectors(vectors, space.languages)
    names = [each.question_id for each in space.questions]
    lacking = next((f"{at} in {of}" for of in space.languages for at in names if at not in asked.get(of, {})), None)
    if lacking or len(names) < FEWEST_QUESTIONS:
        found = f"question {lacking} has none" if lacking else f"{len(names)} questions found"
        return f"vectors of {FEWEST_QUESTIONS} questions or more are needed in every language; {found}"
    means = np.stack([np.mean(list(asked[of].values()), axis=0) for of in space.languages])
    sizes = np.array([len(asked[of]) for of in space.languages])
    texts = np.stack([np.stack([asked[of][at] for at in names]) for of in space.languages])
    texts = (texts - means[:, None]) * (sizes / (sizes - 1))[:, None, None]
    same, different = translation_distances(texts)
    answers = np.array(
        [mean_over_pairs(unbiased_distances(each.means[:, 0] - means, each.noise[:, 0])) for each in space.questions]
    )
    parts = answers, same, different
    over, under = (float(each[0]) for each in _parts(*parts, np.ones((1, len(names)))))
    if not under > 0:
        return "different questions are no farther apart than translations of one: the embedder tells no content apart"
    tops, bottoms = _parts(*parts, counts)
    drawn = np.where(bottoms > 0, tops / np.where(bottoms > 0, bottoms, 1), np.nan)
    low, high = interval_ends(drawn, len(names), level)
    return ContentDistance(over / under, float(low), float(high), len(names))


def translation_distances(texts: Array) -> tuple[Array, Array]:
    """Mean distances between languages: (Q,) of the same question, (Q, Q) of different ones, 0 on the diagonal.

    Args:
        texts: (L, Q, D) vectors of Q questions in L languages.
    """
    n, width = texts.shape[:2]
    every = unbiased_distances(texts.reshape(n * width, -1), np.zeros(n * width)).reshape(n, width, n, width)
    is_other = ~np.eye(n, dtype=bool) / (n * (n - 1))
    between = np.einsum("lqmr,lm->qr", every, is_other, optimize=True)
    same = np.diag(between).copy()
    np.fill_diagonal(between, 0.0)
    return same, between


def _parts(answers: Array, same: Array, different: Array, counts: Array) -> tuple[Array, Array]:
    """(draws,) U' - F and T - F; a question that a resample has twice is no different question from itself."""
    n = counts.sum(axis=1)
    others = np.einsum("bq,qr,br->b", counts, different, counts, optimize=True)
    n_pairs = n**2 - (counts**2).sum(axis=1)
    translations = counts @ same / n
    return counts @ answers / n - translations, others / np.where(n_pairs > 0, n_pairs, np.nan) - translations
