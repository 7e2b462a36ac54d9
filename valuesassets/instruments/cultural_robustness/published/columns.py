"""The published scores, each beside its null: its value for translations of the questions themselves.

They count every answer that is not blank, the first sample of each, whatever language it is in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.cultural_robustness.published.clustering import (
    FEWEST_LANGUAGES,
    QUESTION,
    SPECIFIC,
    UNSPECIFIC,
    ClusteredQuestion,
    cluster_questions,
    first_texts,
    mean_score,
)
from valuesassets.instruments.cultural_robustness.published.csp import (
    FEWEST_QUESTIONS,
    PairDistances,
    common,
    csp,
    csp_null,
    csp_question,
    csp_question_null,
    pair_distances,
)
from valuesassets.records.frames import rows

PERMUTATIONS = 499
"""Orders of the questions that the null of CSP is the mean over."""
WORDS = {UNSPECIFIC: "answers without a country", SPECIFIC: "answers with a country"}
DEFINED, UNDEFINED = "ok", "undefined"
"""Statuses of a score."""
COLUMNS = ("model", "score", "value", "low", "high", "p", "null", "n_questions", "n_languages", "status", "reason")
Row = dict[str, Any]


@dataclass(frozen=True)
class PublishedScores:
    """The published scores of one model, and the clusters behind them.

    Attributes:
        scores: a row per score, in columns of `scores`: `model, score, value, null, n_questions, n_languages, status,
            reason`; `low, high, p` are empty.
        clustered: by kind of answers, for `write_clustering`.
    """

    scores: pd.DataFrame
    clustered: dict[str, list[ClusteredQuestion]]


def published_scores(vectors: pd.DataFrame, model: str, *, draws: int = PERMUTATIONS, seed: int = 0) -> PublishedScores:
    """`seed_diversity`, `seed_robustness`, `seed_product`, `cd`, `cr`, `csp` and `csp_question` of one model.

    Args:
        vectors: columns `language, kind, id, sample, vector`, answers and, for the nulls, the questions (kind
            `question`) in the same languages; without them the nulls are empty.
        draws: permutations in the null of CSP.
    """
    texts = {kind: first_texts(vectors, kind) for kind in (UNSPECIFIC, SPECIFIC)}
    languages = sorted({language for of_kind in texts.values() for each in of_kind for language in each.languages})
    questions = first_texts(rows(vectors, vectors["language"].isin(languages)), QUESTION)
    clustered = {kind: cluster_questions(of_kind) for kind, of_kind in texts.items()}
    unanchored, anchored = (pair_distances(texts[kind]) for kind in (UNSPECIFIC, SPECIFIC))
    score_rows = [
        *_of_clusters(clustered, mean_score(cluster_questions(questions), UNSPECIFIC)),
        *_of_distances(unanchored, anchored, pair_distances(questions)),
        *_of_both(unanchored, anchored, draws, seed),
    ]
    return PublishedScores(pd.DataFrame(score_rows, columns=pd.Index(COLUMNS)).assign(model=model), clustered)


def _of_clusters(clustered: Mapping[str, Sequence[ClusteredQuestion]], null: float | None) -> list[Row]:
    """`seed_*`; questions have the same null for answers with a country and without one."""
    reasons = {kind: _too_few(each, kind) for kind, each in clustered.items()}
    values = {kind: mean_score(each, kind) for kind, each in clustered.items()}
    sizes = {kind: _sizes(questions, kind) for kind, questions in clustered.items()}
    product, null_product = _product(values[UNSPECIFIC], values[SPECIFIC]), _product(null, _rest(null))
    fewest = {name: min(of_kind[name] for of_kind in sizes.values()) for name in sizes[UNSPECIFIC]}
    return [
        _row("seed_diversity", values[UNSPECIFIC], null, reasons[UNSPECIFIC], sizes[UNSPECIFIC]),
        _row("seed_robustness", values[SPECIFIC], _rest(null), reasons[SPECIFIC], sizes[SPECIFIC]),
        _row("seed_product", product, null_product, reasons[UNSPECIFIC] or reasons[SPECIFIC], fewest),
    ]


def _too_few(clustered: Sequence[ClusteredQuestion], kind: str) -> str:
    """Why no question has a number of clusters; nothing where one has."""
    if any(each.spread is not None for each in clustered):
        return ""
    most = max((len(each.languages) for each in clustered), default=0)
    if not most:
        return f"there are no {WORDS[kind]} in two languages"
    return f"(k - 2) / (n - 3) needs {FEWEST_LANGUAGES} languages; no more than {most} answer the same question"


def _of_distances(unanchored: PairDistances, anchored: PairDistances, questions: PairDistances) -> list[Row]:
    """`cd` and `cr`."""
    null, lack = questions.mean, "there are no {} in two languages"
    return [
        _row("cd", unanchored.mean, null, lack.format(WORDS[UNSPECIFIC]), _paired(unanchored)),
        _row("cr", _rest(anchored.mean), _rest(null), lack.format(WORDS[SPECIFIC]), _paired(anchored)),
    ]


def _of_both(unanchored: PairDistances, anchored: PairDistances, draws: int, seed: int) -> list[Row]:
    """`csp` and `csp_question`, over the questions and languages that have both kinds of answers."""
    first, second = common(unanchored, anchored)
    if unanchored.mean is None or anchored.mean is None:
        reason = f"it compares {WORDS[UNSPECIFIC]} with {WORDS[SPECIFIC]}; one kind is not there in two languages"
    else:
        reason = f"ranks need {FEWEST_QUESTIONS} questions in which distances differ"
    both = first.values, second.values
    return [
        _row("csp", csp(*both), csp_null(*both, draws, seed), reason, _paired(first)),
        _row("csp_question", csp_question(*both), csp_question_null(*both, draws, seed), reason, _paired(first)),
    ]


def _paired(distances: PairDistances) -> dict[str, int]:
    is_known = np.isfinite(distances.values).any(axis=1)
    return {"n_questions": int(is_known.sum()), "n_languages": len(distances.languages)}


def _sizes(clustered: Sequence[ClusteredQuestion], kind: str) -> dict[str, int]:
    scored = [each for each in clustered if each.relative_score(kind) is not None]
    return {
        "n_questions": len({each.id.partition("-")[0] for each in scored}),
        "n_languages": len({language for each in scored for language in each.languages}),
    }


def _rest(value: float | None) -> float | None:
    return None if value is None else 1 - value


def _product(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first * second


def _row(score: str, value: float | None, null: float | None, reason: str, sizes: Mapping[str, int]) -> Row:
    """A row of `scores`; what has no value has a reason."""
    is_known = value is not None
    status = {"status": DEFINED if is_known else UNDEFINED, "reason": None if is_known else reason}
    return {"score": score, "value": value, "null": null} | dict(sizes) | status
