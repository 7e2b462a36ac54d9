"""The parts of a report: sections with texts, gates, claims, tables and pictures."""

import base64
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from valuesassets.figures.saving import svg_text
from valuesassets.records.frames import records

Frames = Mapping[str, pd.DataFrame]
"""The tables of an analysis by name."""
Rows = pd.DataFrame | Sequence[Any]
"""A table, or records: mappings or dataclasses."""

ABSENT = "not available"
REMARKS = {"reason", "note", "missing", "both_ends_share"}
"""Columns whose missing values are printed as empty cells, since there is nothing to remark."""
WHOLE = {"response_value", "sheet"}
"""Columns of whole numbers, besides those that begin with `n_`."""


@dataclass(frozen=True)
class Refused:
    """The reason, in words, why an analysis was not made."""

    reason: str


@dataclass(frozen=True)
class Gate:
    """One check of the study: a sentence that is true if the check passed, and the finding."""

    sentence: str
    is_passed: bool
    found: str = ""
    is_missing: bool = False
    """Whether it was not checked, so that it neither passed nor failed."""
    of_instrument: bool = False
    """Whether it checks the instrument, which has to recover planted answers, rather than the models."""
    by_plan: str = ""
    """The reason why it is expected to fail in this study; empty if it is expected to pass."""

    @property
    def outcome(self) -> str:
        """`missing`, `passed` or `failed`."""
        return "missing" if self.is_missing else "passed" if self.is_passed else "failed"


def planned(gates: Iterable[Gate], reasons: Mapping[str, str]) -> list[Gate]:
    """The gates, with the reason added to those that fail by plan.

    Args:
        reasons: the reasons by the beginning of a gate's sentence.
    """
    marked = []
    for gate in gates:
        reason = next((reasons[sentence] for sentence in reasons if gate.sentence.startswith(sentence)), "")
        marked.append(replace(gate, by_plan=reason) if gate.outcome == "failed" else gate)
    return marked


@dataclass(frozen=True)
class Claim:
    """A sentence that a run supports or does not support, and the reason."""

    sentence: str
    is_supported: bool
    because: str
    question: str = ""
    """The question that it answers; the page groups claims by it, supported and unsupported side by side."""


@dataclass(frozen=True)
class Box:
    """A first question of readers with a short answer and a link to the section that says more.

    Attributes:
        outcome: `yes` for good news, `partly`, `no` for bad news, or `unknown` if it was not checked.
        answer: the answer in a few words.
        because: the reason in a sentence.
        anchor: the anchor of the section that says more.
    """

    question: str
    outcome: str
    answer: str
    because: str
    anchor: str


@dataclass(frozen=True)
class Cell:
    """One entry of a table as it is printed."""

    text: str
    is_number: bool = False

    @property
    def kind(self) -> str:
        """How it is set: `number` to the right, `short` texts on one line, `long` texts on several."""
        return "number" if self.is_number else "short" if len(self.text) <= 24 else "long"


