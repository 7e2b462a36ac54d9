"""Planted preferences: indicator means that give a map point, tilts of other questions, and the tilted shapes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, lsq_linear

from valuesassets.instruments.survey.material import indicators
from valuesassets.instruments.survey.material.analysis_scale import analysis_places, base_id
from valuesassets.instruments.survey.published import axes
from valuesassets.measure.seeding import seeded
from valuesassets.records.questions import Option, Question, ResponseType
from valuesassets.records.study import Study

INDICATOR_OF = {part: indicator for indicator in indicators.INDICATORS for part in indicators.components(indicator)}
"""The indicator of each asked question."""
MAX_TILT = 9.0
REACH = 0.85  # largest planted indicator mean, as a share of half its scale
BLEND = {"mono": 1.0, "multi": 0.5}  # weight of the language's country; the rest is the mean of all languages
LOADING_SD = 0.2  # of the tilt per unit of either map axis, for questions that are no indicators
POSITION_NOISE = 0.08
COUNTRY_NOISE, FAMILY_NOISE = 0.5, 0.2
"""Standard deviations, in tilts, of the deviations of a country, or of a family in a language, in each question.

With them the first component of the demo's six countries has half of the variance, as in EVS 2017 (`test_plants.py`).
"""
WORDING_NOISE = 0.15  # of the tilt of every answer cue but the first
POLARISED_SHARE = 0.4  # share of ten-point questions with modes at both ends, so that `1` and `10` have mass


@dataclass(frozen=True)
class Leanings:
    """The planted leanings of a country or family.

    Attributes:
        indicator_means: planted mean of each of the ten indicators.
        position: (x, y) on the map, which moves all other questions through their loadings.
        deviations: sizes and seeds of this country's and family's deviations; a tilt is their sum.
    """

    indicator_means: dict[str, float]
    position: tuple[float, float]
    deviations: tuple[tuple[float, tuple[str, ...]], ...]


def country_leanings(study: Study, language: str) -> Leanings:
    """The leanings of the language's reference country; its indicators give its published map position.

    Raises:
        HumanDataError: no position is published for the country.
    """
    country = study.countries[language]
    position = axes.published_position(country)
    own = ("country", country)
    deviations = ((COUNTRY_NOISE, own),)
    return Leanings(_indicator_means(study, position, deviations), position, deviations)


def family_leanings(study: Study, family: str, language: str) -> Leanings:
    """The leanings of a reference family in one language: a blend of the country and all languages, with deviations.

    A family without signal has the mean of all languages and one deviation.
    """
    is_alike = study.families[family].plants == "no-signal"
    share = 0.0 if is_alike else BLEND[study.families[family].model_type]
    served = study.family_languages(family)
    countries = [study.countries[code] for code in served]
    positions = np.array([axes.published_position(country) for country in countries])
    own = ("family", family, "every language" if is_alike else language)
    noise = seeded(study.seed, "position", *own).normal(0, POSITION_NOISE, 2)
    blended = share * positions[served.index(language)] + (1 - share) * positions.mean(axis=0) + noise
    position = (float(blended[0]), float(blended[1]))
    deviations = [(share * COUNTRY_NOISE, ("country", study.countries[language])), (FAMILY_NOISE, own)]
    of_each = (1 - share) * COUNTRY_NOISE / len(countries)
    deviations += [(of_each, ("country", country)) for country in countries if share < 1]
    return Leanings(_indicator_means(study, position, deviations), position, tuple(deviations))


def preference(
    study: Study,
    asked_as: str,
    question: Question,
    leanings: Leanings,
    tilts: Mapping[str, float],
    variant: tuple[str, str, int] = ("", "", 0),
) -> NDArray[np.float64]:
    """(K,) planted probabilities of a question's options.

    Args:
        tilts: of the indicators (`solve_tilt`), for the first wording.
        variant: family, language and wording.
    """
    base, direction = shape(study.seed, asked_as, question)
    if variant[2]:
        base = base + seeded(study.seed, "wording", *variant, asked_as).normal(0, WORDING_NOISE) * direction
    indicator = INDICATOR_OF.get(asked_as)
    if indicator is not None and sorted(question.values) == list(indicators.answer_codes(asked_as)):
        return tilted(base, direction, tilts[indicator])
    item = seeded(study.seed, "item", asked_as)
    own_tilt = item.choice([-1, 1]) * item.uniform(0.8, 2.0)
    moved = float(item.normal(0, LOADING_SD, 2) @ leanings.position)
    return tilted(base, direction, own_tilt + moved + _deviation(study, leanings, asked_as))


def solve_tilt(study: Study, indicator: str, leanings: Leanings, pulls: Mapping[str, float]) -> float:
    """The tilt at which the indicator's answers, averaged over both orders, have the planted mean.

    A mean that the pull to the first option makes impossible gives the largest tilt.

    Args:
        pulls: share of answers to the first option shown, by asked question id.
    """
    wanted = leanings.indicator_means[indicator]
    parts = [(part, indicators.answer_codes(part)) for part in indicators.components(indicator)]
    shapes = [(part, values, *shape(study.seed, part, _stand_in(part, values))) for part, values in parts]

    def misses_by(tilt: float) -> float:
        averaged = {}
        for part, values, base, direction in shapes:
            probs = tilted(base, direction, tilt)
            ends = np.eye(len(values))[[0, -1]].mean(axis=0)
            averaged[part] = dict(zip(values, (1 - pulls[part]) * probs + pulls[part] * ends, strict=True))
        return indicators.indicator_mean(indicator, averaged) - wanted

    low, high = misses_by(-MAX_TILT), misses_by(MAX_TILT)
    if low * high >= 0:
        return -MAX_TILT if abs(low) < abs(high) else MAX_TILT
    return float(brentq(misses_by, -MAX_TILT, MAX_TILT, xtol=1e-9))  # type: ignore[arg-type]


def _indicator_means(study: Study, position: tuple[float, float], deviations: tuple | list) -> dict[str, float]:
    """Indicator means near the average country's, with a deviation of their own, whose map point is `position`."""
    projector, ranges = axes.reference_projector(), axes.indicator_ranges()
    half = (ranges["high"] - ranges["low"]).to_numpy() / 2
    middle = (ranges["high"] + ranges["low"]).to_numpy() / 2
    leanings = Leanings({}, position, tuple(deviations))
    start = np.array([axes.average_means()[name] for name in indicators.INDICATORS])
    start = (start - middle) / half + 0.5 * np.array(
        [_deviation(study, leanings, name) for name in indicators.INDICATORS]
    )
    # In units of half a scale: fit the point closely and the start loosely, away from the ends.
    meet = projector.slopes * half
    misfit = np.array(position) - projector.intercepts - projector.slopes @ middle
    matrix, wanted = np.vstack([20 * meet, np.eye(len(start))]), np.concatenate([20 * misfit, start])
    unit = lsq_linear(matrix, wanted, bounds=(-REACH, REACH)).x
    return {name: float(mean) for name, mean in zip(indicators.INDICATORS, middle + half * unit, strict=True)}


