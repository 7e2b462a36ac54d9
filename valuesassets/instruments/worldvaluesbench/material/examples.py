"""The examples of the benchmark, each a person's background, a question and the person's answer."""

import json
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.material.backgrounds import Attribute, load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.participants import Dataset
from valuesassets.instruments.worldvaluesbench.material.value_answers import question_ids
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions


def example_lines(dataset: Dataset, split: str) -> Iterator[str]:
    """JSON of each example of a split, by person in the order of the file, then by question.

    Keys: `participant_id`, `question_id`, `category`, `question`, `scale` (first and last code), `rating`, `weight`,
    and `attributes` (labels by the attribute's id, or codes without a label; without missing ones).

    Args:
        split: train, valid, test, or full for all.
    """
    people = dataset.participants
    places = np.flatnonzero(people["split"] == split) if split != "full" else np.arange(len(people))
    questions = question_ids(dataset.value_answers)
    answers = dataset.value_answers[questions].iloc[places].to_numpy(dtype=np.int16, na_value=-1)
    question_texts = [_asked(name) for name in questions]
    chosen = people.iloc[places]
    attributes = _attributes(chosen, load_backgrounds().attributes)
    rows = zip(chosen["participant_id"], chosen["weight"], attributes, answers, strict=True)
    for participant, weight, background, ratings in rows:
        first = f'{{"participant_id": {json.dumps(participant)}, '
        last = f'"weight": {weight:.6g}, "attributes": {background}}}'
        for place in np.flatnonzero(ratings >= 0):
            yield f'{first}{question_texts[place]}, "rating": {ratings[place]}, {last}'


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
    for texts_of_person in zip(*columns, strict=True):
        yield "{" + ", ".join(filter(None, texts_of_person)) + "}"


def _told(attribute: Attribute, code: int) -> str:
    if code < 0:
        return ""
    return f'"{attribute.id}": {json.dumps(attribute.labels.get(code, code), ensure_ascii=False)}'
