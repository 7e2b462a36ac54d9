"""The seed's scores and its successor's, each beside its null: what translations of the questions themselves would get.

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
    Texts,
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
class SeedColumns:
    """The seed's scores of one model, and the clusters that they are of.

    Attributes:
        scores: a row per score, in columns of `scores`: `model, score, value, null, n_questions, n_languages, status,
            reason`; `low, high, p` are empty.
        clustered: by kind of answers, for `write_clustering`.
    """

    scores: pd.DataFrame
    clustered: dict[str, list[ClusteredQuestion]]


def seed_scores(vectors: pd.DataFrame, model: str, *, draws: int = PERMUTATIONS, seed: int = 0) -> SeedColumns:
    """`seed_diversity`, `seed_robustness`, `seed_product`, `cd`, `cr`, `csp` and `csp_question` of one model.

    Args:
        vectors: columns `language, kind, id, sample, vector`, answers and, for the nulls, the questions (kind
            `question`) in the same languages; without them the nulls are empty.
        draws: permutations in the null of CSP.
    """
    texts = {kind: first_texts(vectors, kind) for kind in (UNSPECIFIC, SPECIFIC)}
    asked = _asked(vectors, {language for found in texts.values() for each in found for language in each.languages})
    clustered = {kind: cluster_questions(found) for kind, found in texts.items()}
    unanchored, anchored = (pair_distances(texts[kind]) for kind in (UNSPECIFIC, SPECIFIC))
    made = [
        *_of_clusters(clustered, mean_score(cluster_questions(asked), UNSPECIFIC)),
        *_of_distances(unanchored, anchored, pair_distances(asked)),
        *_of_both(unanchored, anchored, draws, seed),
    ]
    return SeedColumns(pd.DataFrame([{"model": model} | row for row in made], columns=pd.Index(COLUMNS)), clustered)


def _asked(vectors: pd.DataFrame, languages: set[str]) -> list[Texts]:
    """The questions themselves, in the languages that answers are in."""
    return first_texts(rows(vectors, vectors["language"].isin(sorted(languages))), QUESTION)


def _of_clusters(clustered: Mapping[str, Sequence[ClusteredQuestion]], asked: float | None) -> list[Row]:
    """`seed_*`: of the questions, the same clusters stand for answers with a country and without one."""
    reasons = {kind: _too_few(each, kind) for kind, each in clustered.items()}
    values = {kind: mean_score(each, kind) for kind, each in clustered.items()}
    diversity, robustness = values[UNSPECIFIC], values[SPECIFIC]
    rest = None if asked is None else 1 - asked
    scored = {
        kind: [each for each in found if each.relative_score(kind) is not None] for kind, found in clustered.items()
    }
    sizes = {kind: _sizes([(each.id, each.languages) for each in found]) for kind, found in scored.items()}
    fewest = {name: min(sizes[UNSPECIFIC][name], sizes[SPECIFIC][name]) for name in sizes[UNSPECIFIC]}
    product = None if diversity is None or robustness is None else diversity * robustness
    return [
        _row("seed_diversity", diversity, asked, reasons[UNSPECIFIC], sizes[UNSPECIFIC]),
        _row("seed_robustness", robustness, rest, reasons[SPECIFIC], sizes[SPECIFIC]),
        _row(
            "seed_product",
            product,
            None if asked is None or rest is None else asked * rest,
            reasons[UNSPECIFIC] or reasons[SPECIFIC],
            fewest,
        ),
    ]


def _too_few(clustered: Sequence[ClusteredQuestion], kind: str) -> str:
    """Why no question has a number of clusters; nothing where one has."""
    if any(each.spread is not None for each in clustered):
        return ""
    most = max((len(each.languages) for each in clustered), default=0)
    if not most:
        return f"there are no {WORDS[kind]} in two languages"
    return f"(k - 2) / (n - 3) needs {FEWEST_LANGUAGES} languages; no more than {most} answer the same question"


def _of_distances(unanchored: PairDistances, anchored: PairDistances, asked: PairDistances) -> list[Row]:
    """`cd` and `cr`."""
    same, null = anchored.mean, asked.mean
    reasons = [
        "" if each.mean is not None else f"there are no {WORDS[kind]} in two languages"
        for kind, each in ((UNSPECIFIC, unanchored), (SPECIFIC, anchored))
    ]
    return [
        _row("cd", unanchored.mean, null, reasons[0], _paired(unanchored)),
        _row("cr", _left(same), _left(null), reasons[1], _paired(anchored)),
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
    known = np.isfinite(distances.values).any(axis=1)
    return {"n_questions": int(known.sum()), "n_languages": len(distances.languages)}


def _sizes(asked: Sequence[tuple[str, tuple[str, ...]]]) -> dict[str, int]:
    return {
        "n_questions": len({name.partition("-")[0] for name, _ in asked}),
        "n_languages": len({language for _, languages in asked for language in languages}),
    }


def _left(value: float | None) -> float | None:
    return None if value is None else 1 - value


def _row(score: str, value: float | None, null: float | None, reason: str, sizes: Mapping[str, int]) -> Row:
    """A row of `scores`; what has no value has a reason."""
    is_known = value is not None
    status = {"status": DEFINED if is_known else UNDEFINED, "reason": None if is_known else reason}
    return {"score": score, "value": value, "null": null} | dict(sizes) | status
