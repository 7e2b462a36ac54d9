"""Some of the people who were asked one question: a prompt, what they answered and what models expect of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Probe
from valuesassets.instruments.worldvaluesbench.material.backgrounds import load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.profiles import parse_profile, profile_keys
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.trials.prompts import asking, opening, person_lines
from valuesassets.measure.seeding import seeded
from valuesassets.records.frames import rows, rows_where

MOST = 6
COLUMNS = ("question_id", "person", "background", "response_value", "model", "expected_value", "prompt")


def derive_shown_people(probe: Probe, question_id: str, prompt: str, seed: int) -> pd.DataFrame:
    """A row for each model and each of six people of different groups who answered a question.

    Columns `question_id`, `person` (from 1), `background`, `response_value`, `model`, `expected_value` (the mean answer
    that the model gives for this person, in codes), `prompt`. No rows where the question was not asked.
    """
    asked = next((each for each in probe.questions if each.question.id == question_id), None)
    found: list[dict[str, Any]] = []
    for number, place in enumerate(_chosen(asked, seed) if asked else [], 1):
        assert asked is not None  # noqa: S101
        levels = probe.groups.levels[asked.groups[place]]
        row = {"question_id": question_id, "person": number, "response_value": int(asked.answers[place])}
        row |= {"background": ", ".join(level.replace("_", " ") for level in levels), "prompt": prompt}
        for name, rated in asked.with_attributes.items():
            expected = float(rated.probs[place] @ np.array(asked.question.values, dtype=float))
            found.append(row | {"model": name, "expected_value": expected})
    return pd.DataFrame(found, columns=pd.Index(COLUMNS))


def prompt_of_one(
    participants: pd.DataFrame, samples: pd.DataFrame, question_id: str, attributes: Sequence[str]
) -> str:
    """The prompt, in its first wording and order, of the first person who is asked a question; empty without one."""
    asked = rows_where(samples, question_id=question_id)
    if not len(asked):
        return ""
    person = rows(participants, participants["participant_id"] == asked["participant_id"].iloc[0])
    (profile,) = profile_keys(person, attributes)
    known = {each.id: each for each in load_backgrounds().attributes}
    lines = person_lines(parse_profile(str(profile)), [known[name] for name in attributes])
    question = load_value_questions()[question_id]
    return opening(lines, "list") + asking(question, range(len(question.values)), "list")


def _chosen(asked: AskedQuestion, seed: int) -> list[int]:
    """One person each of up to six groups, drawn by a seed."""
    draw = seeded(seed, "shown people", asked.question.id)
    known = draw.permutation(np.flatnonzero(np.isfinite(asked.answers)))
    _, first = np.unique(asked.groups[known], return_index=True)
    return sorted(known[np.sort(first)[:MOST]].tolist())
