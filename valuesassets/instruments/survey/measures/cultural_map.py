"""`survey/cultural_map`: models, countries and content-free answers on the Inglehart-Welzel axes.

Axes: Inglehart and Welzel (2005); indicators of EVS 2017 (ZA7500) and WVS-7 (Haerpfer et al. 2022). docs/map.md defines
points and regions, and says what cannot be concluded.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.comparing.reliability import coefficients
from valuesassets.instruments.survey.material.analysis_scale import base_id
from valuesassets.instruments.survey.material.indicators import INDICATORS, components
from valuesassets.instruments.survey.measures.map.agreement import families_against_countries, people_against_published
from valuesassets.instruments.survey.measures.map.notes import write_caption, write_notes
from valuesassets.instruments.survey.measures.map.people import People, people_of
from valuesassets.instruments.survey.measures.map.points import (
    Cells,
    Ground,
    cells_of,
    lay_ground,
    leave_one_out,
    missing_in_all,
    model_rows,
    people_rows,
    published_rows,
    reference_rows,
)
from valuesassets.instruments.survey.measures.map.projector import choose_axes
from valuesassets.instruments.survey.published.axes import RESCALING, published_positions, raw_positions
from valuesassets.instruments.survey.tables import POINTS
from valuesassets.measure.procrustes import LEAST_POINTS, fit_similarity
from valuesassets.records.errors import MissingData
from valuesassets.records.frames import records
from valuesassets.records.study import Study

QUESTIONS = {base_id(part) for indicator in INDICATORS for part in components(indicator)}  # of the map


def derive_cultural_map(
    answers: pd.DataFrame,
    human: pd.DataFrame,
    study: Study,
    respondents: pd.DataFrame,
    reliability: Mapping[str, pd.DataFrame],
) -> dict[str, pd.DataFrame]:
    """The map of a study from `place_on_map`; `reliability` are the tables of that analysis.

    Raises:
        MissingData: no question of the map has an answer; else as `place_on_map`.
    """
    if not any(base_id(str(each)) in QUESTIONS for each in answers["question_id"].unique()):
        raise MissingData(
            f"the map is made of {len(QUESTIONS)} questions of EVS 2017 and WVS-7, of which none has an answer that "
            "can be used: it shows no model"
        )
    return place_on_map(answers, human, study, respondents, coefficients(reliability))


def place_on_map(
    answers: pd.DataFrame,
    human: pd.DataFrame,
    study: Study,
    respondents: pd.DataFrame | None = None,
    reliability: Mapping[str, float] | None = None,
) -> dict[str, pd.DataFrame]:
    """The tables `cultural_map/...`: models, people, published positions and content-free points on one pair of axes.

    The `attrs` of the points hold `notes`, a shorter `caption`, and `unlike`, the axes that must not be read by their
    published names. A missing indicator is set to the pooled human mean. A model whose region holds a content-free
    point is not distinguishable from no content.

    Args:
        answers: from `usable_answers`; separate wordings (`by_wording`) widen the regions.
        human: rows of `HUMAN_DISTRIBUTIONS`; without any people, five WVS-7 countries give the pooled mean.
        respondents: rows of `survey/respondents`, which replace `human`.
        reliability: generalizability coefficient by family; a family below the study's threshold is not drawn.

    Raises:
        MissingData: the study asks for fitted axes, which its respondents do not allow.
        HumanDataError: people's answers do not sum to 1, or a weight or column is unusable.
        ScoringError: a model's answers do not sum to 1.
    """
    axes = choose_axes(study, respondents)
    people = people_of(human, respondents, study)
    ground = lay_ground(axes, people, study.inference.level)
    cells = cells_of(answers, axes.left_out)
    absent = missing_in_all(cells, study)
    names = raw_positions().set_index("country")["name"].to_dict()
    models = model_rows(cells, ground, study, reliability)
    countries = people_rows(people, ground, study, absent, names)
    positions, moved = _published(ground, people)
    source = ", ".join(sorted({each.source for each in people})) if people else "published"
    rows = [*published_rows(positions, ground), *countries, *reference_rows(ground, source), *models]
    points = POINTS.frame(rows)
    sensitivity = [leave_one_out("model", _labels(models), cells.means, ground, study)]
    if people:
        means = np.array([each.means for each in people])
        sensitivity.append(leave_one_out("human", _labels(countries), means, ground, study))
    tests = _tests(cells, ground, people, countries, positions, study, reliability)
    whole = respondents is not None and not respondents.empty
    resampled = "whole respondents" if whole else "answers, question by question," if people else None
    notes = write_notes(ground, points, tests, moved, absent, resampled, study)
    caption = write_caption(ground, points, tests, bool(people), study)
    points.attrs |= {"notes": list(notes), "caption": caption, "unlike": axes.unlike}
    return {
        "points": points,
        "projector": axes.table,
        "sensitivity": pd.concat(sensitivity, ignore_index=True),
        "tests": tests,
        "notes": pd.DataFrame({"note": list(notes)}),
    }


def _published(ground: Ground, people: Sequence[People]) -> tuple[pd.DataFrame, str]:
    """Published positions on the map's axes, and the sentence on how they were moved there."""
    if ground.axes.kind == "reference":
        return published_positions(), (
            "Published positions are another set, brought onto these axes by a line per axis fitted over the five "
            "countries in both (Procrustes fit without turning)."
        )
    raw = raw_positions()
    ours = {each.country: ground.place(each.means) for each in people}
    shared = pd.DataFrame(raw.loc[raw["country"].isin(list(ours))])
    if len(shared) < LEAST_POINTS:
        return raw.head(0), (
            f"Published positions are not drawn: {len(shared)} of their countries have respondents, {LEAST_POINTS} are "
            "needed to bring them onto these axes."
        )
    fit = fit_similarity(shared[["x", "y"]], [ours[country] for country in shared["country"]])
    raw[["x", "y"]] = fit.move(raw[["x", "y"]])
    mirror = " and mirror" if np.linalg.det(fit.rotation) < 0 else ""
    return raw, (
        f"Published positions (rescaling {RESCALING}) are another set, brought onto these axes by a Procrustes fit "
        f"(scale {fit.scale:.2f}, turn{mirror}, shift) over the {len(shared)} countries with respondents."
    )


def _tests(
    cells: Cells,
    ground: Ground,
    people: Sequence[People],
    countries: Sequence[Mapping[str, object]],
    positions: pd.DataFrame,
    study: Study,
    reliability: Mapping[str, float] | None,
) -> pd.DataFrame:
    """Tests of models against people and of people against published positions; without people, of models alone."""
    if not people:
        published = _places(positions)
        return families_against_countries(cells, ground, published, "against published positions", study, reliability)
    points = _places(
        pd.DataFrame([row for row in countries if row["drawn"]], columns=pd.Index(POINTS.schema_with(()).names))
    )
    means = {each.country: each.means for each in people if each.country in points}
    tables = [
        people_against_published(points, _places(raw_positions()), study),
        families_against_countries(cells, ground, means, "against the people of this study", study, reliability),
    ]
    return pd.concat(tables, ignore_index=True)


def _places(frame: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    return {row["country"]: np.array([row["x"], row["y"]]) for row in records(frame)}


def _labels(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    return pd.DataFrame([{name: row[name] for name in ("model", "language", "country")} for row in rows])
