"""Vectors of answers of any languages to any questions, in the columns of `vectors`: for the published columns."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

LANGUAGES = ("bul", "deu", "ell", "eng", "fra", "pol")


def made_vectors(
    vector: Callable[[str, str, str], Sequence[float]],
    languages: Sequence[str] = LANGUAGES,
    questions: int = 3,
    anchors: int = 2,
    kinds: Sequence[str] = ("unspecific", "specific", "question"),
    samples: int = 1,
) -> pd.DataFrame:
    """Rows of every language and id, their vectors from (language, kind, id), made length 1."""
    rows = []
    for language in languages:
        for question in map(str, range(1, questions + 1)):
            ids = {kind: [question] for kind in kinds}
            if "specific" in ids:
                ids["specific"] = [f"{question}-{anchor}" for anchor in range(1, anchors + 1)]
            for kind, names in ids.items():
                for name in names:
                    for sample in range(1 if kind == "question" else samples):
                        values = np.asarray(vector(language, kind, name), np.float32)
                        rows.append((language, kind, name, sample, True, (values / np.linalg.norm(values)).tolist()))
    return pd.DataFrame(rows, columns=pd.Index(["language", "kind", "id", "sample", "is_usable", "vector"]))


def noise(seed: int = 0, dimensions: int = 8) -> Callable[[str, str, str], np.ndarray]:
    """Vectors that have nothing to do with one another."""
    random = np.random.default_rng(seed)
    return lambda *_: random.normal(size=dimensions)
