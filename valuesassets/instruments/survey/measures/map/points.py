"""The points of the map: the place of each set of answers, its region, and its distance from content-free points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from valuesassets.instruments.survey.material.indicators import INDICATORS
from valuesassets.instruments.survey.measures.map.answers import (
    always_first_probs,
    answers_as_array,
    indicator_bounds,
    indicator_means,
    mean_of_known,
    uniform_probs,
)
from valuesassets.instruments.survey.measures.map.draws import N_READ, noise_of_means
from valuesassets.instruments.survey.measures.map.people import People
from valuesassets.instruments.survey.measures.map.projector import Axes
from valuesassets.instruments.survey.published.axes import average_means
from valuesassets.instruments.survey.tables import POINTS
from valuesassets.records.errors import ScoringError
from valuesassets.records.frames import records
from valuesassets.records.study import Study

Array = NDArray[np.float64]
NOT_DISTINGUISHABLE = "not distinguishable from no content"
ORDERS = ("prob_forward", "prob_reversed")
PLACED = (
    *("x", "x_low", "x_high", "y", "y_low", "y_high", "residual_sd_x", "residual_sd_y", "margin_x", "margin_y"),
    *("distance_from_content_free", "distance_low", "distance_high", "nearest_content_free", "is_distinguishable"),
)
"""Columns of points with enough indicators; with too few, the stand-ins would decide."""


@dataclass(frozen=True)
class Ground:
    """The axes of the map, and the values shared by all points.

    Attributes:
        stand_ins: (10,) the pooled human means, which replace missing indicators.
        content_free: (10,) indicator means of content-free answers, by name.
        margin: (2,) width added to a model's region on every side.
    """

    axes: Axes
    stand_ins: Array
    content_free: Mapping[str, Array]
    margin: Array

    def place(self, means: Array) -> Array:
        """(..., 2) points of (..., 10) indicator means, with stand-ins for missing ones."""
        return self.axes.projector.place(np.where(np.isnan(means), self.stand_ins, means))


@dataclass(frozen=True)
class Cells:
    """Indicator means of n models in their languages.

    Attributes:
        labels: model, language.
        means: (n, 10) over orders and wordings, nan for a missing indicator.
        views: (n, V, 10) of each order and wording; the mean replaces a missing indicator.
        n_views: (n,) number of orders and wordings of the cell.
        ends: (n, 10) lower and upper ends of the means; None if all probabilities are exact.
        noise: (n, V, 10) variance of `views` by drawing; None if no answer is drawn.
        n_wordings: (n,) wordings, over which the means of `views` are averaged.
    """

    labels: pd.DataFrame
    means: Array
    views: Array
    n_views: NDArray[np.int64]
    ends: tuple[Array, Array] | None = None
    noise: Array | None = None
    n_wordings: NDArray[np.int64] | None = None


def lay_ground(axes: Axes, people: Sequence[People], level: float = 0.95) -> Ground:
    """The stand-ins, the content-free points and the margin.

    The margin is the projector's residual sd with published slopes, and the median half-width of the countries'
    intervals with fitted axes: closer points are not distinguishable even in a survey.
    """
    pooled = mean_of_known(np.array([each.means for each in people]).reshape(-1, len(INDICATORS)))
    average = np.array([average_means()[name] for name in INDICATORS])
    free = {"uniform answers": uniform_probs(), "always the first option": always_first_probs()}
    free_means = {name: indicator_means(probs) for name, probs in free.items()}
    ground = Ground(axes, np.where(np.isnan(pooled), average, pooled), free_means, np.zeros(2))
    margin = axes.projector.residual_sd
    if margin is None:
        tails = [(1 - level) / 2, (1 + level) / 2]
        ends = [np.nanquantile(ground.place(each.drawn), tails, axis=0, method="weibull") for each in people]
        margin = np.median([(high - low) / 2 for low, high in ends], axis=0)
    return replace(ground, margin=margin)


def cells_of(answers: pd.DataFrame, left_out: Sequence[str] = ()) -> Cells:
    """Every model in every language, over all orders and wordings and in each of them.

    Args:
        answers: from `usable_answers`; a column `wording` separates wordings.
        left_out: indicators that the axes do not use.

    Raises:
        ScoringError: a distribution does not sum to 1.
    """
    rows = answers if "wording" in answers else answers.assign(wording=0)
    ends = ["prob_low", "prob_high"] if "prob_low" in rows else []
    n_read = list(N_READ) if N_READ[0] in rows else []
    keys = ["model", "language", "wording"]
    sets, probs = answers_as_array(rows, keys, ["prob", *ORDERS], ScoringError, [*ends, *n_read])
    probs, ends_of, n_read_of = probs[:, :3], probs[:, 3 : 3 + len(ends)], probs[:, 3 + len(ends) :]
    cell = sets.groupby(["model", "language"], sort=False).ngroup().to_numpy()
    labels = pd.DataFrame(sets[["model", "language"]]).drop_duplicates().reset_index(drop=True)
    is_left_out = np.isin(INDICATORS, list(left_out))
    averaged = np.array([mean_of_known(probs[cell == number, 0]) for number in range(len(labels))])
    means = np.where(is_left_out, np.nan, indicator_means(averaged.reshape(len(labels), probs.shape[-1])))
    of_views = np.where(is_left_out, np.nan, indicator_means(probs[:, 1:]))
    number_in_cell = sets.groupby(["model", "language"], sort=False).cumcount().to_numpy()
    width = int(number_in_cell.max()) + 1
    views = np.repeat(means[:, None], len(ORDERS) * width, axis=1).reshape(len(labels), width, len(ORDERS), -1)
    views[cell, number_in_cell] = np.where(np.isnan(of_views), views[cell, number_in_cell], of_views)
    has_any = np.isfinite(of_views).any(axis=-1).sum(axis=1)
    n_views = np.bincount(cell, weights=has_any, minlength=len(labels)).astype(int)
    of_means = None
    if ends:
        of_cells = [[mean_of_known(ends_of[cell == number, end]) for end in (0, 1)] for number in range(len(labels))]
        bounds = np.array([indicator_bounds(*each) for each in of_cells])
        of_means = bounds[:, 0], bounds[:, 1]
    cells = Cells(labels, means, views.reshape(len(labels), -1, len(INDICATORS)), n_views, of_means)
    if not n_read:
        return cells
    noise = np.zeros(views.shape)
    noise[cell, number_in_cell] = noise_of_means(sets, probs[:, 1:], n_read_of)
    return replace(cells, noise=noise.reshape(cells.views.shape), n_wordings=np.bincount(cell))


def missing_in_all(cells: Cells, study: Study) -> list[str]:
    """Indicators that no model with enough indicators has."""
    is_there = np.isfinite(cells.means)
    enough = is_there.sum(axis=1) >= study.thresholds.map_indicators
    return np.array(INDICATORS)[enough.any() & ~is_there[enough].any(axis=0)].tolist()


def model_rows(
    cells: Cells, ground: Ground, study: Study, reliability: Mapping[str, float] | None
) -> list[dict[str, Any]]:
    """A row per cell; its region is the box around its points in every order and wording.

    Intervals of probabilities widen the box, and each of its ends goes out by the interval, at the study's level, that
    drawing gives the order it is from. A cell with too few indicators has no place, and a cell of an unreliable family
    is not drawn.
    """
    places, views = ground.place(cells.means), ground.place(cells.views)
    down, up = _widened(cells, ground)
    n_sds = norm.ppf((1 + study.inference.level) / 2)
    reach = 0.0 if cells.noise is None else n_sds * np.sqrt(_noise_of_points(cells.noise, ground))
    low = np.minimum((views - reach).min(axis=1), places) - down
    high = np.maximum((views + reach).max(axis=1), places) + up
    sds = _sds_by_drawing(cells, ground)
    rows = []
    for number, (model, language) in enumerate(cells.labels.itertuples(index=False)):
        means, about = cells.means[number], study.languages[str(language)]
        why_not = _why_not_drawn(means, str(model), study, reliability)
        # The content-free points without the indicators that the cell lacks.
        free_means = {name: np.where(np.isnan(means), np.nan, free) for name, free in ground.content_free.items()}
        free = {name: ground.place(each) for name, each in free_means.items()}
        apart = _from_content_free(places[number], low[number], high[number], free, ground.margin)
        is_placed = has_enough(means, study)
        notes = [why_not] if why_not else []
        notes += [NOT_DISTINGUISHABLE] if is_placed and not apart["is_distinguishable"] else []
        details = {"model": model, "language": language, "country": about.country, "zone": about.zone}
        details |= {"margin_x": float(ground.margin[0]), "margin_y": float(ground.margin[1])} | apart
        details |= {"n_views": int(cells.n_views[number]), "drawn": not why_not, "note": "; ".join(notes) or None}
        details["source"] = "planted" if study.families[str(model)].kind == "reference" else "model"
        details |= {name: float(sd[number]) for name, sd in sds.items()}
        box = (low[number], high[number])
        row = _point("model", f"{model} {language}", places[number], ground, means, box, **details)
        rows.append(row if is_placed else row | dict.fromkeys([*PLACED, *sds]))
    return rows


def _sds_by_drawing(cells: Cells, ground: Ground) -> dict[str, Array]:
    """(n,) standard deviations by drawing of the points along x and y, by column; none where no answer is drawn."""
    if cells.noise is None or cells.n_wordings is None:
        return {}
    averaged = cells.noise.sum(axis=1) / (len(ORDERS) * cells.n_wordings[:, None]) ** 2
    return dict(zip(("draws_sd_x", "draws_sd_y"), np.sqrt(_noise_of_points(averaged, ground)).T, strict=True))


def _noise_of_points(noise: Array, ground: Ground) -> Array:
    """(..., 2) variances of points from (..., 10) variances of indicator means."""
    return noise @ (ground.axes.projector.slopes**2).T


def _widened(cells: Cells, ground: Ground) -> tuple[Array, Array]:
    """(n, 2) how far points may be below and above their places, by the ends of indicator means."""
    if cells.ends is None:
        return np.zeros(2), np.zeros(2)
    slopes, (low, high) = ground.axes.projector.slopes, cells.ends
    below, above = (np.nan_to_num(gap) for gap in (cells.means - low, high - cells.means))
    rising, falling = np.maximum(slopes, 0), np.maximum(-slopes, 0)
    return below @ rising.T + above @ falling.T, above @ rising.T + below @ falling.T


def people_rows(
    people: Sequence[People], ground: Ground, study: Study, absent: Sequence[str], names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """A row per country with the interval of its resamples, without the indicators that no model has."""
    zones = {language.country: language.zone for language in study.languages.values()}
    tail = (1 - study.inference.level) / 2
    rows = []
    for each in people:
        is_absent = np.isin(INDICATORS, list(absent)) | np.isnan(each.means)
        means = np.where(is_absent, np.nan, each.means)
        drawn = ground.place(np.where(is_absent, ground.stand_ins, each.drawn))
        low, high = np.nanquantile(drawn, [tail, 1 - tail], axis=0, method="weibull")
        why_not = _why_not_drawn(means, None, study, None)
        details = {"language": each.language, "country": each.country, "zone": zones.get(each.country)}
        details |= {"source": each.source, "drawn": not why_not, "note": why_not}
        label = names.get(each.country, each.country)
        row = _point("human", label, ground.place(means), ground, means, (low, high), **details)
        rows.append(row if has_enough(means, study) else row | dict.fromkeys(PLACED))
    return rows


def reference_rows(ground: Ground, source: str) -> list[dict[str, Any]]:
    """The pooled human point and the content-free points."""
    pooled = _point("pooled_human", "pooled people", ground.place(ground.stand_ins), ground, source=source)
    free = {name: ground.place(means) for name, means in ground.content_free.items()}
    return [pooled, *(_point("content_free", name, place, ground, source="none") for name, place in free.items())]


def published_rows(positions: pd.DataFrame, ground: Ground) -> list[dict[str, Any]]:
    """Published countries, from positions on these axes: country, name, zone, x, y."""
    return [
        _point("published", row.pop("name"), np.array([row["x"], row["y"]]), ground, **row, source="published")
        for row in records(positions)
    ]


def has_enough(means: Array, study: Study) -> Any:
    """(...) whether (..., 10) indicator means suffice for a place on the map."""
    return np.isfinite(means).sum(axis=-1) >= study.thresholds.map_indicators


def leave_one_out(kind: str, labels: pd.DataFrame, means: Array, ground: Ground, study: Study) -> pd.DataFrame:
    """The move of each placed point if one of its indicators is set to the pooled human mean.

    Args:
        labels: model, language, country of n points.
        means: (n, 10).

    Returns:
        One row per point and indicator: x and y without it, the shift on each axis and its length.
    """
    filled = np.where(np.isnan(means), ground.stand_ins, means)
    shifts = (ground.stand_ins - filled)[:, :, None] * ground.axes.projector.slopes.T
    without = ground.place(means)[:, None] + shifts
    at, which = np.nonzero(np.isfinite(means) & has_enough(means, study)[:, None])
    table = labels.iloc[at].reset_index(drop=True)
    table.insert(0, "kind", kind)
    table["indicator"] = np.array(INDICATORS)[which]
    table[["x", "y"]] = without[at, which]
    table[["shift_x", "shift_y"]] = shifts[at, which]
    return table.assign(shift=np.hypot(table["shift_x"], table["shift_y"]))


def _point(
    kind: str,
    label: str,
    place: Array,
    ground: Ground,
    means: Array | None = None,
    box: tuple[Array, Array] | None = None,
    **details: Any,
) -> dict[str, Any]:
    """A row of `POINTS`: drawn and complete unless `details` say otherwise."""
    missing = [] if means is None else [n for n, mean in zip(INDICATORS, means, strict=True) if np.isnan(mean)]
    row: dict[str, Any] = dict.fromkeys(POINTS.schema_with(details).names) | {
        "kind": kind,
        "label": label,
        "drawn": True,
    }
    row |= {"missing": ", ".join(missing), "n_indicators": len(INDICATORS) - len(missing)}
    for k, axis in enumerate("xy"):
        row[axis] = float(place[k])
        if box is not None:
            row[f"{axis}_low"], row[f"{axis}_high"] = (float(end[k]) for end in box)
        if ground.axes.projector.residual_sd is not None:
            row[f"residual_sd_{axis}"] = float(ground.axes.projector.residual_sd[k])
    return row | details


def _why_not_drawn(
    means: Array, family: str | None, study: Study, reliability: Mapping[str, float] | None
) -> str | None:
    if not has_enough(means, study):
        count, least = int(np.isfinite(means).sum()), study.thresholds.map_indicators
        return f"not drawn: {count} of {len(INDICATORS)} indicators, {least} are needed"
    coefficient = None if reliability is None or family is None else reliability.get(family)
    if coefficient is not None and not coefficient >= study.thresholds.reliability:
        value = "no coefficient" if np.isnan(coefficient) else f"a coefficient of {coefficient:.2f}"
        requirement = f"{study.thresholds.reliability:.2f} is needed; see reliability"
        return f"not drawn: {family} has {value} (generalizability), {requirement}"
    return None


def _from_content_free(
    point: Array, low: Array, high: Array, content_free: Mapping[str, Array], margin: Array
) -> dict[str, Any]:
    """Distances from the nearest content-free point: of the point, and the ends over the widened region."""
    region_low, region_high = low - margin, high + margin
    measured = []
    for name, free in content_free.items():
        gap = np.maximum(np.maximum(region_low - free, free - region_high), 0)
        reach = np.maximum(np.abs(region_low - free), np.abs(region_high - free))
        measured.append((*(float(np.hypot(*offset)) for offset in (point - free, gap, reach)), name))
    columns = ("distance_from_content_free", "distance_low", "distance_high", "nearest_content_free")
    is_apart = all(low > 0 for _, low, *_ in measured)
    return dict(zip(columns, min(measured), strict=True)) | {"is_distinguishable": is_apart}
