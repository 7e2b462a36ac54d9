"""Sections of analyses that are all shown alike: what they note, their figures, their tests, their tables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from valuesassets.figures.reliability import draw_reliability
from valuesassets.figures.signal import draw_signal
from valuesassets.instruments.survey.reporting.parts import (
    Frames,
    Picture,
    Refused,
    Section,
    Table,
    notes_of,
    once,
    part_of,
    picture,
    tables_of,
)


@dataclass(frozen=True)
class Drawing:
    """A figure of an analysis.

    Attributes:
        tables: names of those that it is drawn from, in the order in which `draw` takes them.
        draw: takes these tables, and `planted`.
        alt, caption: what it shows, for those who do not see it, and under it.
    """

    tables: tuple[str, ...]
    draw: Callable[..., Any]
    alt: str
    caption: str


@dataclass(frozen=True)
class Analysis:
    """How an analysis is shown.

    Attributes:
        captions: by name of a table; tables without one stand under their name.
    """

    anchor: str
    title: str
    drawings: tuple[Drawing, ...] = ()
    captions: Mapping[str, str] = field(default_factory=dict)


ANALYSES = {
    "reliability": Analysis(
        "reliability",
        "Reliability",
        (
            Drawing(
                ("families", "components"),
                draw_reliability,
                "Coefficients of every model family with their intervals and the threshold; under them the shares of "
                "variance by source. The tables hold the same numbers.",
                "Whether the differences between languages come out again in other orders and wordings.",
            ),
        ),
        {
            "families": "Coefficients of each family; below the threshold its map and rankings rest on too little.",
            "components": "Where the differences between answers come from: variance in squared scale units and share.",
            "tests": "Its tests, which stand with all the others at the top of the page.",
        },
    ),
    "signal": Analysis(
        "signal",
        "Signal against human answers",
        (
            Drawing(
                ("correlations", "verdicts"),
                draw_signal,
                "Four correlations of each family with the people of its countries, beside what permuted countries "
                "give. The table holds the same numbers.",
                "Whether languages answer like their own countries: only the double-centred correlation decides.",
            ),
        ),
        {
            "correlations": "Correlations with people, their intervals over items, and the middle 95 % under permuted "
            "countries.",
            "verdicts": "What the four correlations of a family amount to.",
            "tests": "Its tests, which stand with all the others at the top of the page.",
        },
    ),
    "position_bias": Analysis("position-bias", "Position bias"),
}
"""By the keyword under which the report takes them; a figure is added as a `Drawing`."""


def analysis_section(analysis: Analysis, frames: Frames | Refused, is_planted: bool) -> Section:
    """Notes, figures and tables of an analysis, or why there are none; its tests stand with all the others too."""
    if isinstance(frames, Refused):
        return Section(analysis.anchor, analysis.title, refusals=(frames.reason,))
    drawn = [_drawn(each, frames, analysis.title, is_planted) for each in analysis.drawings]
    tables: list[Table] = []
    for name, frame in frames.items():
        if name != "notes" and len(frame):
            tables += tables_of(frame, analysis.captions.get(name, f"{analysis.title}: {name.replace('_', ' ')}."))
    return Section(
        analysis.anchor,
        analysis.title,
        notes_of(frames),
        once([reason for _, reasons in drawn for reason in reasons]),
        pictures=tuple(each for pictures, _ in drawn for each in pictures),
        tables=tuple(tables),
    )


def _drawn(
    drawing: Drawing, frames: Frames, title: str, is_planted: bool
) -> tuple[tuple[Picture, ...], tuple[str, ...]]:
    parts = [part_of(frames, name, title) for name in drawing.tables]
    missing = [part.reason for part in parts if isinstance(part, Refused)]
    if missing:
        return (), tuple(missing)
    return (picture(drawing.draw(*parts, planted=is_planted), drawing.alt, drawing.caption),), ()
