"""What pages made of an instrument's tables share: what a page is of, a table or why there is none, figures."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures.backgrounds import has_numbers
from valuesassets.reporting.parts import Claim, Frames, Gate, Section

Figures = Mapping[str, Figure]
MOST_ROWS = 1_000
"""Of a table on a page that may be long."""
SAID_OF_CELLS = (
    *("model", "revision", "weights_id", "dtype", "layout", "road", "template_sha256"),
    *("scorer_version", "torch"),
)
"""What a page says of where a cell's readings or answers come from, of what their file says of itself."""


@dataclass(frozen=True)
class Page:
    """What a page is of.

    Attributes:
        name: short, as its files are called.
        title: the page's.
        is_planted: whether some or all answers were made up beforehand.
        origins: a record for each file, model or cell that answers came from.
        versions: of the programs, by name.
        by_plan: checks that fail by plan, by the beginning of their sentence, and why.
    """

    name: str
    title: str
    is_planted: bool = False
    origins: Sequence[Mapping[str, Any]] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    by_plan: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FigureText:
    """What a figure shows, in words.

    Attributes:
        tables: that it is drawn from; without rows in each of them nothing is drawn.
        alt, caption: what it shows, for those who do not see it, and under it.
        number: a column of the first table; without any number in it nothing is drawn either.
        asset: whose picture it is in the UI; None where the first table names it.
    """

    tables: tuple[str, ...]
    alt: str
    caption: str
    number: str | None = None
    asset: str | None = None


def drawable(texts: Mapping[str, FigureText], frames: Frames) -> list[str]:
    """The figures that the tables allow, by name, in their order."""
    there = {name for name, frame in frames.items() if len(frame)}
    possible = ((name, text) for name, text in texts.items() if there.issuperset(text.tables))
    return [name for name, text in possible if text.number is None or has_numbers(frames[text.tables[0]], text.number)]


def draw(section: Section, figures: Figures, texts: Mapping[str, FigureText], *names: str) -> None:
    """Show the figures that there are."""
    for name in names:
        if name in figures:
            section.draw(figures[name], texts[name].alt, texts[name].caption)


def needed(section: Section, frames: Frames, name: str) -> pd.DataFrame | None:
    """A table of the section, by `<table>` or `<asset>/<table>`; without it the section says why.

    Args:
        frames: `<asset>/refused` says why an analysis was not made.
    """
    table, refused = frames.get(name), frames.get(f"{name.partition('/')[0]}/refused")
    if table is not None and len(table):
        return table
    what = name.replace("/", ", ").replace("_", " ")
    if refused is not None and len(refused):
        section.refusals += list(map(str, refused["reason"].dropna()))
    else:
        section.refusals.append(f"{what}: no such table was handed to the report, or it has no rows")
    return None


def tabulate(
    section: Section,
    caption: str,
    found: pd.DataFrame | Sequence[Any],
    columns: Sequence[str] | None = None,
    most: int = MOST_ROWS,
) -> None:
    """Show a table, the first rows of a long one, which then says so."""
    frame = found if isinstance(found, pd.DataFrame) else pd.DataFrame(found, dtype=object)
    if len(frame) > most:
        caption += f" The first {most:,} of {len(frame):,} rows; the stored table has all of them."
    section.tabulate(caption, frame.head(most), columns)


def claims_of_page(gates: Sequence[Gate], claims: Sequence[Claim], others: Iterable[Section]) -> Section:
    """What can be claimed, with the gates, and what the other sections do not show and why."""
    section = Section("claims", "What can be claimed", gates=gates, claims=claims)
    section.refusals += [f"{each.title}: {reason}" for each in others for reason in each.refusals]
    return section


def origins_section(page: Page) -> Section:
    """Where answers come from, and what was computed with which version."""
    section = Section("origins", "Where answers are from")
    tabulate(section, "Files, models and cells.", page.origins)
    section.tabulate("Versions.", [{"program": name, "version": each} for name, each in page.versions.items()])
    return section


def origins(identities: Mapping[str, Mapping[str, str]]) -> list[dict[str, Any]]:
    """A record for each cell: its model and how it was read, of a folder the last two names."""
    found = []
    for cell, said in identities.items():
        told = {name: said.get(name, "").strip('"').replace("null", "") for name in SAID_OF_CELLS}
        if told["model"].startswith("/"):
            told["model"] = "/".join(PurePath(told["model"]).parts[-2:])
        if "gguf" in said:
            quantisation = said["quantisation"].strip('"')
            told["model"] = f"{json.loads(said['gguf'])['file']} ({quantisation})"
        found.append({"cell": cell} | told)
    return found
