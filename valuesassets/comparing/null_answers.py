"""Baselines of comparisons: null answers (without content, or of other countries), and those of a perfect model."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.answer_grid import AnswerGrid
from valuesassets.comparing.scales import Scales
from valuesassets.measure.arrays import Array
from valuesassets.measure.means import mean_of_known
from valuesassets.records.study import Study

UNIFORM, ALWAYS_FIRST, OTHERS = "uniform answers", "always the first option", "pooled other countries"
PERFECT = "a model that knows the people's answers"
SAMPLES = 40
"""Samples drawn per question; over 100 questions their mean distance has an error of about 1 %."""


def null_families(study: Study) -> tuple[str, ...]:
    """Reference families whose planted answers carry no information about a country: the same in every language."""
    return tuple(name for name, family in study.families.items() if family.plants != "values")


def kind_of(model: str, study: Study) -> str:
    """`null` for a null family, `model` for any other."""
    return "null" if model in null_families(study) else "model"


def beside_nulls(
    grid: AnswerGrid, countries: Sequence[str], people: Array, study: Study, measure: Callable[[Array], Array]
) -> tuple[pd.DataFrame, Array, NDArray[np.intp]]:
    """The cells of a grid followed by the null answers of every language on the items of its cells: R rows.

    Args:
        countries: N countries.
        people: (N, I, ...) values of their people; NaN where missing.
        measure: computes the compared values, (..., I, ...), from answers (..., I, K).

    Returns:
        Labels (kind, model, language, country); (R, I, ...) the compared values; (R,) index of each row's own country
        among the countries, -1 where it is not among them.
    """
    labels = [(kind_of(model, study), model, language) for model, language in grid.cells]
    values = [*measure(grid.answers)]
    flat, first = measure(grid.scales.uniform()), measure(grid.scales.always_first())
    places = {name: place for place, name in enumerate(countries)}
    for language in grid.languages:
        is_asked = np.isfinite(grid.answers[grid.language_of == language, :, 0]).any(axis=0)
        others = np.delete(people, places.get(study.countries[language], []), axis=0)
        for name, null_values in ((UNIFORM, flat), (ALWAYS_FIRST, first), (OTHERS, mean_of_known(others, axis=0))):
            labels.append(("null", name, language))
            values.append(np.where(is_asked.reshape(-1, *[1] * (null_values.ndim - 1)), null_values, np.nan))
    frame = pd.DataFrame(labels, columns=pd.Index(["kind", "model", "language"]))
    frame["country"] = [study.countries[language] for language in frame["language"]]
    own = np.array([places.get(country, -1) for country in frame["country"]], dtype=np.intp)
    return frame, np.stack(values), own


def sampling_floor(scales: Scales, people: Array, effective_n: Array, random: np.random.Generator) -> dict[str, Array]:
    """Expected distance between a perfect model of a country and a sample of its people: (N, I) distances by measure.

    The country's distribution is the model's answer. Samples of as many people as answered, over the design effect, are
    drawn from it. Distances between two halves of the respondents would be twice as large: a share among n people has
    the variance p (1 - p) / n, and the difference of two halves has four times that variance.

    Args:
        people: (N, I, K) answers of people; NaN where missing.
        effective_n: (N, I) respondents over the design effect.
    """
    is_known = np.isfinite(people).all(axis=-1) & (effective_n >= 1)
    probs = np.where(is_known[..., None], people, scales.uniform())
    probs = probs / probs.sum(axis=-1, keepdims=True) * (1 - 1e-12)  # numpy refuses sums that exceed 1 by rounding
    n = np.where(is_known, effective_n, 1).astype(np.int64)
    total: dict[str, Array] = {}
    for _ in range(SAMPLES):
        shares = random.multinomial(n, probs) / n[..., None]
        for name, distances in scales.distances(shares, probs).items():
            total[name] = total.get(name, 0) + distances / SAMPLES
    return {name: np.where(is_known, distances, np.nan) for name, distances in total.items()}
