"""The benchmark's examples, one by one: a person's background, a question, and what the person answered."""

import json
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.backgrounds import Attribute, load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.participants import Dataset
from valuesassets.instruments.worldvaluesbench.material.value_answers import question_ids
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions


def example_lines(dataset: Dataset, split: str) -> Iterator[str]:
    """JSON of each example of a split: person by person in the order of the file, question by question.

    Keys: `participant_id`, `question_id`, `category`, `question`, `scale` (first and last code), `rating`, `weight`,
    and `attributes` (labels by the attribute's id, codes where there is no label; missing ones are left out).

    Args:
        split: train, valid, test, or full for all.
    """
    people = dataset.participants
    here = np.flatnonzero(people["split"] == split) if split != "full" else np.arange(len(people))
    questions = question_ids(dataset.value_answers)
    answers = dataset.value_answers[questions].iloc[here].to_numpy(dtype=np.int16, na_value=-1)
    asked = [_asked(name) for name in questions]
    attributes = _attributes(people.iloc[here], load_backgrounds().attributes)
    chosen = people.iloc[here]
    rows = zip(chosen["participant_id"], chosen["weight"], attributes, answers, strict=True)
    for participant, weight, background, given in rows:
        first = f'{{"participant_id": {json.dumps(participant)}, '
        last = f'"weight": {weight:.6g}, "attributes": {background}}}'
        for place in np.flatnonzero(given >= 0):
            yield f'{first}{asked[place]}, "rating": {given[place]}, {last}'


def _asked(name: str) -> str:
    question = load_value_questions()[name]
    about = {"question_id": name, "category": question.category, "question": question.text}
    return json.dumps(about | {"scale": [question.lo, question.hi]}, ensure_ascii=False)[1:-1]


def _attributes(people: pd.DataFrame, attributes: Sequence[Attribute]) -> Iterator[str]:
    """JSON of each person's attributes."""
    columns = []
    for attribute in attributes:
        codes = people[attribute.id].to_numpy(dtype=np.int64, na_value=-1)
        texts = {code: _told(attribute, int(code)) for code in np.unique(codes)}
        columns.append([texts[code] for code in codes])
    for told in zip(*columns, strict=True):
        yield "{" + ", ".join(filter(None, told)) + "}"


def _told(attribute: Attribute, code: int) -> str:
    if code < 0:
        return ""
    return f'"{attribute.id}": {json.dumps(attribute.labels.get(code, code), ensure_ascii=False)}'
