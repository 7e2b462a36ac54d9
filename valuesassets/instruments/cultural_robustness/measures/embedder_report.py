"""Tests whether the embedder knows the languages: it should place translations of a question nearest to it."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.cultural_robustness.measures.answer_space import QUESTION
from valuesassets.instruments.cultural_robustness.tables import EMBEDDER_REPORT
from valuesassets.measure.means import Array
from valuesassets.records.frames import parts_of, rows

THRESHOLD = 0.5
"""Share of translations found below which the embedder does not know the language."""
TIED = 1e-9
"""Margin of similarity by which another text has to be nearer than the translation: two questions may read alike."""
KNOWN, UNKNOWN = "ok", "unknown_language"


def question_vectors(vectors: pd.DataFrame, languages: Iterable[str] | None = None) -> dict[str, dict[str, Array]]:
    """Vectors of the questions themselves by language and question id."""
    questions = rows(vectors, vectors["kind"] == QUESTION)
    wanted = None if languages is None else set(languages)
    return {
        language: {
            str(name): np.asarray(each, dtype=float) for name, each in zip(part["id"], part["vector"], strict=True)
        }
        for (language,), part in parts_of(questions, ["language"])
        if wanted is None or language in wanted
    }


def derive_embedder_report(vectors: pd.DataFrame, threshold: float = THRESHOLD) -> pd.DataFrame:
    """A row per language: share of its questions' translations that are found, and language's share of the variance.

    found_share: over the other languages, how often the nearest of their questions (cosine) is the translation.
    variance_share: squared distance of the language's mean from the mean of all, over the mean squared distance of all
    texts from it; its mean over languages is the share of the variance that is language. Only questions that every
    language has are compared, so that both mean the same everywhere.

    Args:
        vectors: with rows of kind `question`.
        threshold: below this share the language counts as unknown to the embedder.
    """
    by_language = question_vectors(vectors)
    names = sorted(set.intersection(*(set(each) for each in by_language.values())) if by_language else ())
    if len(by_language) < 2 or len(names) < 2:
        reason = f"{len(by_language)} languages share {len(names)} questions, two of each are needed"
        row = {"n_questions": len(names), "status": "undefined", "reason": reason}
        return EMBEDDER_REPORT.frame([{"language": language} | row for language in by_language])
    texts = np.stack([np.stack([each[name] for name in names]) for each in by_language.values()])
    shares = zip(by_language, found_shares(texts).tolist(), variance_shares(texts).tolist(), strict=True)
    return EMBEDDER_REPORT.frame([_row(*each, len(names), threshold) for each in shares])


def found_shares(texts: Array) -> Array:
    """(L,) mean over the other languages of how often the nearest of their texts is the translation.

    Args:
        texts: (L, Q, D) vectors of Q texts in L languages.

    >>> found_shares(np.array([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.1], [1.0, 0.2]]])).tolist()
    [1.0, 0.5]
    """
    lengths = np.linalg.norm(texts, axis=-1, keepdims=True)
    directions = texts / np.where(lengths > 0, lengths, 1)
    n = len(texts)
    hits = np.zeros((n, n))
    for own in range(n):
        likeness = np.einsum("qd,mrd->mqr", directions[own], directions, optimize=True)
        hits[own] = (np.einsum("mqq->mq", likeness) >= likeness.max(axis=-1) - TIED).mean(axis=-1)
    return (hits.sum(axis=1) - np.diag(hits)) / (n - 1)


def variance_shares(texts: Array) -> Array:
    """(L,) squared distance of each language's mean from the mean of all, over the mean squared distance of all texts.

    >>> variance_shares(np.array([[[0.0], [0.0]], [[2.0], [2.0]]])).tolist()
    [1.0, 1.0]
    """
    middle = texts.mean(axis=(0, 1))
    total = float(np.mean(np.sum((texts - middle) ** 2, axis=-1)))
    offsets = np.sum((texts.mean(axis=1) - middle) ** 2, axis=-1)
    return offsets / total if total > 0 else np.full(len(texts), np.nan)


def language_share(report: pd.DataFrame) -> float:
    """Share of the questions' variance that is language."""
    return float(report["variance_share"].mean())


def _row(language: str, found_share: float, variance_share: float, n: int, threshold: float) -> Mapping[str, Any]:
    is_known = found_share >= threshold
    lack = f"finds {found_share:.2f} of the translations, {threshold:.2f} are needed: another embedder"
    return {
        "language": language,
        "n_questions": n,
        "found_share": found_share,
        "variance_share": variance_share,
        "status": KNOWN if is_known else UNKNOWN,
        "reason": None if is_known else lack,
    }
