"""Baselines of every comparison: answers without content, other people's answers, and those of a perfect model."""

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
"""Samples drawn per question; over 100 questions their mean distance is sure to about 1 %."""


def null_families(study: Study) -> tuple[str, ...]:
    """Reference families planted to say nothing about a country: alike in every language, or whatever stands first."""
    return tuple(name for name, family in study.families.items() if family.plants != "values")


def kind_of(model: str, study: Study) -> str:
    """`null` for a null family, `model` for any other."""
    return "null" if model in null_families(study) else "model"


def beside_nulls(
    grid: AnswerGrid, countries: Sequence[str], people: Array, study: Study, made_of: Callable[[Array], Array]
) -> tuple[pd.DataFrame, Array, NDArray[np.intp]]:
    """The cells of a grid, then for every language the null answers on the items that a cell of it has: R rows.

    Args:
        countries: N of them.
        people: (N, I, ...) theirs; NaN where missing.
        made_of: what is compared, (..., I, ...), of answers (..., I, K).

    Returns:
        Labels (kind, model, language, country); (R, I, ...) what was made of answers; (R,) where each row's own country
        stands among the people, -1 where it has none.
    """
    labels = [(kind_of(model, study), model, language) for model, language in grid.cells]
    values = [*made_of(grid.answers)]
    flat, first = made_of(grid.scales.uniform()), made_of(grid.scales.always_first())
    places = {name: place for place, name in enumerate(countries)}
    for language in grid.languages:
        is_asked = np.isfinite(grid.answers[grid.language_of == language, :, 0]).any(axis=0)
        others = np.delete(people, places.get(study.countries[language], []), axis=0)
        for name, given in ((UNIFORM, flat), (ALWAYS_FIRST, first), (OTHERS, mean_of_known(others, axis=0))):
            labels.append(("null", name, language))
            values.append(np.where(is_asked.reshape(-1, *[1] * (given.ndim - 1)), given, np.nan))
    frame = pd.DataFrame(labels, columns=pd.Index(["kind", "model", "language"]))
    frame["country"] = [study.countries[language] for language in frame["language"]]
    own = np.array([places.get(country, -1) for country in frame["country"]], dtype=np.intp)
    return frame, np.stack(values), own


def sampling_floor(scales: Scales, people: Array, effective_n: Array, random: np.random.Generator) -> dict[str, Array]:
    """How far a model that knows a country's answers lies from a sample of its people: (N, I) distances by measure.

    The country's distribution stands for what the model knows; from it as many people are drawn as answered, over the
    design effect. A share of n people has the variance p (1 - p) / n. Two halves of them differ by four times as much,
    so that distances between halves are twice what a perfect model has.

    Args:
        people: (N, I, K); NaN where missing.
        effective_n: (N, I) respondents over the design effect.
    """
    is_known = np.isfinite(people).all(axis=-1) & (effective_n >= 1)
    probs = np.where(is_known[..., None], people, scales.uniform())
    probs = probs / probs.sum(axis=-1, keepdims=True) * (1 - 1e-12)  # sums above 1 by rounding are refused
    n = np.where(is_known, effective_n, 1).astype(np.int64)
    total: dict[str, Array] = {}
    for _ in range(SAMPLES):
        drawn = random.multinomial(n, probs) / n[..., None]
        for name, distances in scales.distances(drawn, probs).items():
            total[name] = total.get(name, 0) + distances / SAMPLES
    return {name: np.where(is_known, distances, np.nan) for name, distances in total.items()}
