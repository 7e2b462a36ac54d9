"""`survey/cultural_map`: models and countries on the Inglehart-Welzel axes, beside the points of no content.

Axes: Inglehart and Welzel (2005); indicators of EVS 2017 (ZA7500) and WVS-7 (Haerpfer et al. 2022). How a point comes
about, what a region is and what cannot be concluded: docs/map.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from valuesassets.instruments.survey.human_distributions import why_no_people
from valuesassets.instruments.survey.indicators import INDICATORS
from valuesassets.instruments.survey.map_agreement import (
    describe_agreement,
    short_verdicts,
    families_against_countries,
    people_against_published,
)
from valuesassets.instruments.survey.map_axes import published_positions, raw_positions
from valuesassets.instruments.survey.map_people import People, people_of
from valuesassets.instruments.survey.map_points import (
    COLUMNS,
    NOT_DISTINGUISHABLE,
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
from valuesassets.instruments.survey.map_projector import choose_axes
from valuesassets.measure.procrustes import LEAST_POINTS, fit_similarity
from valuesassets.records.study import Study


@dataclass(frozen=True)
class CulturalMap:
    """The map as tables.

    Attributes:
        points: one row per point, in `map_points.COLUMNS`. Its `attrs` hold `notes`, a shorter `caption` for under the
            figure, and `unlike`, the axes that must not be read by their published names.
        projector: slopes, intercepts and loadings.
        sensitivity: how far each point moves when one of its indicators is left out.
        agreement: tests of people against published positions and of families against their countries.
        notes: the sentences that belong under the map.
    """

    points: pd.DataFrame
    projector: pd.DataFrame
    sensitivity: pd.DataFrame
    agreement: pd.DataFrame
    notes: tuple[str, ...]

    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables by name, the points first."""
        notes = pd.DataFrame({"note": list(self.notes)})
        tables = {"points": self.points, "projector": self.projector, "sensitivity": self.sensitivity}
        return tables | {"agreement": self.agreement, "notes": notes}


def place_on_map(
    answers: pd.DataFrame,
    human: pd.DataFrame,
    study: Study,
    respondents: pd.DataFrame | None = None,
    reliability: Mapping[str, float] | None = None,
) -> CulturalMap:
    """Models, people, published positions and content-free points on one pair of axes, with what they rest on.

    A missing indicator is set to the pooled human mean. Where a model's region holds a content-free point the model is
    not distinguishable from no content.

    Args:
        answers: as `usable_answers` gives them; with wordings apart (`by_wording`) these count in the regions.
        human: rows of `HUMAN_DISTRIBUTIONS`; where they are empty and there are no respondents either, the mean of five
            WVS-7 countries stands in for the pooled answer.
        respondents: rows of `survey/respondents`; where given, countries rest on them and not on `human`.
        reliability: generalizability coefficient by family; a family below the study's threshold is not drawn.

    Raises:
        MissingData: the study asks for fitted axes and its respondents do not carry them.
        HumanDataError: people's answers do not sum to 1, or a weight or column is unusable.
        ScoringError: a model's answers do not sum to 1.
    """
    axes = choose_axes(study, respondents)
    people = people_of(human, respondents, study)
    ground = lay_ground(axes, people)
    cells = cells_of(answers, axes.left_out)
    absent = missing_in_all(cells, study)
    means = {each.country: each.means for each in people}
    names = raw_positions().set_index("country")["name"].to_dict()
    models = model_rows(cells, ground, study, reliability)
    source = ", ".join(sorted({each.source for each in people})) if people else "published"
    human_rows = people_rows(people, ground, study, absent, names)
    positions, moved = _published(ground, people)
    rows = [*published_rows(positions, ground), *human_rows, *reference_rows(ground, source), *models]
    points = pd.DataFrame(rows, columns=pd.Index(COLUMNS))
    sensitivity = [leave_one_out("model", _labels(models), cells.means, ground)]
    if people:
        sensitivity.append(leave_one_out("human", _labels(human_rows), np.array([*means.values()]), ground))
    agreement = _agreement(cells, ground, means, human_rows, positions, study)
    notes = (
        *axes.notes,
        *moved,
        *_about_regions(points, ground, study, bool(people), respondents),
        *_about_coverage(points, absent, study),
        *describe_agreement(agreement, study),
        *_about_people(source, bool(people), study),
        "Whether these two dimensions mean the same in every country is disputed; see docs/map.md for what a place on the "
        "map is and what cannot be concluded from it.",
    )
    caption = _caption(ground, points, agreement, bool(people), study)
    points.attrs |= {"notes": list(notes), "caption": caption, "unlike": axes.unlike}
    return CulturalMap(points, axes.table, pd.concat(sensitivity, ignore_index=True), agreement, notes)


def _published(ground: Ground, people: Sequence[People]) -> tuple[pd.DataFrame, list[str]]:
    """Published positions on the map's axes, and how they came there."""
    if ground.axes.kind == "reference":
        return published_positions(), [
            "Published positions are another set, brought onto these axes by a line per axis fitted over the five "
            "countries in both (Procrustes fit without turning)."
        ]
    raw = raw_positions()
    ours = {each.country: ground.place(each.means) for each in people}
    shared = raw[raw["country"].isin(list(ours))]
    if len(shared) < LEAST_POINTS:
        return raw.head(0), [
            f"Published positions are not drawn: {len(shared)} of their countries have respondents, {LEAST_POINTS} are "
            "needed to bring them onto these axes."
        ]
    fit = fit_similarity(shared[["x", "y"]], [ours[country] for country in shared["country"]])
    raw[["x", "y"]] = fit.move(raw[["x", "y"]])
    return raw, [
        f"Published positions (rescaling +.38, -.01) are another set, brought onto these axes by a Procrustes fit (scale "
        f"{fit.scale:.2f}, turn, shift) over the {len(shared)} countries with respondents."
    ]


