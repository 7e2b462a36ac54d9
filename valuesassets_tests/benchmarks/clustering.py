"""The seed's clustering of languages: ours against scikit-learn's plain procedure, in turn in one process.

`python -m valuesassets_tests.benchmarks.clustering` prints what `make bench` files.
"""

import time

import numpy as np
from numpy.typing import NDArray

from valuesassets.measure.silhouette_kmeans import cluster_by_silhouette
from valuesassets_tests.benchmarks.evidence import Entries, Tell, entry

LANGUAGES, DIMENSIONS = 22, 4096
GROUPS = (1, 2, 3, 5, 8, 12)
"""Planted groups of languages; 1: answers that have nothing to do with one another."""


def answers(questions: int, languages: int = LANGUAGES, dimensions: int = DIMENSIONS) -> list[NDArray[np.float32]]:
    """Vectors of length 1, a row for each language, of some questions; in each the languages fall into some groups."""
    random, made = np.random.default_rng(0), []
    for question in range(questions):
        groups = min(GROUPS[question % len(GROUPS)], languages)
        centres = random.normal(size=(groups, dimensions)) * (groups > 1)
        points = centres[np.arange(languages) % groups] + random.normal(size=(languages, dimensions))
        made.append((points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32))
    return made


def plain_k(vectors: NDArray[np.float32]) -> int:
    """The seed's number of clusters as scikit-learn gives it, in all dimensions."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score
    from sklearn.preprocessing import StandardScaler

    scaled = StandardScaler().fit_transform(vectors)
    best, largest = 2, 0.0
    for k in range(2, len(vectors)):
        labels = KMeans(n_clusters=k, random_state=42, n_init=10).fit_predict(scaled)
        found = silhouette_score(scaled, labels) if len(set(labels)) > 1 else 0.0
        if found > largest:
            best, largest = k, float(found)
    return best


def compare(tell: Tell, questions: int = 30, dimensions: int = DIMENSIONS) -> Entries:
    """CPU time of ours over the plain procedure's; every question must have the same k."""
    plain_k(made := answers(1, dimensions=dimensions)[0])
    cluster_by_silhouette(made)
    tell(f"clustering: {questions} questions, {LANGUAGES} languages, {dimensions} dimensions")
    spent, found = {"plain": 0.0, "ours": 0.0}, []
    ways = {"plain": plain_k, "ours": lambda vectors: cluster_by_silhouette(vectors).k}
    for number, vectors in enumerate(answers(questions, dimensions=dimensions)):
        ks = {}
        for name in sorted(ways, reverse=bool(number % 2)):
            began = time.process_time()
            ks[name] = ways[name](vectors)
            spent[name] += time.process_time() - began
        assert ks["plain"] == ks["ours"], f"question {number}: {ks}"
        found.append(ks["ours"])
    return {
        "seed_clustering": entry(
            [spent["ours"] / spent["plain"]],
            "of the plain procedure's CPU time, same k",
            wanted="<= 0.55",
            questions=questions,
            ks=sorted(set(found)),
        )
    }


if __name__ == "__main__":
    print(compare(print))