def _deviation(study: Study, leanings: Leanings, item: str) -> float:
    return sum(
        size * float(seeded(study.seed, "deviation", *source, item).normal()) for size, source in leanings.deviations
    )


def _stand_in(part: str, values: tuple[int, ...]) -> Question:
    """A question of a component's shape, for components that a study does not ask."""
    kind = {2: "binary", 10: "likert10", 4: "likert4"}.get(len(values), "likert3")
    if INDICATOR_OF[part] == "Y002":
        kind = "categorical"
    options = tuple(Option(value=value, label=str(value)) for value in values)
    return Question(id=part, text=part, response_type=ResponseType(kind), options=options)


def tilted(base: NDArray[np.float64], direction: NDArray[np.float64], tilt: float) -> NDArray[np.float64]:
    """Probabilities proportional to exp(base + tilt * direction): the tilt moves the mean along the direction.

    >>> tilted(np.zeros(2), np.array([-1.0, 1.0]), np.log(3) / 2).round(2).tolist()
    [0.25, 0.75]
    """
    logits = base + tilt * direction
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def shape(seed: int, asked_as: str, question: Question) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Base logits and tilt direction, each (K,) by option; the same for every language and family.

    The direction follows the analysis scale, or the indicator of the aims of the country and the qualities of children.
    """
    draw, values = seeded(seed, "shape", base_id(asked_as)), question.values
    if base_id(asked_as) in (indicators.FIRST_AIM, indicators.SECOND_AIM) and set(values) <= {1, 2, 3, 4}:
        strength = seeded(seed, "shape", indicators.FIRST_AIM).normal(0, 0.5, 4)
        direction = [1.0 if value in indicators.POSTMATERIALIST else -1.0 for value in values]
        return np.array([strength[value - 1] for value in values]), np.array(direction)
    if not question.response_type.is_ordinal:
        return draw.normal(0, 0.7, len(values)), np.sort(draw.uniform(-1, 1, len(values)))
    place = analysis_places([question])
    scale = np.array([place(asked_as, value) for value in values], dtype=float)
    unit = (scale - scale.min()) / (scale.max() - scale.min())
    if asked_as in indicators.AUTONOMY:
        sign = indicators.AUTONOMY[asked_as]
        return draw.normal(0, 0.4) * (1 - unit), sign * (1 - 2 * unit)
    if question.response_type is ResponseType.LIKERT10 and draw.uniform() < POLARISED_SHARE:
        ends = np.exp(-((unit / 0.1) ** 2)) + np.exp(-(((1 - unit) / 0.1) ** 2))
        return np.log(0.08 + ends), 2 * unit - 1
    width = draw.uniform(0.22, 0.34)
    return -((unit - 0.5) ** 2) / (2 * width**2), 2 * unit - 1
