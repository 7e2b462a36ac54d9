"""Marks of a questionnaire with planted models: what people answered, and how probable each model finds it."""

import numpy as np
import pandas as pd

from valuesassets.instruments.psych_tasks.published.published_scores import ScoredScale

ITEMS = (1, 2, 3, 4, 5, 6)
SCALE = ScoredScale(ITEMS, (4, 5, 6), 1, 5)
LABELS = np.arange(1, 6)


def softmax(logits):
    odds = np.exp(logits)
    return odds / odds.sum(axis=-1, keepdims=True)


def marks(kind, models=12, participants=40, seed=1):
    """Rows of marks. `label`: a model likes labels, whatever the item; `trait`: it has a trait; `random`: neither."""
    random = np.random.default_rng(seed)
    human = random.integers(1, 6, size=(participants, len(ITEMS)))
    rows = []
    for model in range(models):
        liking = random.normal(0, 0.8) * (LABELS - 3)
        for place, item in enumerate(ITEMS):
            turn = -1 if item in SCALE.reversed else 1
            logits = {"label": liking, "trait": turn * liking, "random": np.zeros(5)}[kind]
            q = softmax(logits + random.normal(0, 0.3, size=(participants, 5)))
            without = liking if kind == "label" else np.zeros(5)
            blank = softmax(without + random.normal(0, 0.3, size=(participants, 5)))
            for person in range(participants):
                answer = int(human[person, place])
                rows.append(
                    {
                        "model": f"m{model:02}",
                        "experiment": "survey",
                        "participant": f"p{person:02}",
                        "item": item,
                        "human_value": answer,
                        "q_human": q[person, answer - 1],
                        "q_late_human": None,
                        "q_blank_human": blank[person, answer - 1],
                    }
                )
    return pd.DataFrame(rows)


def expected_values(kind, models=12, seed=1, presentations=("forward",)):
    """Rows of expected values on the labels as they were shown, of the same three kinds of models."""
    random = np.random.default_rng(seed)
    rows = []
    for model in range(models):
        strength = random.normal(0, 0.6)
        for item in ITEMS:
            for presentation in presentations:
                turn = -1 if (item in SCALE.reversed) != (presentation == "reversed") else 1
                moved = {"label": strength, "trait": turn * strength, "random": 0.0}[kind]
                expected = 3 + moved + random.normal(0, 0.15)
                rows.append(
                    {
                        "model": f"m{model:02}",
                        "experiment": "survey",
                        "scale": "worry",
                        "item": item,
                        "expected": expected,
                        "presentation": presentation,
                    }
                )
    return pd.DataFrame(rows)
