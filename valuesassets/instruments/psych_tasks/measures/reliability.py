"""`psych_tasks/reliability`: do scale scores differ between models alike with other items, presentations and draws?

It uses no human answer: a trait is what a model shows in all of its own answers.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.psych_tasks.measures.model_lines import lines_of
from valuesassets.measure.internal_consistency import variance_share_interval
from valuesassets.measure.means import Array
from valuesassets.measure.resampling import ROUNDING, jackknife_ends, with_ends
from valuesassets.measure.variance_components import Effect, generalizability, variance_components
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import column, parts_of

FACETS = ("item", "presentation", "draw")
FACTORS = ("model", *FACETS)
MODEL: Effect = frozenset({"model"})
FEWEST_MODELS = 3
FEWEST_LINES = 3
"""Lines of models for an interval: two are needed when one is left out."""
WHERE = ["history", "experiment", "scale"]
ONE_LEVEL = {
    "item": "one item: what others would change was not measured",
    "presentation": "shown in one presentation: what the other would change was not measured",
    "draw": "one draw: what other answers of the model's own would change was not measured",
}
COEFFICIENTS = ("generalizability", *(f"over_{facet}s" for facet in FACETS))
SCALES = [*WHERE, "models", "lines", *(f"{facet}s" for facet in FACETS)]
SCALES += [name + end for name in COEFFICIENTS for end in ("", "_low", "_high")] + ["reason"]
COMPONENTS = [*WHERE, "source", "variance", "share"]


def derive_reliability(frame: pd.DataFrame, level: float = 0.95) -> dict[str, pd.DataFrame]:
    """Tables `scales` (coefficients of each history, experiment and scale) and `components` (variances by source).

    `generalizability` is over all facets that have several levels; `over_items`, `over_presentations`, `over_draws`
    over one of them, the others fixed: over items it is Cronbach's alpha, where that is not negative. Shares are of all
    variance that involves models. Intervals are over lines of models, which are assumed to be independent: Feldt's,
    with Satterthwaite's degrees of freedom where the error is of several facets, or the jackknife's over lines where
    that is wider, as it is where models are skewed, flat or peaked.

    Args:
        frame: `history`, `model`, `experiment`, `scale`, `item`, `presentation` (empty where there is one), `draw`,
            `expected` (re-keyed); optionally `line` of the model, each its own if left out. Items without an answer of
            every model, presentation and draw are left out.

    Source: Brennan (2001), Generalizability Theory, sections 4.1 and 5.1; Hoyt (1941), Psychometrika 6(3), 153-160
    (alpha as such a coefficient).
    """
    scale_rows: list[dict[str, Any]] = []
    component_rows: list[dict[str, Any]] = []
    for names, part in parts_of(frame, WHERE):
        where: dict[str, Any] = dict(zip(WHERE, names, strict=True))
        values = _crossed(part)
        is_whole = np.isfinite(values).all(axis=(0, 2, 3))
        whole = values[:, is_whole]
        line = np.unique(lines_of(part, dict.fromkeys(part["model"])), return_inverse=True)[1]
        sizes = dict(zip(("models", *(f"{facet}s" for facet in FACETS)), whole.shape, strict=True))
        sizes["lines"] = n_lines = int(line.max()) + 1
        reasons = [f"{np.sum(~is_whole)} items were not read everywhere and are left out"] if not is_whole.all() else []
        try:
            row = _coefficients(whole, line, level)
            component_rows += [where | each for each in _shares(whole)]
            if n_lines < FEWEST_LINES:
                number = f"{n_lines} line{'s' * (n_lines != 1)}"
                reasons.append(f"no interval: the models are of {number}, {FEWEST_LINES} or more are needed")
            reasons += [ONE_LEVEL[facet] for facet in FACETS if sizes[f"{facet}s"] == 1]
        except MissingData as error:
            row = {}
            reasons.append(str(error))
        scale_rows.append(where | sizes | row | {"reason": "; ".join(reasons) or None})
    return {
        "scales": pd.DataFrame(scale_rows, columns=pd.Index(SCALES)),
        "components": pd.DataFrame(component_rows, columns=pd.Index(COMPONENTS)),
    }


def coefficient(values: Array) -> float:
    """Generalizability (0 to 1) of models' means over (models, items, presentations, draws) values.

    sigma^2(m) / (sigma^2(m) + sum over sets S of facets of sigma^2(m S) / number of their conditions).

    Raises:
        MissingData: one model, or one level of every facet.
    """
    sizes: dict[str, int] = dict(zip(FACTORS, values.shape, strict=True))
    components = variance_components(values, FACTORS)
    error = {
        effect: int(np.prod([sizes[facet] for facet in effect - MODEL])) for effect in components if effect > MODEL
    }
    if MODEL not in components or not error:
        raise MissingData("no facet has several levels: there is nothing that a coefficient could be over")
    return generalizability(components, [MODEL], error).item()


def _coefficients(values: Array, line: NDArray[np.intp], level: float) -> dict[str, Any]:
    """All coefficients of complete values with their intervals, without those over a facet of one level.

    Raises:
        MissingData: too few models, no item, or one level of every facet.
    """
    n_models, n_items = values.shape[:2]
    if n_models < FEWEST_MODELS:
        number = f"{n_models} model{'s' * (n_models != 1)}"
        raise MissingData(f"{number}, {FEWEST_MODELS} or more are needed to tell them apart")
    if n_items == 0:
        raise MissingData("no item was read everywhere")
    if np.ptp(values, axis=0).max() <= ROUNDING * max(1.0, float(np.abs(values).max())):
        raise MissingData("all models answer the same: nothing varies")
    columns = _with_interval("generalizability", values, line, level)
    for axis, facet in enumerate(FACETS, 1):
        if values.shape[axis] > 1:
            means = values.mean(axis=tuple({1, 2, 3} - {axis}), keepdims=True)
            columns |= _with_interval(f"over_{facet}s", means, line, level)
    return columns


def _with_interval(name: str, values: Array, line: NDArray[np.intp], level: float) -> dict[str, Any]:
    """A coefficient, and its interval over lines of models where there is one."""
    estimate, n_lines = coefficient(values), int(line.max()) + 1
    if n_lines < FEWEST_LINES or estimate >= 1 - ROUNDING:
        return with_ends(name, estimate, (None, None))
    exact = variance_share_interval(estimate, n_lines - 1, _error_degrees(values, n_lines), level)
    without_line = np.array([coefficient(values[line != each]) for each in range(n_lines)])
    jackknife = jackknife_ends(estimate, without_line, level)
    low, high = min(exact[0], jackknife[0]), max(exact[1], jackknife[1])
    return with_ends(name, estimate, (max(low, 0.0), min(high, 1.0)))


def _error_degrees(values: Array, n_lines: int) -> float:
    """Satterthwaite's degrees of freedom of the error of models' means, which is a sum of mean squares.

    The error is the sum of the mean squares of model x facets, where those of an even number of facets are subtracted:
    for one facet it is model x facet, with (lines - 1)(levels - 1).
    """
    sizes: dict[str, int] = dict(zip(FACTORS, values.shape, strict=True))
    components: Mapping[Effect, Array] = {
        effect: each for effect, each in variance_components(values, FACTORS).items() if effect >= MODEL
    }
    error, spread, degrees = 0.0, 0.0, []
    for effect in components:
        if effect > MODEL:
            square = sum(
                float(variance.item()) * np.prod([sizes[facet] for facet in FACETS if facet not in wider])
                for wider, variance in components.items()
                if wider >= effect
            )
            degrees.append((n_lines - 1) * float(np.prod([sizes[facet] - 1 for facet in effect - MODEL])))
            error += (-1) ** len(effect) * square
            spread += square**2 / degrees[-1]
    return max(error**2 / spread, min(1.0, *degrees)) if error > 0 else min(degrees)


def _shares(values: Array) -> list[dict[str, Any]]:
    """Variance of every effect that involves models; negative ones have no share."""
    components = variance_components(values, FACTORS)
    variances = {
        " x ".join(each for each in FACTORS if each in effect): variance.item()
        for effect, variance in components.items()
        if effect >= MODEL
    }
    total = sum(max(variance, 0) for variance in variances.values())
    return [
        {"source": name, "variance": variance, "share": max(variance, 0) / total if total > 0 else None}
        for name, variance in variances.items()
    ]


def _crossed(frame: pd.DataFrame) -> Array:
    """(models, items, presentations, draws) expected values, means over rows of one cell; NaN where there is none."""
    places, shape = [], []
    for factor in FACTORS:
        codes, levels = pd.factorize(column(frame, factor), use_na_sentinel=False)
        places.append(codes)
        shape.append(len(levels))
    flat = np.ravel_multi_index(places, shape)
    expected = column(frame, "expected").to_numpy(dtype=float, na_value=np.nan)
    n = int(np.prod(shape))
    sums, counts = np.bincount(flat, weights=expected, minlength=n), np.bincount(flat, minlength=n)
    return np.divide(sums, counts, out=np.full(n, np.nan), where=counts > 0).reshape(shape)
