"""Checks of the material: whether questions fit their codes, people their groups, and answers their scales."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.backgrounds import ATTRIBUTE_OF
from valuesassets.instruments.worldvaluesbench.material.value_questions import ValueQuestion

Faults = list[dict[str, Any]]


def question_faults(questions: Sequence[ValueQuestion]) -> Faults:
    """Questions whose labels, recodes and missing codes do not fit their scale."""
    faults: Faults = []
    for question in questions:
        on_scale, n = set(question.values), len(question.values)
        if len(question.labels) != n or not (question.labels[0] and question.labels[-1]):
            faults.append({"question_id": question.id, "found": f"{len(question.labels)} labels for {n} answers"})
        if off := [code for code in question.recodes.values() if code not in on_scale]:
            faults.append({"question_id": question.id, "found": f"a recode to {off[0]}, which is off the scale"})
        if both := {*question.missing} & {*question.recodes}:
            faults.append({"question_id": question.id, "found": f"code {min(both)} is both recoded and missing"})
    return faults


def people_faults(participants: pd.DataFrame) -> dict[str, Faults]:
    """People who share an id (`ids`), and codes without a level (`continent`, `education`)."""
    ids = Counter(participants["participant_id"])
    faults: dict[str, Faults] = {"ids": [{"participant_id": name, "people": n} for name, n in ids.items() if n > 1]}
    for factor in ("continent", "education"):
        codes = participants[ATTRIBUTE_OF[factor]].to_numpy(float, na_value=np.nan)
        lacking = Counter(codes[participants[factor].isna().to_numpy() & (codes >= 0)].tolist())
        faults[factor] = [{ATTRIBUTE_OF[factor]: int(code), "people": n} for code, n in lacking.items()]
    return faults


def answer_faults(answers: pd.DataFrame, questions: Sequence[ValueQuestion]) -> Faults:
    """Questions that nobody answered, or that have answers off their scale."""
    faults: Faults = []
    for question in questions:
        codes = answers[question.id].to_numpy(float, na_value=np.nan)
        answered = codes[codes >= 0]
        off = int(((answered < question.lo) | (answered > question.hi)).sum())
        if not len(answered):
            faults.append({"question_id": question.id, "found": "nobody's answer"})
        elif off:
            faults.append({"question_id": question.id, "found": f"{off} answers off {question.lo} to {question.hi}"})
    return faults


def describe_questions(questions: Sequence[ValueQuestion]) -> pd.DataFrame:
    """Rows of `value_questions`."""
    rows = [
        {
            "question_id": question.id,
            "category": question.category,
            "text": question.text,
            "lo": question.lo,
            "hi": question.hi,
            "labels": list(question.labels),
            "recodes": ", ".join(f"{old} is {new}" for old, new in question.recodes.items()) or None,
            "missing": ", ".join(map(str, question.missing)) or None,
        }
        for question in questions
    ]
    return pd.DataFrame(rows)
