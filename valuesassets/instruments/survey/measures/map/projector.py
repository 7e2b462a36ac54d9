"""Chooses the axes of a study's map: fitted to its respondents, never to models, or the published ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.survey.material.indicators import INDICATORS
from valuesassets.instruments.survey.published.axes import RESCALING, published_slopes, reference_projector
from valuesassets.measure.components import Components, Projector, fit_components, tucker_congruence
from valuesassets.records.errors import HumanDataError, MissingData
from valuesassets.records.study import Study

LEAST_ANSWERED = 6  # of the ten indicators, for a respondent to count in the fit
LEAST_COUNTRIES = 3
FAIR_CONGRUENCE = 0.85  # least congruence with an axis of the published map (Lorenzo-Seva and ten Berge 2006)
PINS = ("F118", "F063")  # homosexuality is positive on the first axis, God's importance negative on the second
FITTED = ["loading_x", "loading_y", "mean", "sd"]  # columns of fitted axes alone


@dataclass(frozen=True)
class Axes:
    """A projector, its origin, and the notes that a reader needs.

    Attributes:
        kind: `fitted` or `reference`.
        table: one row per indicator: slopes, loadings (fitted axes alone), published slopes, mean, sd; and one row
            `intercept`.
        notes: sentences for under the map.
        congruence: of fitted axes with the published ones, by axis; empty for the published ones.
    """

    projector: Projector
    kind: Literal["fitted", "reference"]
    table: pd.DataFrame
    notes: tuple[str, ...]
    congruence: Mapping[str, float] = field(default_factory=dict)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Indicators that the axes do not use, because nobody was asked them."""
        is_used = np.asarray(self.projector.slopes != 0).sum(axis=0) > 0
        return tuple(np.array(INDICATORS)[~is_used].tolist())

    @property
    def unlike(self) -> list[str]:
        """The axes (x, y) that must not be read by their published names."""
        return [axis for axis, value in self.congruence.items() if value < FAIR_CONGRUENCE]


def choose_axes(study: Study, respondents: pd.DataFrame | None) -> Axes:
    """The axes that the study asks for (`map.projector`).

    `auto` fits axes if the study reads files of respondents and at least three countries have respondents with at least
    six indicators; planted respondents get the published slopes, from which they were planted.

    Raises:
        MissingData: `fitted` is asked for and impossible.
        HumanDataError: a weight or an indicator column is unusable.
    """
    wanted = study.map.projector
    if wanted == "reference" or (wanted == "auto" and study.human.source != "files"):
        return _reference(())
    try:
        return fit_axes(respondents)
    except MissingData as error:
        if wanted == "fitted":
            message = f"map.projector = 'fitted': {error}; say 'reference', or add files of respondents"
            raise MissingData(message) from None
        return _reference((f"No axes of their own: {error}.",))


def fit_axes(respondents: pd.DataFrame | None) -> Axes:
    """Two varimax components of the respondents' indicators, every country weighing the same.

    Raises:
        MissingData: fewer than three countries with respondents who answered six indicators, or a pinning indicator
            without answers or variance.
    """
    if respondents is None or respondents.empty:
        raise MissingData("there are no respondents to fit axes to")
    answers, weights = indicator_answers(respondents), respondent_weights(respondents)
    takes_part = (np.isfinite(answers).sum(axis=1) >= LEAST_ANSWERED) & (weights > 0)
    of_country = respondents["country"].to_numpy()[takes_part]
    countries = sorted(set(of_country))
    if len(countries) < LEAST_COUNTRIES:
        raise MissingData(
            f"{len(countries)} countries have respondents with {LEAST_ANSWERED} or more of the ten indicators "
            f"({', '.join(countries) or 'none'}), {LEAST_COUNTRIES} are needed"
        )
    answers, weights = answers[takes_part], equal_weights(weights[takes_part], of_country)
    is_asked = np.isfinite(answers).sum(axis=0) > 0
    names = np.array(INDICATORS)[is_asked].tolist()
    lacking = [name for name in PINS if name not in names]
    if lacking or len(names) < LEAST_ANSWERED:
        raise MissingData(f"respondents were asked {', '.join(names)} alone; the axes need {' and '.join(PINS)} too")
    fit = fit_components(answers[:, is_asked], weights, *(names.index(name) for name in PINS))
    slopes = np.zeros((2, len(INDICATORS)))
    slopes[:, is_asked] = fit.slopes
    congruence = {
        axis: tucker_congruence(fit.slopes[k] * fit.sds, published_slopes()[k][is_asked] * fit.sds)
        for k, axis in enumerate(("x", "y"))
    }
    projector = Projector(slopes, fit.intercepts)
    notes = _fitted_notes(len(answers), len(countries), fit, congruence, names)
    return Axes(projector, "fitted", _table(projector, fit, is_asked), notes, congruence)


