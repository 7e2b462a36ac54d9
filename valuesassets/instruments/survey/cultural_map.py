"""`survey/cultural_map`: models and countries on the Inglehart-Welzel axes, beside the points of no content.

Axes: Inglehart and Welzel (2005); indicators of EVS 2017 (ZA7500) and WVS-7 (Haerpfer et al. 2022). The projector is
fitted once on people and never refitted on models.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from valuesassets.instruments.survey.cell_answers import parts_of
from valuesassets.instruments.survey.human_distributions import why_no_people
from valuesassets.instruments.survey.indicators import INDICATORS, Answers, answer_codes, components, derive_indicators
from valuesassets.instruments.survey.map_axes import (
    RESCALING,
    average_means,
    published_positions,
    reference_projector,
)
from valuesassets.instruments.survey.planted_shapes import seeded
from valuesassets.records.study import Study

COLUMNS = ["kind", "label", "model", "language", "country", "zone", "x", "y", "x_low", "x_high", "y_low", "y_high"]
COLUMNS += ["residual_sd_x", "residual_sd_y", "n_indicators", "missing", "drawn", "distance_from_content_free"]
COLUMNS += ["distance_low", "distance_high", "is_distinguishable", "source", "note"]
NOT_DISTINGUISHABLE = "not distinguishable from no content"
DRAWS = 200
"""Resamplings of respondents per country."""


@dataclass(frozen=True)
class _Ground:
    """What every point is placed with."""

    stand_ins: dict[str, float]
    content_free: dict[str, tuple[float, float]]

    def place(self, answers: Answers) -> tuple[tuple[float, float], tuple[str, ...]]:
        """The point of a set of answers, and the indicators that stood-in means were used for."""
        found = derive_indicators(answers)
        return reference_projector().place(self.stand_ins | found.means), found.missing


def place_on_map(answers: pd.DataFrame, human: pd.DataFrame, study: Study) -> pd.DataFrame:
    """One row per point: models, content-free answers, people, the pooled answer, published positions.

    A missing indicator is set to the pooled human mean. A model's region is the spread over both orders, widened by the
    projector's residual sd; where it holds a content-free point the model is not distinguishable from no content.

    Args:
        answers: as `usable_answers` gives them.
        human: rows of `HUMAN_DISTRIBUTIONS`; where empty, the mean of five WVS-7 countries stands in for the pooled
            answer.

    Returns:
        A table in `COLUMNS`; `attrs["notes"]` holds the sentences that belong under the map.
    """
    pooled = _pooled(human)
    known = derive_indicators(pooled).means if pooled else {}
    stand_ins = average_means() | known
    ground = _Ground(stand_ins, {name: _place_content_free(found) for name, found in content_free_answers().items()})
    models = _model_points(answers, study, ground)
    absent = _missing_in_all(models)
    people = _human_points(human, study, ground, absent) if pooled else []
    middle = [_point("pooled_human", "pooled people", reference_projector().place(stand_ins), source=_source(human))]
    free = [_point("content_free", name, point, source="none") for name, point in ground.content_free.items()]
    points = pd.DataFrame([*_published_points(), *people, *middle, *free, *models], columns=pd.Index(COLUMNS))
    points.attrs["notes"] = _notes(points, bool(pooled), human, study, absent)
    return points


def content_free_answers() -> dict[str, Answers]:
    """Answers that carry no content to every question of the map: uniform, and always the first option shown."""
    asked = {part: answer_codes(part) for indicator in INDICATORS for part in components(indicator)}
    uniform = {part: dict.fromkeys(codes, 1 / len(codes)) for part, codes in asked.items()}
    first = {
        part: {code: 0.5 * (code == codes[0]) + 0.5 * (code == codes[-1]) for code in codes}
        for part, codes in asked.items()
    }
    return {"uniform answers": uniform, "always the first option": first}


def _place_content_free(answers: Answers) -> tuple[float, float]:
    return reference_projector().place(derive_indicators(answers).means)


def _point(kind: str, label: str, point: tuple[float, float], **more: object) -> dict[str, object]:
    sd = reference_projector().residual_sd
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row |= {"kind": kind, "label": label, "x": point[0], "y": point[1], "drawn": True, "missing": ""}
    row |= {"n_indicators": len(INDICATORS), "residual_sd_x": float(sd[0]), "residual_sd_y": float(sd[1])}
    return row | more


def _model_points(answers: pd.DataFrame, study: Study, ground: _Ground) -> list[dict[str, object]]:
    rows = []
    for (model, language), cell in parts_of(answers, ["model", "language"]):
        sides = {column: _by_question(cell, column) for column in ("prob", "prob_forward", "prob_reversed")}
        point, missing = ground.place(sides["prob"])
        spread = np.array([ground.place(side)[0] for side in sides.values()])
        low, high = spread.min(axis=0), spread.max(axis=0)
        count, least = len(INDICATORS) - len(missing), study.thresholds.map_indicators
        is_drawn = count >= least
        nearest = _distance_to_content_free(point, low, high, ground.content_free)
        notes = [] if is_drawn else [f"not drawn: {count} of {len(INDICATORS)} indicators, {least} are needed"]
        notes += [NOT_DISTINGUISHABLE] if not nearest["is_distinguishable"] else []
        about = study.languages[language]
        rows.append(
            _point(
                "model",
                f"{model} {language}",
                point,
                model=model,
                language=language,
                country=about.country,
                zone=about.zone,
                x_low=float(low[0]),
                x_high=float(high[0]),
                y_low=float(low[1]),
                y_high=float(high[1]),
                n_indicators=count,
                missing=", ".join(missing),
                drawn=is_drawn,
                source="planted" if study.families[model].kind == "reference" else "model",
                note="; ".join(notes) or None,
            )
            | nearest
        )
    return rows


def _distance_to_content_free(
    point: tuple[float, float],
    low: np.ndarray,
    high: np.ndarray,
    content_free: Mapping[str, tuple[float, float]],
) -> dict[str, object]:
    """Distance from the nearest content-free point, from the nearest and farthest corner of the region too."""
    sd = reference_projector().residual_sd
    region_low, region_high = low - sd, high + sd
    measured = []
    for place in content_free.values():
        free = np.array(place)
        gap = np.maximum(np.maximum(region_low - free, free - region_high), 0)
        reach = np.maximum(np.abs(region_low - free), np.abs(region_high - free))
        measured.append(tuple(float(np.hypot(*offset)) for offset in (np.array(point) - free, gap, reach)))
    nearest, gap, reach = min(measured)
    return {
        "distance_from_content_free": nearest,
        "distance_low": gap,
        "distance_high": reach,
        "is_distinguishable": all(gap > 0 for _, gap, _ in measured),
    }


def _human_points(human: pd.DataFrame, study: Study, ground: _Ground, absent: Sequence[str]) -> list[dict[str, object]]:
    """People of each country, without the indicators that no model has, with a bootstrap over respondents."""
    names = published_positions().set_index("country")["name"]
    zones = {language.country: language.zone for language in study.languages.values()}
    rows = []
    for (country, language), part in parts_of(human, ["country", "language"]):
        answers = _without(_by_question(part, "prob"), absent)
        point, missing = ground.place(answers)
        effective = {
            question_id: max(int(rows_of["n"].iloc[0] / rows_of["design_effect"].iloc[0]), 1)
            for (question_id,), rows_of in parts_of(part, ["question_id"])
        }
        crowd = seeded(study.seed, "map", country)
        drawn = np.array([ground.place(_redrawn(answers, effective, crowd))[0] for _ in range(DRAWS)])
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        rows.append(
            _point(
                "human",
                str(names.get(country, country)),
                point,
                language=language,
                country=country,
                zone=zones.get(country),
                x_low=float(low[0]),
                x_high=float(high[0]),
                y_low=float(low[1]),
                y_high=float(high[1]),
                n_indicators=len(INDICATORS) - len(missing),
                missing=", ".join(missing),
                source=_source(human),
            )
        )
    return rows


def _redrawn(answers: Answers, effective: Mapping[str, int], crowd: np.random.Generator) -> Answers:
    return {
        question_id: dict(
            zip(
                probs,
                crowd.multinomial(effective[question_id], list(probs.values())) / effective[question_id],
                strict=True,
            )
        )
        for question_id, probs in answers.items()
    }


def _published_points() -> list[dict[str, object]]:
    return [
        _point(
            "published",
            row["name"],
            (float(row["x"]), float(row["y"])),
            country=row["country"],
            zone=row["zone"],
            source="published",
        )
        for row in published_positions().to_dict("records")
    ]


def _pooled(human: pd.DataFrame) -> Answers:
    """The pooled human answer: every country counts the same."""
    if human.empty:
        return {}
    means = human.groupby(["question_id", "response_value"], sort=False)["prob"].mean()
    pooled: dict[str, dict[int, float]] = {}
    for (question_id, value), prob in means.items():  # type: ignore[misc]
        pooled.setdefault(str(question_id), {})[int(value)] = float(prob)
    return pooled


def _by_question(rows: pd.DataFrame, column: str) -> Answers:
    return {
        question_id: dict(zip(part["response_value"].astype(int), part[column].astype(float), strict=True))
        for (question_id,), part in parts_of(rows, ["question_id"])
    }


def _without(answers: Answers, absent: Sequence[str]) -> Answers:
    left_out = {part for indicator in absent for part in components(indicator)}
    return {question_id: probs for question_id, probs in answers.items() if question_id not in left_out}


def _missing_in_all(models: Sequence[Mapping[str, object]]) -> list[str]:
    drawn = [set(str(row["missing"]).split(", ")) for row in models if row["drawn"]]
    return sorted(set.intersection(*drawn) - {""}) if drawn else []


def _source(human: pd.DataFrame) -> str:
    return "published" if human.empty else ", ".join(sorted(set(human["source"])))


def _notes(
    points: pd.DataFrame, has_people: bool, human: pd.DataFrame, study: Study, absent: Sequence[str]
) -> list[str]:
    sd = reference_projector().residual_sd
    models = points[points["kind"] == "model"]
    undrawn = models.loc[~models["drawn"].astype(bool), "label"].tolist()
    partial = models[(models["n_indicators"] < len(INDICATORS)) & models["drawn"].astype(bool)]
    notes = [
        f"Projector: published slopes, intercepts fitted on five WVS-7 countries, residual sd {sd[0]:.2f} (x) and "
        f"{sd[1]:.2f} (y); rescaling {RESCALING}.",
        "Published positions are another set, brought onto these axes by a line per axis fitted over the five "
        "countries in both (Procrustes fit without turning).",
        "Bars: spread of a model's point over the two option orders; of people, 95% bootstrap over respondents.",
        f"A hollow point is {NOT_DISTINGUISHABLE}: its region, orders widened by the residual sd, holds the point of "
        "uniform answers or of always the first option.",
        "Whether these two dimensions mean the same in every country is disputed.",
    ]
    if len(partial):
        counts = " to ".join(map(str, dict.fromkeys((partial["n_indicators"].min(), partial["n_indicators"].max()))))
        notes.append(
            f"{len(partial)} models rest on {counts} of {len(INDICATORS)} indicators; a "
            "missing one is set to the pooled human mean."
        )
    if absent:
        notes.append(f"No model has {', '.join(absent)}; the people's points leave them out as well.")
    if undrawn:
        notes.append(f"Not drawn, under {study.thresholds.map_indicators} indicators: {', '.join(undrawn)}.")
    if not has_people:
        notes.append(f"{why_no_people(study)} The mean of five WVS-7 countries stands in for the pooled answer.")
    elif "planted" in _source(human):
        notes.append("What is planted shows that the software works, not that models hold values.")
    return notes
