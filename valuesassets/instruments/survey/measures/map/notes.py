"""The sentences under the map: how its points are made, what is not drawn and why, and the tests."""

from collections.abc import Sequence

import pandas as pd

from valuesassets.instruments.survey.material.indicators import INDICATORS
from valuesassets.instruments.survey.measures.map.agreement import describe_agreement, short_verdicts
from valuesassets.instruments.survey.measures.map.points import NOT_DISTINGUISHABLE, Ground
from valuesassets.records.frames import column, rows, rows_where
from valuesassets.records.study import Study, why_no_people

MOST_PAIRS = 8
"""Languages whose countries a line under the map has room for."""
WIDER = (
    "Where a model stands behind an API that shows its likeliest tokens alone, its box is as much wider as the bounds "
    "of its answers let its points lie apart."
)
DRAWN = (
    "Of models whose answers are drawn, points would move if their answers were drawn again: draws_sd_x and draws_sd_y "
    "say how far, and each end of a box goes out by 1.96 of the deviations of its own order."
)


def write_notes(
    ground: Ground,
    points: pd.DataFrame,
    tests: pd.DataFrame,
    moved: str,
    absent: Sequence[str],
    resampled: str | None,
    study: Study,
) -> tuple[str, ...]:
    """The sentences under the map, in the order in which a reader needs them.

    Args:
        moved: the sentence on the published positions.
        absent: indicators that no model has.
        resampled: the units of the bootstrap of people's bars; None without people.
    """
    source = ", ".join(sorted(set(column(rows_where(points, kind="pooled_human"), "source").astype(str))))
    views = _range(column(rows_where(points, kind="model"), "n_views"))
    margin = "the residual sd" if ground.axes.kind == "reference" else "half of a country's usual interval"
    people = f"Bars of people: {study.inference.level:.0%} bootstrap over {resampled} within a country."
    return (
        *ground.axes.notes,
        moved,
        f"A model's box spans its points in every order and wording ({views} points): the range of what asking "
        "otherwise gave, not a confidence interval.",
        *([WIDER] if study.asks_elsewhere else []),
        *([DRAWN] if "draws_sd_x" in points else []),
        *([people] if resampled else []),
        f"A hollow point is {NOT_DISTINGUISHABLE}: its box, widened by {margin} ({ground.margin[0]:.2f}, "
        f"{ground.margin[1]:.2f}), holds the point of uniform answers or of always the first option.",
        *_about_coverage(points, absent, study),
        *describe_agreement(tests, study),
        *_about_people(source, resampled is not None, study),
        "Whether these two dimensions mean the same in every country is disputed; docs/map.md says what a place on the "
        "map is and what cannot be concluded from it.",
    )


def write_caption(
    ground: Ground, points: pd.DataFrame, tests: pd.DataFrame, has_people: bool, study: Study
) -> list[str]:
    """A few lines for under the figure; the notes are longer."""
    axes, models = ground.axes, rows_where(points, kind="model")
    x, y = (f"{part:.2f}" for part in ground.margin)
    if axes.kind == "reference":
        lines = [f"Axes: published slopes; residual sd {x} (x) and {y} (y), for every point."]
    else:
        alike = ", ".join(f"{value:.2f} ({axis})" for axis, value in axes.congruence.items())
        lines = [f"Axes: fitted to the respondents; congruence with the published ones {alike}."]
    bars = f" Bars of people: {study.inference.level:.0%} bootstrap." if has_people else ""
    views = _range(column(models, "n_views"))
    wider = ", wider by what an API does not show" if study.asks_elsewhere else ""
    wider += ", and by 1.96 sd of drawing" if "draws_sd_x" in points else ""
    lines.append(f"Boxes of models: their points in every order and wording ({views}){wider}.{bars}")
    if len(rows_where(models, is_distinguishable=False)):
        lines.append(f"Hollow: the box, widened by {x} and {y}, holds a content-free point.")
    if n_undrawn := len(rows_where(models, drawn=False)):
        lines.append(f"{n_undrawn} of {len(models)} models are not drawn: too few indicators, or not reliable enough.")
    people = _pairs(models, study) if has_people else _about_people("", False, study)
    return [*lines, *short_verdicts(tests), *people]


def _pairs(models: pd.DataFrame, study: Study) -> list[str]:
    """A line that says which country each language is compared with; none where there are too many for a line."""
    countries = {code: study.languages[code].country for code in models["language"].unique() if code in study.languages}
    if not 0 < len(countries) <= MOST_PAIRS:
        return []
    return [f"Compare models with people: {', '.join(f'{code} with {name}' for code, name in countries.items())}."]


def _about_coverage(points: pd.DataFrame, absent: Sequence[str], study: Study) -> list[str]:
    models, least = rows_where(points, kind="model"), study.thresholds.map_indicators
    drawn, enough = rows_where(models, drawn=True), rows(models, models["n_indicators"] >= least)
    notes = []
    if len(partial := rows(drawn, drawn["n_indicators"] < len(INDICATORS))):
        counts = f"{_range(column(partial, 'n_indicators'))} of {len(INDICATORS)}"
        notes.append(
            f"{len(partial)} models rest on {counts} indicators; a missing one is set to the pooled human mean."
        )
    if absent:
        notes.append(f"No model has {', '.join(absent)}; the people's points leave them out as well.")
    if len(too_few := rows(models, models["n_indicators"] < least)):
        notes.append(f"Not drawn, under {least} indicators: {', '.join(too_few['label'])}.")
    if len(gated := rows_where(enough, drawn=False)):
        notes.append(
            f"Not drawn, generalizability coefficient not at least {study.thresholds.reliability:.2f}: "
            f"{', '.join(dict.fromkeys(gated['model']))}; the table of reliability takes their place."
        )
    if len(unseen := rows_where(points, kind="human", drawn=False)):
        notes.append(
            f"People not drawn, under {least} indicators that {study.thresholds.respondents} respondents or more, over "
            f"the design effect, answered: {', '.join(unseen['label'])}."
        )
    return notes


def _about_people(source: str, has_people: bool, study: Study) -> list[str]:
    if not has_people:
        return [f"{why_no_people(study)} The mean of five WVS-7 countries stands in for the pooled answer."]
    planted = ["What is planted shows that the software works, not that models hold values."]
    return planted if "planted" in source else []


def _range(numbers: pd.Series) -> str:
    """
    >>> _range(pd.Series([6, 6])), _range(pd.Series([9, 6, 7]))
    ('6', '6 to 9')
    """
    return " to ".join(dict.fromkeys((f"{numbers.min():.0f}", f"{numbers.max():.0f}")))
