"""Evidence from an embedder: how close a language's questions and the master's lie, where a study names a model."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from valuesassets.instruments.survey.alignment.evidence import Matrix
from valuesassets.instruments.survey.alignment.targets import Target
from valuesassets.records.questions import Question

CLOSENESS = 15.0
"""Weight of the cosine above that to a usual target."""
MOST = 8.0
"""Log odds (nats) that an embedder alone can give."""


def texts_to_embed(questions: Sequence[Question], targets: Sequence[Target]) -> list[str]:
    """The questions' items and the targets', in this order: what `embedded_evidence` wants vectors of.

    Items, as the stem of a list brings all of them close. Where the master lacks a question its topic stands for it.
    """
    ours = [question.item or question.text for question in questions]
    theirs = [(t.question.item or t.question.text) if t.question else t.topic or t.code for t in targets]
    return [*ours, *theirs]


def embedded_evidence(vectors: NDArray[np.float32], n_questions: int) -> Matrix:
    """Log odds of every pair of a question and a target.

    Args:
        vectors: of `texts_to_embed`, each of length one.
    """
    close = (vectors[:n_questions] @ vectors[n_questions:].T).astype(np.float64)
    return np.minimum(CLOSENESS * (close - close.mean(axis=1, keepdims=True)), MOST)
