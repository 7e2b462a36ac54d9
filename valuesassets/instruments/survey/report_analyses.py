"""Sections of analyses that are all shown alike: what they note, their figures, their tests, their tables."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from valuesassets.instruments.survey.report_parts import (
    Frames,
    Refused,
    Section,
    Table,
    notes_of,
    once,
    part_of,
    pictures_of,
    tables_of,
)


@dataclass(frozen=True)
class Drawing:
    """A figure of one table of an analysis.

    Attributes:
        draw: from the table and whether answers are planted.
        alt, caption: what it shows, for those who do not see it, and under it.
    """

    table: str
    draw: Callable[[pd.DataFrame, bool], Any]
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
    "reliability": Analysis("reliability", "Reliability"),
    "signal": Analysis("signal", "Signal against human answers"),
    "position_bias": Analysis("position-bias", "Position bias"),
}
"""By the keyword under which the report takes them; a figure is added as a `Drawing`."""


def analysis_section(analysis: Analysis, frames: Frames | Refused, is_planted: bool) -> Section:
    """Notes, figures and tables of an analysis, or why there are none; its tests stand with all the others too."""
    if isinstance(frames, Refused):
        return Section(analysis.anchor, analysis.title, refusals=(frames.reason,))
    drawn = [
        pictures_of(
            part_of(frames, each.table, analysis.title),
            lambda frame, draw=each.draw: draw(frame, is_planted),
            each.alt,
            each.caption,
        )
        for each in analysis.drawings
    ]
    tables: list[Table] = []
    for name, frame in frames.items():
        if name != "notes" and len(frame):
            tables += tables_of(frame, analysis.captions.get(name, f"{analysis.title}: {name.replace('_', ' ')}."))
    return Section(
        analysis.anchor,
        analysis.title,
        notes_of(frames),
        once([reason for _, reasons in drawn for reason in reasons]),
        pictures=tuple(picture for pictures, _ in drawn for picture in pictures),
        tables=tuple(tables),
    )
