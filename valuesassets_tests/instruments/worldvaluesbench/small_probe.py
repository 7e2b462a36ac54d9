"""Eight people in four groups who answered two questions, and two models, small enough to work out by hand."""

import numpy as np

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Groups, Probe, Rated
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions

LEVELS = (("Africa", "urban"), ("Africa", "rural"), ("Asia", "urban"), ("Asia", "rural"))
NAN = float("nan")
ANSWERS = {"Q1": [1, 2, 1, 4, NAN, 3, 4, 4], "Q106": [1, 1, 10, 10, 5, 5, 10, 1]}
WEIGHTS = [1.0, 3.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0]


def step(places, k):
    """Rows of one 1; NaN rows where there is no place."""
    rows = np.full((len(places), k), np.nan)
    for row, place in enumerate(places):
        if np.isfinite(place):
            rows[row] = np.eye(k)[int(place)]
    return rows


def small_probe():
    """`exact` gives distributions, `taker` single ratings, one of them missing; both also without attributes."""
    questions = []
    for name, answers in ANSWERS.items():
        question = load_value_questions()[name]
        k = len(question.values)
        uniform = Rated(np.full((8, k), 1 / k), None, 0, 0)
        ratings = np.array([1, 1, 2, NAN, 1, 1, 2, 2], dtype=float)
        taken = Rated(step(ratings - 1, k), ratings, 1, 0)
        questions.append(
            AskedQuestion(
                question,
                np.arange(8),
                np.repeat(np.arange(4), 2),
                np.array(WEIGHTS),
                np.array(answers, dtype=float),
                {"exact": uniform, "taker": taken},
                {"exact": uniform, "taker": uniform},
            )
        )
    return Probe(Groups(("continent", "settlement"), LEVELS), questions)
