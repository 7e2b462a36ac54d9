"""The indicators of one answerer, one after the other: what the map's whole tables are held against."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from valuesassets.instruments.survey.material.indicators import (
    INDICATORS,
    Answers,
    answer_codes,
    components,
    indicator_mean,
)
from valuesassets.instruments.survey.published.axes import reference_projector


@dataclass(frozen=True)
class IndicatorMeans:
    """Means of the indicators that could be derived, on the scale of `iw_slopes.csv`, and the names of the others."""

    means: dict[str, float]
    missing: tuple[str, ...]


def derive_indicators(answers: Answers) -> IndicatorMeans:
    """The mean of every indicator whose questions all have an answer distribution over the expected codes.

    >>> derive_indicators({"v31": {1: 0.25, 2: 0.75}}).means
    {'A165': 1.75}
    """
    means = {
        indicator: indicator_mean(indicator, answers)
        for indicator in INDICATORS
        if all(sorted(answers.get(part, ())) == list(answer_codes(part)) for part in components(indicator))
    }
    return IndicatorMeans(means, tuple(name for name in INDICATORS if name not in means))


def placed(means: Mapping[str, float]) -> np.ndarray:
    """The point of indicator means by name."""
    return reference_projector().place([means[name] for name in INDICATORS])
