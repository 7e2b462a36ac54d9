"""A small data set that can be seen at a glance, and ratings of its people."""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from valuesassets.instruments.worldvaluesbench.answers.rated import AskedQuestion, Groups, Probe, Rated
from valuesassets.instruments.worldvaluesbench.answers.rating_sources import rated_singly
from valuesassets.instruments.worldvaluesbench.material.backgrounds import ATTRIBUTE_OF, FACTORS, load_backgrounds
from valuesassets.instruments.worldvaluesbench.material.participants import Dataset
from valuesassets.instruments.worldvaluesbench.material.value_questions import load_value_questions
from valuesassets.instruments.worldvaluesbench.tables import LEDGER

CODES = {"continent": (156, 276), "settlement": (1, 2), "education": (2, 7)}
"""China and Germany, urban and rural, lower secondary and tertiary."""


def people_of(
    n_per_group: int, questions: Sequence[str] = ("Q1", "Q2"), seed: int = 0, splits: Sequence[str] = ("test",)
) -> Dataset:
    """Eight groups of equal size; answers are drawn evenly, weights are 1."""
    backgrounds, random = load_backgrounds(), np.random.default_rng(seed)
    profiles = [codes for codes in product(*CODES.values()) for _ in range(n_per_group)]
    n = len(profiles)
    people = pd.DataFrame(profiles, columns=list(ATTRIBUTE_OF.values()), dtype="Int64")
    tables = (backgrounds.continents, backgrounds.settlement, backgrounds.education)
    for (factor, attribute), table in zip(ATTRIBUTE_OF.items(), tables, strict=True):
        people[factor] = people[attribute].map(table)
    ids = [str(156_070_001 + number) for number in range(n)]
    people = people.assign(participant_id=ids, interview_id=ids, country=people["B_COUNTRY"], weight=1.0)
    people["split"] = np.resize(list(splits), n)
    scales = load_value_questions()
    answers = {name: random.integers(scales[name].lo, scales[name].hi + 1, n) for name in questions}
    value_answers = pd.DataFrame(
        {"participant_id": ids} | {name: pd.array(of, "Int16") for name, of in answers.items()}
    )
    return Dataset(people, value_answers, LEDGER.empty_frame())


def samples_of(dataset: Dataset) -> pd.DataFrame:
    """Everybody is asked everything."""
    questions = [name for name in dataset.value_answers.columns if name != "participant_id"]
    people = dataset.participants[["participant_id", *FACTORS]]
    return pd.concat([people.assign(question_id=name) for name in questions], ignore_index=True)


def scores_of(dataset: Dataset, scores: Mapping[str, Sequence[float]]) -> pd.DataFrame:
    """Ratings of everybody, in the columns of a file, by question."""
    ids = dataset.participants["participant_id"]
    frames = [
        pd.DataFrame({"QUESTION_ID": name, "PARTICIPANT_ID": ids, "SCORE": given}) for name, given in scores.items()
    ]
    return pd.concat(frames, ignore_index=True)


def drawn_scores(dataset: Dataset, seed: int, missing: float = 0.0, off: float = 0.0) -> pd.DataFrame:
    """Ratings drawn evenly; some are missing, some stand beside the scale."""
    random, scales = np.random.default_rng(seed), load_value_questions()
    scores = {}
    for name in dataset.value_answers.columns.drop("participant_id"):
        drawn = random.integers(scales[name].lo, scales[name].hi + 1, len(dataset.participants)).astype(float)
        drawn[random.random(drawn.size) < off] = random.choice([0, scales[name].hi + 1, 99])
        drawn[random.random(drawn.size) < missing] = np.nan
        scores[name] = drawn
    return scores_of(dataset, scores)


def asked_by_hand(
    question: str,
    groups: Sequence[int],
    answers: Sequence[float],
    ratings: Mapping[str, Sequence[float] | Rated],
    weights: Sequence[float] | None = None,
) -> Probe:
    """One question put to people of up to two groups, urban and rural, of tertiary education in Asia."""
    question_asked = load_value_questions()[question]
    rated = {
        name: of if isinstance(of, Rated) else rated_singly(question_asked, np.array(of, dtype=float))
        for name, of in ratings.items()
    }
    levels = (("Asia", "urban", "tertiary"), ("Asia", "rural", "tertiary"))
    n = len(groups)
    each = np.ones(n) if weights is None else np.array(weights, dtype=float)
    row = AskedQuestion(question_asked, np.arange(n), np.array(groups), each, np.array(answers, dtype=float), rated, {})
    return Probe(Groups(tuple(FACTORS), levels[: max(groups) + 1]), [row])