def indicator_answers(respondents: pd.DataFrame) -> NDArray[np.float64]:
    """(n, 10) the respondents' indicators, nan without an answer; raises `HumanDataError` if a column is missing."""
    absent = [name for name in INDICATORS if name not in respondents]
    if absent:
        raise HumanDataError(
            f"respondents: column {absent[0]} is missing, the ten indicators {', '.join(INDICATORS)} were expected; "
            "materialise respondents again"
        )
    return respondents[list(INDICATORS)].to_numpy(dtype=float, na_value=np.nan)


def respondent_weights(respondents: pd.DataFrame) -> NDArray[np.float64]:
    """(n,) weights.

    Raises:
        HumanDataError: a weight is no number or negative, or a country's weights are all 0; names the country.
    """
    weights = respondents["weight"].to_numpy(dtype=float, na_value=np.nan)
    is_wrong = ~(np.isfinite(weights) & (weights >= 0))
    number, countries = pd.factorize(respondents["country"])
    totals = np.bincount(number, weights=np.where(is_wrong, 0, weights))
    if is_wrong.any():
        at = int(np.argmax(is_wrong))
        problem = f"{countries[number[at]]}: weight {weights[at]} of respondent {respondents['respondent_id'].iloc[at]}"
    elif (totals <= 0).any():
        problem = f"{countries[int(np.argmin(totals))]}: weights that are all 0"
    else:
        return weights
    raise HumanDataError(f"respondents of {problem}, numbers above 0 were expected; mend the weights")


def equal_weights(weights: NDArray[np.float64], countries: NDArray[np.object_]) -> NDArray[np.float64]:
    """Weights that sum to 1 in every country, so that a country with many respondents does not set the axes.

    >>> equal_weights(np.array([1.0, 3.0, 5.0]), np.array(["BG", "BG", "PL"])).tolist()
    [0.25, 0.75, 1.0]
    """
    number = pd.factorize(countries)[0]
    return weights / np.bincount(number, weights=weights)[number]


def _reference(why: tuple[str, ...]) -> Axes:
    projector = reference_projector()
    assert projector.residual_sd is not None  # noqa: S101
    sd = projector.residual_sd
    notes = (
        f"Projector: published slopes, intercepts fitted on five WVS-7 countries, residual sd {sd[0]:.2f} (x) and "
        f"{sd[1]:.2f} (y); rescaling {RESCALING}.",
        *why,
    )
    return Axes(projector, "reference", _table(projector), notes)


def _table(projector: Projector, fit: Components | None = None, is_asked: Any = None) -> pd.DataFrame:
    """Rows of `cultural_map/projector`; axes that are not fitted have only slopes and intercepts."""
    (x, y), (published_x, published_y) = projector.slopes, published_slopes()
    slopes = {"slope_x": x, "slope_y": y, "published_slope_x": published_x, "published_slope_y": published_y}
    table = pd.DataFrame({"indicator": list(INDICATORS)} | slopes)
    table[FITTED] = np.nan
    if fit is not None:
        table.loc[is_asked, FITTED] = np.column_stack([fit.loadings.T, fit.means, fit.sds])
    last = {"indicator": "intercept", "slope_x": projector.intercepts[0], "slope_y": projector.intercepts[1]}
    return pd.concat([table, pd.DataFrame([last])], ignore_index=True)


def _fitted_notes(
    n: int, n_countries: int, fit: Components, congruence: Mapping[str, float], names: list[str]
) -> tuple[str, ...]:
    notes = [
        f"Projector: two principal components, turned by varimax, of {n} respondents in {n_countries} countries of "
        f"equal weight who answered {LEAST_ANSWERED} or more indicators; they carry {fit.explained[0]:.0%} and "
        f"{fit.explained[1]:.0%} of the variance. Axes are in standard deviations of respondents.",
        f"Tucker's congruence of the standardised slopes with the published ones: {congruence['x']:.2f} (x), "
        f"{congruence['y']:.2f} (y).",
    ]
    notes += [
        f"Warning: at {value:.2f}, below {FAIR_CONGRUENCE}, the {name} axis is not that of the published map; do not "
        "read it by its published name."
        for name, value in congruence.items()
        if value < FAIR_CONGRUENCE
    ]
    if absent := [name for name in INDICATORS if name not in names]:
        notes.append(f"No respondent answered {', '.join(absent)}; the axes do without.")
    return tuple(notes)
