"""What people and models answer to each question, all groups together, and group by group on average."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Floats, Probe, Rated

PEOPLE = "people"
"""The name, in the column `model`, of people's own answers."""


def derive_pooled_answers(probe: Probe) -> pd.DataFrame:
    """Weighted shares of each answer: `question_id`, `model` (`people` too), `attributes`, `response_value`, `prob`.

    People are those with an answer; a model's answers are those that it gave for them on the scale.
    """
    rows: list[dict[str, Any]] = []
    for asked in probe.questions:
        known = np.isfinite(asked.answers)
        given = np.zeros((len(known), len(asked.question.values)))
        given[known, (asked.answers[known] - asked.question.lo).astype(np.int64)] = 1
        rows += _shares(asked, PEOPLE, None, given, known)
        sides: dict[str, Mapping[str, Rated]] = {"with": asked.with_attributes, "without": asked.without}
        for side, models in sides.items():
            for name, rated in models.items():
                rows += _shares(asked, name, side, rated.probs, known & np.isfinite(rated.probs[:, 0]))
    return pd.DataFrame(rows, columns=pd.Index(["question_id", "model", "attributes", "response_value", "prob"]))


def derive_group_means(probe: Probe) -> pd.DataFrame:
    """Mean answers of groups, on the scale from 0 to 1: people's and those of each model with attributes.

    Columns `model`, `question_id`, the factors, `n`, `human_mean_unit`, `model_mean_unit`; weighted, over people who
    have both an answer and a rating on the scale. Groups without such people have no row.
    """
    levels = pd.DataFrame(list(probe.groups.levels), columns=pd.Index(probe.groups.factors))
    parts = []
    for asked in probe.questions:
        unit = np.linspace(0, 1, len(asked.question.values))
        people = (asked.answers - asked.question.lo) / (asked.question.hi - asked.question.lo)
        for name, rated in asked.with_attributes.items():
            expected = rated.probs @ unit
            both = np.isfinite(people) & np.isfinite(expected)
            groups, weights = asked.groups[both], asked.weights[both]
            n = np.bincount(groups, minlength=len(levels))
            total = np.bincount(groups, weights, len(levels))
            sums = (np.bincount(groups, weights * each[both], len(levels)) for each in (people, expected))
            with np.errstate(invalid="ignore"):
                human, model = (each / total for each in sums)
            part = levels.assign(
                model=name, question_id=asked.question.id, n=n, human_mean_unit=human, model_mean_unit=model
            )
            parts.append(part[n > 0])
    columns = ["model", "question_id", *probe.groups.factors, "n", "human_mean_unit", "model_mean_unit"]
    return pd.DataFrame(pd.concat(parts, ignore_index=True) if parts else None, columns=pd.Index(columns))


def _shares(asked: AskedQuestion, name: str, side: str | None, probs: Floats, known: Any) -> list[dict[str, Any]]:
    if not known.any():
        return []
    shares = asked.weights[known] @ probs[known] / asked.weights[known].sum()
    row = {"question_id": asked.question.id, "model": name, "attributes": side}
    return [
        row | {"response_value": code, "prob": float(p)} for code, p in zip(asked.question.values, shares, strict=True)
    ]