@dataclass(frozen=True)
class Table:
    """A table with a caption."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    is_folded: bool = False
    """Whether it is folded even if it is short."""

    @cached_property
    def headings(self) -> tuple[tuple[str, str], ...]:
        """The name of each column and how it is set: `number` to the right, `words` to the left."""
        headings = []
        for place, name in enumerate(self.columns):
            kinds = {row[place].kind for row in self.rows if row[place].text != ABSENT}
            headings.append((name, "number" if kinds == {"number"} else "words"))
        return tuple(headings)


@dataclass(frozen=True)
class Picture:
    """A figure as a data URI, with a description for readers who cannot see it."""

    uri: str
    alt: str
    caption: str
    anchor: str = ""
    """The anchor of the section that it links to; empty without a link."""


@dataclass
class Section:
    """A part of the report under its own heading, to which parts are added one by one.

    `markup` is HTML that the instrument wrote; if `is_beside`, it stands beside the text as a figure does. In the
    section that opens a page, `lead` is a sentence for each model by its name, and `boxes` are first questions.
    """

    anchor: str
    title: str
    paragraphs: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    gates: Sequence[Gate] = ()
    pictures: list[Picture] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    claims: Sequence[Claim] = ()
    markup: str = ""
    is_beside: bool = False
    lead: Mapping[str, str] = field(default_factory=dict)
    boxes: Sequence[Box] = ()

    def need(self, part: pd.DataFrame | Refused) -> pd.DataFrame | None:
        """The table that the section needs; if it is refused, None, and the section gives the reason once."""
        if not isinstance(part, Refused):
            return part
        if part.reason not in self.refusals:
            self.refusals.append(part.reason)
        return None

    def draw(self, figure: Figure, alt: str, caption: str, anchor: str = "") -> None:
        """Add a figure as a separate SVG inside the page, so that nothing is fetched and no ids collide."""
        encoded = base64.b64encode(svg_text(figure).encode()).decode("ascii")
        self.pictures.append(Picture(f"data:image/svg+xml;base64,{encoded}", alt, caption, anchor))

    def tabulate(self, caption: str, rows: Rows, columns: Sequence[str] | None = None, is_folded: bool = False) -> None:
        """Add a table if it has rows."""
        if len(rows):
            self.tables.append(replace(table(caption, rows, columns), is_folded=is_folded))


def table(caption: str, rows: Rows, columns: Sequence[str] | None = None) -> Table:
    """A table of a frame or of records, with all columns or with those of `columns` that exist.

    Columns without entries are left out; the columns model and language become one column, the cell.
    """
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows, dtype=object)
    entries = records(frame)
    names = [str(name) for name in frame.columns]
    column_names = names if columns is None else [name for name in columns if name in names]
    if {"model", "language"} <= set(column_names):
        column_names = ["cell", *(name for name in column_names if name not in ("model", "language"))]
        cells = ([row[name] for name in ("model", "language") if not is_absent(row[name])] for row in entries)
        entries = [{**row, "cell": " ".join(map(str, cell))} for row, cell in zip(entries, cells, strict=True)]
    column_names = [name for name in column_names if any(not is_absent(row.get(name)) for row in entries)]
    cells = tuple(
        tuple(_cell(_whole(name, row.get(name)), "" if name in REMARKS else ABSENT) for name in column_names)
        for row in entries
    )
    return Table(caption, tuple(_heading(name) for name in column_names), cells)


def _whole(name: str, value: Any) -> Any:
    """A count as a whole number; pandas holds counts as floats in a column with missing values.

    >>> _whole("n_low_p_valid", 0.0), _whole("p_valid", 0.0)
    (0, 0.0)
    """
    is_count = name.startswith("n_") or name in WHOLE
    return int(value) if is_count and isinstance(value, float) and value.is_integer() else value


def _heading(name: str) -> str:
    """A column's name in words, with W1 and P_valid in their usual spelling.

    >>> _heading("p_valid_error_mean"), _heading("n_items"), _heading("w1_unit")
    ('P_valid error mean', 'n items', 'W1 unit')
    """
    words = re.sub("p valid", "P_valid", name.replace("_", " "), flags=re.IGNORECASE)
    return re.sub(r"\bw1\b", "W1", words)


def is_absent(value: Any) -> bool:
    """Whether a value is missing: None, NA, not a number, or an empty text."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)) or value == ""


def _cell(value: Any, absent: str) -> Cell:
    """A value as it is printed: yes or no, a number, or a text; a missing value as `absent`."""
    if is_absent(value):
        return Cell(absent)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if isinstance(value, int):
        return Cell(str(value), is_number=True)
    if isinstance(value, float):
        return Cell(number(value), is_number=True)
    if isinstance(value, list | tuple | set):
        return Cell(", ".join(str(part) for part in value))
    return Cell(str(value))


def number(value: float) -> str:
    """A number with three decimals; a small one with an exponent, and a rounding error as 0.

    >>> number(0.25), number(1000.0), number(0.0000004), number(-1e-16)
    ('0.250', '1000', '4e-07', '0.000')
    """
    if 1e-12 < abs(value) < 0.0005:
        return f"{value:.0e}"
    is_large = value.is_integer() and abs(value) >= 10
    return f"{value:.0f}" if is_large else f"{value + 0.0:.3f}".replace("-0.000", "0.000")