def _agreement(
    cells, ground: Ground, means: Mapping[str, np.ndarray], human_rows: Sequence[Mapping], positions, study: Study
) -> pd.DataFrame:
    published = {row["country"]: np.array([row["x"], row["y"]]) for row in raw_positions().to_dict("records")}
    if not means:
        placed = {row["country"]: np.array([row["x"], row["y"]]) for row in positions.to_dict("records")}
        return families_against_countries(cells, ground, placed, "against published positions", study)
    points = {row["country"]: np.array([row["x"], row["y"]]) for row in human_rows if row["drawn"]}
    drawn = {country: means[country] for country in points}
    tables = [
        people_against_published(points, published, study),
        families_against_countries(cells, ground, drawn, "against the people of this study", study),
    ]
    return pd.concat(tables, ignore_index=True)


def _labels(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    return pd.DataFrame([{name: row[name] for name in ("model", "language", "country")} for row in rows])


def _about_regions(
    points: pd.DataFrame, ground: Ground, study: Study, has_people: bool, respondents: pd.DataFrame | None
) -> list[str]:
    models = points[points["kind"] == "model"]
    views = sorted(set(models["n_views"].astype(int)))
    notes = [
        f"A model's box spans its points in every order and wording ({_range(views)} points): the range of what asking "
        "otherwise gave, not a confidence interval."
    ]
    if has_people:
        what = "whole respondents" if respondents is not None and len(respondents) else "answers, question by question,"
        notes.append(f"Bars of people: {study.inference.level:.0%} bootstrap over {what} within a country.")
    margin = "the residual sd" if ground.axes.kind == "reference" else "half of a country's usual interval"
    notes.append(
        f"A hollow point is {NOT_DISTINGUISHABLE}: its box, widened by {margin} ({ground.margin[0]:.2f}, "
        f"{ground.margin[1]:.2f}), holds the point of uniform answers or of always the first option."
    )
    return notes


def _about_coverage(points: pd.DataFrame, absent: Sequence[str], study: Study) -> list[str]:
    models = points[points["kind"] == "model"]
    is_drawn = models["drawn"].astype(bool)
    notes = []
    partial = models[(models["n_indicators"] < len(INDICATORS)) & is_drawn]
    if len(partial):
        counts = sorted(set(partial["n_indicators"].astype(int)))
        notes.append(
            f"{len(partial)} models rest on {_range(counts)} of {len(INDICATORS)} indicators; a missing one is set to the "
            "pooled human mean."
        )
    if absent:
        notes.append(f"No model has {', '.join(absent)}; the people's points leave them out as well.")
    too_few = models[models["n_indicators"] < study.thresholds.map_indicators]
    if len(too_few):
        notes.append(
            f"Not drawn, under {study.thresholds.map_indicators} indicators: {', '.join(too_few['label'].astype(str))}."
        )
    gated = models[~is_drawn & (models["n_indicators"] >= study.thresholds.map_indicators)]
    if len(gated):
        notes.append(
            f"Not drawn, generalizability coefficient below {study.thresholds.reliability:.2f}: "
            f"{', '.join(dict.fromkeys(gated['model'].astype(str)))}; the table of reliability takes their place."
        )
    unseen = points[(points["kind"] == "human") & ~points["drawn"].astype(bool)]
    if len(unseen):
        notes.append(f"People not drawn, too few indicators asked: {', '.join(unseen['label'].astype(str))}.")
    return notes


def _about_people(source: str, has_people: bool, study: Study) -> list[str]:
    if not has_people:
        return [f"{why_no_people(study)} The mean of five WVS-7 countries stands in for the pooled answer."]
    if "planted" in source:
        return ["What is planted shows that the software works, not that models hold values."]
    return []


def _caption(
    ground: Ground, points: pd.DataFrame, agreement: pd.DataFrame, has_people: bool, study: Study
) -> list[str]:
    """A few lines for under the figure; the notes say more."""
    axes, models = ground.axes, points[points["kind"] == "model"]
    if axes.kind == "reference":
        lines = [
            f"Axes: published slopes; residual sd {ground.margin[0]:.2f} (x) and {ground.margin[1]:.2f} (y), for every point."
        ]
    else:
        alike = ", ".join(f"{value:.2f} ({axis})" for axis, value in axes.congruence.items())
        lines = [f"Axes: fitted to the respondents; congruence with the published ones {alike}."]
    bars = f" Bars of people: {study.inference.level:.0%} bootstrap." if has_people else ""
    views = _range(sorted(set(models["n_views"].astype(int))))
    lines.append(f"Boxes of models: their points in every order and wording ({views}).{bars}")
    if (~models["is_distinguishable"].astype(bool)).any():
        lines.append(
            f"Hollow: the box, widened by {ground.margin[0]:.2f} and {ground.margin[1]:.2f}, holds a content-free point."
        )
    n_undrawn = int((~models["drawn"].astype(bool)).sum())
    if n_undrawn:
        lines.append(f"{n_undrawn} of {len(models)} models are not drawn: too few indicators, or not reliable enough.")
    return [*lines, *short_verdicts(agreement), *_about_people("", has_people, study)]


def _range(numbers: Sequence[int]) -> str:
    """
    >>> _range([6]), _range([6, 7, 9])
    ('6', '6 to 9')
    """
    return " to ".join(map(str, dict.fromkeys((numbers[0], numbers[-1]))))
