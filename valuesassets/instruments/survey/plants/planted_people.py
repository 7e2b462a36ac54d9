"""Synthetic people, drawn from the planted preferences of a country with correlated answers.

A Gaussian copula: the two dimensions of the map move all answers of a person, and each answer keeps exactly its planted
distribution. Source: Nelsen (2006), An Introduction to Copulas, section 2.3.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from valuesassets.instruments.survey.material.analysis_scale import base_id
from valuesassets.instruments.survey.plants.planted_leanings import INDICATOR_OF, shape
from valuesassets.instruments.survey.plants.plants import country_preferences
from valuesassets.measure.seeding import seeded
from valuesassets.people.survey_file import People
from valuesassets.people.surveys import DONT_KNOW, NOT_APPLICABLE
from valuesassets.records.places import load_facts
from valuesassets.records.questions import Question
from valuesassets.records.study import Study

PLANTED = "planted"
WEIGHT_SD = 0.3  # of the respondents' weights (mean 1), for a design effect of about 1.1
COMMON = 0.65  # correlation of an indicator's answers with the direction of its slopes on the map
LEAST, MOST = 0.1, 0.5  # range of that correlation for other questions, whose directions are random
SILENT_SHARES = 0.01, 0.08  # range of a question's share of don't know


def plant_people(study: Study, questions: Mapping[str, Sequence[Question]]) -> list[People]:
    """The `human.respondents` respondents of each country; languages of one country share its people.

    Raises:
        HumanDataError: no map position is published for a country.
    """
    by_country: dict[str, dict[str, tuple[Question, NDArray[np.float64]]]] = {}
    for language, country in study.countries.items():
        if language in questions:
            preferences = country_preferences(study, language, questions[language])
            by_country[country] = preferences | by_country.get(country, {})
    return [_country(study, country, preferences) for country, preferences in by_country.items()]


def loading(study: Study, question: str) -> NDArray[np.float64]:
    """(2,) correlations of a person's two dimensions with the answer; their signs follow the map's slopes."""
    indicator = next((name for part, name in INDICATOR_OF.items() if base_id(part) == question), None)
    if indicator is None:
        draw = seeded(study.seed, "loading", question)
        angle = draw.uniform(0, 2 * np.pi)
        return draw.uniform(LEAST, MOST) * np.array([np.cos(angle), np.sin(angle)])
    facts = load_facts("iw_slopes.csv").set_index("indicator").loc[indicator]
    moved = facts[["slope_x", "slope_y"]].to_numpy(dtype=float)
    return COMMON * moved / np.linalg.norm(moved)


def _country(study: Study, country: str, preferences: Mapping[str, tuple[Question, NDArray[np.float64]]]) -> People:
    n = study.human.respondents
    people = seeded(study.seed, "respondents", country)
    weights = people.gamma(1 / WEIGHT_SD**2, WEIGHT_SD**2, n)
    latent = people.normal(size=(n, 2))
    scores: dict[str, NDArray[np.float64]] = {}
    codes: dict[str, NDArray[np.int16]] = {}
    for asked_as, (question, probs) in preferences.items():
        name, _, condition = asked_as.partition("@")
        draw = seeded(study.seed, "answers", country, name)
        if name not in codes:
            common = loading(study, name)
            noise = draw.normal(size=n)
            scores[name] = latent @ common + np.sqrt(1 - common @ common) * noise
            codes[name] = np.full(n, NOT_APPLICABLE, dtype=np.int16)
        score, is_asked = scores[name], np.ones(n, dtype=bool)
        if condition:
            earlier, _, chosen = condition.partition("=")
            # The residual after the earlier score: respondents with one first choice still differ as planted.
            shared = float(loading(study, name) @ loading(study, earlier))
            score = (score - shared * scores[earlier]) / np.sqrt(1 - shared**2)
            is_asked = codes[earlier] == int(chosen)
        _, direction = shape(study.seed, asked_as, question)
        order = np.argsort(direction, kind="stable")
        place = np.searchsorted(np.cumsum(probs[order])[:-1], ndtr(score))
        codes[name][is_asked] = np.array(question.values, dtype=np.int16)[order][place[is_asked]]
        is_silent = is_asked & (draw.uniform(size=n) < draw.uniform(*SILENT_SHARES))
        codes[name][is_silent] = DONT_KNOW
    ids = [f"{country}-{number:06d}" for number in range(1, n + 1)]
    columns = {"country": country, "respondent_id": ids, "survey": PLANTED, "source": PLANTED, "weight": weights}
    return People(pd.DataFrame(columns), codes)
