"""Respondents made up for tests of the map: countries at chosen positions, with the published axes between people."""

import numpy as np
import pandas as pd

from valuesassets.instruments.survey.material.indicators import INDICATORS
from valuesassets.instruments.survey.published.axes import average_means, indicator_ranges, published_slopes

COUNTRIES = ("GB", "DE", "FR", "PL", "GR", "BG")


def respondents(countries=COUNTRIES, n=500, seed=1, missing=0.05, between=0.3):
    """Rows of `survey/respondents` without single questions.

    People and countries differ along the published axes, so that a fit has them to find.
    """
    random = np.random.default_rng(seed)
    half = np.diff(indicator_ranges().to_numpy(), axis=1)[:, 0] / 2
    spread = 0.5 * half
    axes = (published_slopes() * spread).T
    axes = 0.8 * axes / np.abs(axes).max(axis=0)
    axes /= np.maximum(1, np.sqrt((axes**2).sum(axis=1, keepdims=True)) / 0.9)
    rest = np.sqrt(1 - (axes**2).sum(axis=1))
    middle = np.array([average_means()[name] for name in INDICATORS])
    frames = []
    for country, place in zip(countries, random.normal(size=(len(countries), 2)) * between**0.5, strict=True):
        scores = place + random.normal(size=(n, 2)) * (1 - between) ** 0.5
        answers = middle + (scores @ axes.T + random.normal(size=(n, 10)) * rest) * spread
        answers[random.random(answers.shape) < missing] = np.nan
        frame = pd.DataFrame(answers, columns=pd.Index(INDICATORS))
        weights = random.gamma(11, 1 / 11, n)
        label = {"country": country, "source": "made-up.sav", "survey": "evs2017", "weight": weights / weights.mean()}
        frames.append(frame.assign(**label, respondent_id=[f"{country}{k}" for k in range(n)]))
    return pd.concat(frames, ignore_index=True)
