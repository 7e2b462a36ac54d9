"""`cultural_robustness/clustering`: into how many clusters the languages' answers to each question fall.

The procedure, and the names and columns of the files (`COLUMNS`), are those of published code: the task
`cultural_robustness` of lm-evaluation-harness.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.measure.silhouette_kmeans import FEWEST, Clustering, cluster_by_silhouette
from valuesassets.records.files import write_json, write_text
from valuesassets.records.frames import parts_of, rows

UNSPECIFIC, SPECIFIC, QUESTION = "unspecific", "specific", "question"
"""Kinds of vectors: answers without and with a country, and the questions themselves."""
ANALYSIS = {UNSPECIFIC: "diversity", SPECIFIC: "robustness"}
"""The name that published code has for the analysis of each kind of answers."""
FEWEST_LANGUAGES = 4
"""Least number of languages for (k - 2) / (n - 3); with three the published code divides by zero."""
_IDS = {UNSPECIFIC: ("sentence_id",), SPECIFIC: ("sentence_id", "full_id", "base_id", "variation_id")}
COLUMNS = {
    "results": ("n_languages", "total_items", "languages", "optimal_k", "silhouette_score", "relative_score"),
    "cluster_assignments": ("language", "cluster_id", "optimal_k", "relative_score"),
    "language_clusters": ("cluster_id", "languages_in_cluster", "cluster_size", "optimal_k", "relative_score"),
}
"""Columns of the published files, after those that name the question."""


@dataclass(frozen=True)
class Texts:
    """What languages say to one question: a vector each.

    Attributes:
        id: `12`, with its anchor `12-7`.
        languages: in order.
        vectors: (languages, dimensions).
    """

    id: str
    languages: tuple[str, ...]
    vectors: NDArray[np.float32]

    @property
    def question_id(self) -> str:
        """The question, without its anchor."""
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class ClusteredQuestion:
    """A question, with its anchor where it has one, and its clusters of languages.

    Attributes:
        clustering: None where there are fewer than three languages.
    """

    id: str
    languages: tuple[str, ...]
    clustering: Clustering | None

    @property
    def spread(self) -> float | None:
        """(k - 2) / (n - 3), in [0, 1]; None where there are fewer than four languages."""
        if self.clustering is None or len(self.languages) < FEWEST_LANGUAGES:
            return None
        return (self.clustering.k - 2) / (len(self.languages) - 3)

    def relative_score(self, kind: str) -> float | None:
        """The published score of one question: its spread, for answers with a country 1 minus it."""
        if self.spread is None or kind != SPECIFIC:
            return self.spread
        return 1 - self.spread


def first_texts(vectors: pd.DataFrame, kind: str) -> list[Texts]:
    """What has a vector of this kind, in each language the first sample, by id; the languages in alphabetical order.

    Unusable answers count too, as in published code, which leaves out blanks only: they have no vector.

    Args:
        vectors: columns `language, kind, id, sample, vector`.
    """
    first = rows(vectors, vectors["kind"] == kind)
    first = rows(first, first["sample"] == first["sample"].min()).sort_values("language", kind="stable")
    texts = [
        Texts(name, tuple(each["language"]), np.stack(each["vector"].tolist()).astype(np.float32))
        for (name,), each in parts_of(first, ["id"])
    ]
    return sorted(texts, key=lambda each: _in_order(each.id))


def cluster_questions(texts: Sequence[Texts]) -> list[ClusteredQuestion]:
    """The clusters of languages in each question that two languages or more have something to.

    On one thread: the arrays are tiny, and threads of several processes on the same cores wait for one another.
    """
    import sklearn.cluster  # noqa: F401  # its threads can only be counted once they are there
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return [
            ClusteredQuestion(
                each.id,
                each.languages,
                cluster_by_silhouette(each.vectors) if len(each.languages) >= FEWEST else None,
            )
            for each in texts
            if len(each.languages) > 1
        ]


def mean_score(clustered: Sequence[ClusteredQuestion], kind: str) -> float | None:
    """Mean of the questions' scores; None where no question has one."""
    scores = [score for each in clustered if (score := each.relative_score(kind)) is not None]
    return float(np.mean(scores)) if scores else None


