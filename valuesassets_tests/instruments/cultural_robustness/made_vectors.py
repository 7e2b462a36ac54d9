"""Vectors and questions of made-up answers, as frames."""

import numpy as np
import pandas as pd

LANGUAGES = ("deu", "ell", "eng", "fra", "pol")
COUNTRIES = ("AT", "DE", "FR", "GR", "PL")


def question_frame(n_questions, n_anchors, languages=LANGUAGES, personas=1):
    """The questions frame: without a country, and for each persona and country."""
    rows = []
    for language in languages:
        for number in range(1, n_questions + 1):
            common = {"language": language, "question_id": str(number)}
            rows.append(common | {"anchor": None, "country": None, "persona": None, "prompt": f"{language} {number}?"})
            for anchor in range(n_anchors * personas):
                persona = anchor // n_anchors + 1 if personas > 1 else None
                country = COUNTRIES[anchor % n_anchors]
                prompt = f"{language} {number} in {country}?"
                rows.append(common | {"anchor": anchor + 1, "country": country, "persona": persona, "prompt": prompt})
    return pd.DataFrame(rows).astype({"anchor": "Int64", "persona": "Int64"})


def answer(language, id_, vector, sample=0, is_usable=True):
    """One row of `vectors`."""
    kind = "specific" if "-" in id_ else "unspecific"
    values = np.asarray(vector, dtype=float)
    return {"language": language, "kind": kind, "id": id_, "sample": sample, "is_usable": is_usable, "vector": values}


def question_rows(texts, languages=LANGUAGES):
    """Rows of the questions' own vectors out of (L, Q, D)."""
    return [
        answer(language, str(number), vector) | {"kind": "question"}
        for language, own in zip(languages, texts, strict=False)
        for number, vector in enumerate(own, 1)
    ]


def answer_rows(cells, languages=LANGUAGES, first=0):
    """Rows of answers out of (Q, L, K, samples, D).

    Args:
        first: anchor of the first condition; 0: it is the unanchored one.
    """
    return [
        answer(language, f"{number}-{at + first}" if at + first else str(number), vector, sample)
        for number, by_language in enumerate(cells, 1)
        for language, by_condition in zip(languages, by_language, strict=False)
        for at, samples in enumerate(by_condition)
        for sample, vector in enumerate(samples)
    ]


def drawn_cells(seed, n_questions=6, n_languages=4, n_conditions=4, samples=2, dimensions=5):
    """Cells of pure noise: (Q, L, K, samples, D)."""
    return np.random.default_rng(seed).normal(size=(n_questions, n_languages, n_conditions, samples, dimensions))
