"""Countries' indicator means, from respondents or their distributions, with bootstrap resamples."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.survey.material.analysis_scale import base_id
from valuesassets.instruments.survey.measures.map.answers import PARTS, SLOTS_OF, answers_as_array, indicator_means
from valuesassets.instruments.survey.measures.map.projector import indicator_answers, respondent_weights
from valuesassets.measure.means import resampled_weighted_means, weighted_means
from valuesassets.measure.seeding import seeded
from valuesassets.people.weighted_shares import design_effect
from valuesassets.records.errors import HumanDataError
from valuesassets.records.frames import parts_of
from valuesassets.records.study import Study

Array = NDArray[np.float64]


@dataclass(frozen=True)
class People:
    """One country's respondents.

    Attributes:
        means: (10,) indicator means, nan if nobody was asked.
        drawn: (resamples, 10) the means of resamples of the same size.
    """

    country: str
    language: str | None
    source: str
    means: Array
    drawn: Array


def people_of(human: pd.DataFrame, respondents: pd.DataFrame | None, study: Study) -> list[People]:
    """The people of every country: respondents where there are any, else their answer distributions.

    Respondents are resampled whole, each with its weight and its gaps. Distributions are redrawn question by question
    with the effective number of respondents, n / design effect, without the correlation of a person's answers. An
    indicator with effectively fewer than `thresholds.respondents` answers is missing.

    Raises:
        HumanDataError: a distribution does not sum to 1, or a weight or a column is unusable.
    """
    if respondents is not None and not respondents.empty:
        return list(_from_respondents(respondents, study))
    return [] if human.empty else list(_from_distributions(human, study))


def _from_respondents(respondents: pd.DataFrame, study: Study) -> Iterator[People]:
    answers, weights = indicator_answers(respondents), respondent_weights(respondents)
    languages = {country: code for code, country in reversed(study.countries.items())}
    for country, at in respondents.groupby("country", sort=False).indices.items():
        random = seeded(study.seed, "map", country)
        own, weight = answers[at], weights[at]
        answered = [weight[np.isfinite(column)] for column in own.T]
        is_few = [not each.size or each.size / design_effect(each) < study.thresholds.respondents for each in answered]
        own = np.where(is_few, np.nan, own)
        yield People(
            str(country),
            languages.get(str(country)),
            ", ".join(sorted(set(respondents["source"].iloc[at].astype(str)))),
            weighted_means(own, weight),
            resampled_weighted_means(own, weight, study.inference.resamples, random),
        )


def _from_distributions(human: pd.DataFrame, study: Study) -> Iterator[People]:
    sets, probs = answers_as_array(human, ["country", "language"], ["prob"], HumanDataError)
    parts = dict(parts_of(human, ["country", "language"]))
    draws = study.inference.resamples
    for row, (country, language) in enumerate(sets.itertuples(index=False)):
        part = parts[country, language]
        once = part.drop_duplicates("question_id").set_index("question_id")
        effective = once["n"] / once["design_effect"]
        random = seeded(study.seed, "map", country)
        known_probs, drawn = probs[row, 0].copy(), np.full((draws, probs.shape[-1]), np.nan)
        for question in PARTS:
            at = SLOTS_OF[question]
            # A follow-up question goes only to those with one answer: its main question counts the people.
            if base_id(question) == question and effective.get(question, 0) < study.thresholds.respondents:
                known_probs[at] = np.nan
            if np.isfinite(known_probs[at]).all():
                n = max(1, int(effective[question]))
                drawn[:, at] = random.multinomial(n, known_probs[at] / known_probs[at].sum(), size=draws) / n
        source = ", ".join(sorted(set(part["source"].astype(str))))
        yield People(str(country), str(language), source, indicator_means(known_probs), indicator_means(drawn))