def clustering_tables(clustered: Sequence[ClusteredQuestion], kind: str) -> dict[str, pd.DataFrame]:
    """The three published tables of one kind of answers, by their names: `COLUMNS`.

    A question without a silhouette above 0 has no clusters to list. Other than in published code, a question with
    fewer than four languages has a row, without a score.
    """
    build = {"results": _result, "cluster_assignments": _assignments, "language_clusters": _language_clusters}
    return {
        name: pd.DataFrame(
            [row for each in clustered for row in build[name](each, kind)],
            columns=pd.Index([*_IDS[kind], *columns]),
        ).astype({"optimal_k": "Int64"})
        for name, columns in COLUMNS.items()
    }


def clustering_summary(clustered: Sequence[ClusteredQuestion], kind: str, model: str) -> dict[str, Any]:
    """The published summary of one kind of answers; the score is null where no question has one."""
    number = {UNSPECIFIC: "total_sentence_ids", SPECIFIC: "total_sentence_variation_combinations"}[kind]
    return {
        "model": model,
        "analysis_type": ANALYSIS[kind],
        number: len(clustered),
        "average_relative_score": mean_score(clustered, kind),
        "duplicates_detected": 0,
        "total_results": len(clustered),
    }


def write_clustering(folder: Path, clustered: Mapping[str, Sequence[ClusteredQuestion]], model: str) -> list[Path]:
    """Write the published files into `folder/unspecific` and `folder/specific`; gives their paths.

    Args:
        clustered: by kind; a kind without questions has no files.

    Raises:
        StorageError: a file cannot be written.
    """
    written = []
    for kind, questions in clustered.items():
        if not questions:
            continue
        place, name = folder / kind, ANALYSIS[kind]
        place.mkdir(parents=True, exist_ok=True)
        for table, frame in clustering_tables(questions, kind).items():
            written.append(place / f"{name}_{table}.csv")
            write_text(written[-1], frame.to_csv(index=False))
        written.append(place / f"{name}_summary.json")
        write_json(written[-1], clustering_summary(questions, kind, model))
    return written


def _result(each: ClusteredQuestion, kind: str) -> Iterator[dict[str, Any]]:
    n = len(each.languages)
    yield _shared(each, kind) | {"n_languages": n, "total_items": n, "languages": ", ".join(each.languages)}


def _assignments(each: ClusteredQuestion, kind: str) -> Iterator[dict[str, Any]]:
    if each.clustering is not None and each.clustering.labels:
        for language, label in zip(each.languages, each.clustering.labels, strict=True):
            yield _shared(each, kind) | {"language": language, "cluster_id": label}


def _language_clusters(each: ClusteredQuestion, kind: str) -> Iterator[dict[str, Any]]:
    """Clusters of two languages or more, in the order in which the languages come to them."""
    members: dict[int, list[str]] = {}
    for row in _assignments(each, kind):
        members.setdefault(row["cluster_id"], []).append(row["language"])
    for label, languages in members.items():
        if len(languages) > 1:
            of_cluster = {"languages_in_cluster": ", ".join(languages), "cluster_size": len(languages)}
            yield _shared(each, kind) | {"cluster_id": label} | of_cluster


def _shared(each: ClusteredQuestion, kind: str) -> dict[str, Any]:
    """The columns of a question that several tables have."""
    question, _, anchor = each.id.partition("-")
    return dict(zip(_IDS[kind], (question, each.id, question, anchor), strict=False)) | {
        "optimal_k": each.clustering.k if each.clustering else None,
        "silhouette_score": each.clustering.silhouette if each.clustering else None,
        "relative_score": each.relative_score(kind),
    }


def _in_order(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts numbers by their size, and texts after them."""
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in str(name).split("-"))
