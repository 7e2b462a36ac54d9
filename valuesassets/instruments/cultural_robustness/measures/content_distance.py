"""Content distance: do answers without a country differ more between languages than translations of one text do?

It is all that can be said where no country is named: 0 as translations of one question, 1 as different questions.
"""

import numpy as np
import pandas as pd

from valuesassets.instruments.cultural_robustness.measures.answer_space import AnswerSpace
from valuesassets.instruments.cultural_robustness.measures.embedder_report import question_vectors
from valuesassets.measure.crossed_distances import mean_over_pairs, unbiased_distances
from valuesassets.measure.means import Array
from valuesassets.measure.ratio_of_means import Ratio, ratio_of_means

FEWEST_QUESTIONS = 3
"""Below which the mean over the other questions is hardly a language's mean."""


def content_distance(space: AnswerSpace, vectors: pd.DataFrame, level: float = 0.95) -> Ratio | str:
    """(U' - F) / (T - F) of a model with its interval over questions; or the reason, in words, why there is none.

    Each language's mean over the questions themselves is subtracted from its answers (U') and from its questions. For
    a question (F, T) the mean is that of the others: a text lies too near to a mean that it is part of.

    Args:
        space: with unanchored answers.
        vectors: those of the questions among them (kind `question`).

    Source: Libovicky, Rosa and Fraser (2020), Findings of EMNLP, 1663-1674, section 3 (centring by language).
    """
    questions = question_vectors(vectors, space.languages)
    names = [each.question_id for each in space.questions]
    lacking = next((f"{at} in {of}" for of in space.languages for at in names if at not in questions.get(of, {})), None)
    if lacking or len(names) < FEWEST_QUESTIONS:
        lack = f"question {lacking} has none" if lacking else f"{len(names)} questions found"
        return f"vectors of {FEWEST_QUESTIONS} questions or more are needed in every language; {lack}"
    means = np.stack([np.mean(list(questions[of].values()), axis=0) for of in space.languages])
    sizes = np.array([len(questions[of]) for of in space.languages])
    texts = np.stack([np.stack([questions[of][at] for at in names]) for of in space.languages])
    texts = (texts - means[:, None]) * (sizes / (sizes - 1))[:, None, None]
    same, different = translation_distances(texts)
    answers = np.array(
        [mean_over_pairs(unbiased_distances(each.means[:, 0] - means, each.noise[:, 0])) for each in space.questions]
    )
    others = different.sum(axis=1) / (len(names) - 1)
    # What leaving a question out takes from the mean over pairs of questions is that of its own pairs, twice.
    ratio = ratio_of_means(answers - same, 2 * others - others.mean() - same, level)
    if np.isnan(ratio.value):
        return "different questions are no farther apart than translations of one: the embedder tells no content apart"
    return ratio


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
