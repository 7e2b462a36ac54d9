"""`survey/human_distributions`: weighted answers of respondents per country. In the demo they are synthetic."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.survey.planted_shapes import seeded
from valuesassets.instruments.survey.plants import country_preferences
from valuesassets.records.questions import Question
from valuesassets.records.schemas import HUMAN_DISTRIBUTIONS
from valuesassets.records.study import Study

WEIGHT_SD = 0.3
"""Of the synthetic respondents' weights (mean 1): gives a design effect of about 1.1."""


def derive_human_distributions(study: Study, questions: Mapping[str, Sequence[Question]]) -> pd.DataFrame:
    """Rows of `HUMAN_DISTRIBUTIONS`, one set per language's country.

    With `human.source = "planted"` respondents are drawn from the planted preferences of the country, each with a
    weight; with `none` the table is empty and `why_no_people` says why.

    Args:
        questions: questions by language.
    """
    if study.human.source == "none":
        return HUMAN_DISTRIBUTIONS.empty_table().to_pandas()
    rows = [
        row for language in study.languages if language in questions for row in _country(study, language, questions)
    ]
    return pd.DataFrame(rows, columns=HUMAN_DISTRIBUTIONS.names)


def why_no_people(study: Study) -> str:
    """Why a study's human distributions are empty, and what that leaves out."""
    if study.human.source == "none":
        return f"Study {study.name} names no human data (human.source = 'none'): comparisons with people are left out."
    return "No language has answers of people yet: materialise aligned_questions and human_distributions."


def design_effect(weights: NDArray[np.float64]) -> float:
    """How many times the variance grows because of unequal weights, at least 1: n * sum(w^2) / sum(w)^2.

    Source: Kish (1965), Survey Sampling, section 11.7.

    >>> design_effect(np.array([1.0, 3.0]))
    1.25
    """
    return float(len(weights) * np.sum(weights**2) / np.sum(weights) ** 2)


def _country(study: Study, language: str, questions: Mapping[str, Sequence[Question]]) -> list[dict[str, object]]:
    country, count = study.languages[language].country, study.human.respondents
    crowd = seeded(study.seed, "respondents", country)
    weights = crowd.gamma(1 / WEIGHT_SD**2, WEIGHT_SD**2, count)
    rows: list[dict[str, object]] = []
    said: dict[str, NDArray[np.int64]] = {}
    for asked_as, (_, values, probs) in country_preferences(study, language, questions[language]).items():
        draw = seeded(study.seed, "answers", country, asked_as)
        codes = np.array(values)[draw.choice(len(values), count, p=probs)]
        said[asked_as] = codes
        is_asked = np.ones(count, dtype=bool)
        condition = asked_as.partition("@")[2]
        if condition:
            earlier, _, chosen = condition.partition("=")
            is_asked = said[earlier] == int(chosen)
        is_silent = is_asked & (draw.uniform(size=count) < draw.uniform(0.01, 0.08))
        answered = is_asked & ~is_silent
        if not answered.any():
            continue
        total = weights[answered].sum()
        shared = {
            "country": country,
            "language": language,
            "question_id": asked_as,
            "n": int(answered.sum()),
            "weighted_n": float(total),
            "design_effect": design_effect(weights[answered]),
            "dk_rate": float(weights[is_silent].sum() / weights[is_asked].sum()),
            "source": "planted",
        }
        rows += [
            shared | {"response_value": value, "prob": float(weights[answered & (codes == value)].sum() / total)}
            for value in values
        ]
    return rows
