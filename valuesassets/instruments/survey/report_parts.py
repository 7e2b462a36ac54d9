"""What a report is made of: sections of text, tables and pictures, each able to say why it has nothing to show."""

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures.style import svg_text

Frames = Mapping[str, pd.DataFrame]
"""The tables of an analysis by name."""

ABSENT = "not available"
REMARKS = {"reason", "note", "missing"}
"""Columns in which nothing means that there is nothing to remark."""


@dataclass(frozen=True)
class Refused:
    """An analysis that was not made, and why, in words."""

    reason: str


@dataclass(frozen=True)
class Gate:
    """One check of the study: a sentence that is true when it passed, and what was found."""

    sentence: str
    is_passed: bool
    found: str = ""


@dataclass(frozen=True)
class Cell:
    """One entry of a table as it is printed."""

    text: str
    is_number: bool = False

    @property
    def kind(self) -> str:
        """How it is set: numbers to the right, short texts on one line."""
        return "number" if self.is_number else "short" if len(self.text) <= 24 else "long"


@dataclass(frozen=True)
class Table:
    """A table with a caption."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A figure as a data URI, with what it shows in words for those who do not see it."""

    uri: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Section:
    """A part of the report under its own heading."""

    anchor: str
    title: str
    paragraphs: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()


def picture(figure: Figure, alt: str, caption: str) -> Picture:
    """A figure inside the page: an SVG of its own, so that nothing is fetched and no ids collide."""
    encoded = base64.b64encode(svg_text(figure).encode()).decode("ascii")
    return Picture(f"data:image/svg+xml;base64,{encoded}", alt, caption)


def table(caption: str, rows: pd.DataFrame | Iterable[Any], columns: Sequence[str] | None = None) -> Table:
    """A table of a frame or of records (mappings or dataclasses), all columns or the ones named that are there.

    A column whose entries are all empty is left out.
    """
    if isinstance(rows, pd.DataFrame):
        records = [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]
        names = [str(name) for name in rows.columns]
    else:
        records = [_record(row) for row in rows]
        names = list(dict.fromkeys(name for row in records for name in row))
    kept = names if columns is None else [name for name in columns if name in names]
    kept = [name for name in kept if any(not _is_absent(row.get(name)) for row in records)]
    cells = tuple(tuple(_cell(row.get(name), "" if name in REMARKS else ABSENT) for name in kept) for row in records)
    return Table(caption, tuple(name.replace("_", " ") for name in kept), cells)


def frame_of(part: Any, name: str) -> pd.DataFrame | Refused:
    """A frame that has rows, or the reason why there is none.

    >>> frame_of(Refused("no human data"), "map").reason
    'no human data'
    """
    if isinstance(part, Refused):
        return part
    if isinstance(part, pd.DataFrame) and len(part):
        return part
    reason = part.attrs.get("reason") if isinstance(part, pd.DataFrame) else None
    return Refused(str(reason) if reason else f"{name}: there are no rows, and no reason was given")


def _record(row: Any) -> Mapping[str, Any]:
    if is_dataclass(row) and not isinstance(row, type):
        return asdict(row)
    if isinstance(row, Mapping):
        return {str(name): value for name, value in row.items()}
    return {"found": str(row)}


def _is_absent(value: Any) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)) or value == ""


def _cell(value: Any, absent: str) -> Cell:
    """A value in print: three decimals, yes and no, and words where there is no number."""
    if _is_absent(value):
        return Cell(absent)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if isinstance(value, int):
        return Cell(str(value), is_number=True)
    if isinstance(value, float):
        return Cell(f"{value:.0f}" if value.is_integer() and abs(value) >= 10 else f"{value:.3f}", is_number=True)
    if isinstance(value, list | tuple | set):
        return Cell(", ".join(str(part) for part in value))
    return Cell(str(value))
