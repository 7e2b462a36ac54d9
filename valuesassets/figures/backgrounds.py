"""Shared parts of figures of models asked with and without a person's background: looks, names, lines."""

import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from valuesassets.figures import style
from valuesassets.figures.marks import family_marks, mark
from valuesassets.records.frames import rows

LINES = {"with": "-", "without": "--"}
"""Line styles by whether the prompt contains the person's background."""
LONGEST = 26
"""Maximum number of letters of a name in a figure; the tables have full names."""


@dataclass(frozen=True)
class Shown:
    """The models of a figure.

    Attributes:
        looks: looks by name; at most as many as can be distinguished.
        notes: sentences on models that are left out.
    """

    looks: Mapping[str, style.Look]
    notes: tuple[str, ...] = ()
    line_styles: Mapping[str, str] = field(default_factory=lambda: LINES)


def shown_models(frame: pd.DataFrame, besides: Collection[str] = ()) -> Shown:
    """The models of a frame, without answers of people and null answers; only the first eight of many.

    Args:
        frame: rows with null `attributes`, if it has this column, are not a model's.
        besides: names in the column `model` of null answers or oracles.
    """
    frame = rows(frame, frame["attributes"].notna()) if "attributes" in frame else frame
    names = [str(name) for name in dict.fromkeys(frame["model"].dropna()) if name not in besides]
    drawn = names[: style.MOST_SERIES]
    left_out = len(names) - len(drawn)
    return Shown(style.looks(drawn), (f"{left_out} more models are in the table.",) if left_out else ())


def looks_beside(ours: Shown, frame: pd.DataFrame | None, besides: Collection[str] = ()) -> Shown:
    """The models of another frame, with looks that differ from ours where there are enough looks."""
    if frame is None or not len(frame):
        return Shown({})
    theirs = shown_models(frame, besides)
    looks = style.looks(map(str, range(style.MOST_SERIES))).values()
    free = [look for look in looks if look not in ours.looks.values()]
    new = [name for name in theirs.looks if name not in ours.looks]
    if len(new) > len(free):
        return theirs
    same = {name: ours.looks[name] for name in theirs.looks if name in ours.looks}
    return Shown(same | dict(zip(new, free, strict=False)), theirs.notes)


def model_marks(models: Shown, after: str = "", **look: Any) -> list[Line2D]:
    """A legend's entries for models, with shortened names."""
    return family_marks({f"{short(name)}{after}": each for name, each in models.looks.items()}, **look)


def is_missing(value: Any) -> bool:
    """Whether a value is None or NaN."""
    return value is None or bool(pd.isna(value))


def has_numbers(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column exists and has any number."""
    return name in frame and bool(np.asarray(frame[name].notna()).any())


def legend_in(handles: Sequence[Any], n_columns: int) -> float:
    """Height in inches of a legend at the foot beyond its first line."""
    widest = max([0, *(len(str(each.get_label())) for each in handles)])
    across = max(1, min(n_columns, int(style.PAGE_WIDTH_IN / (0.62 + 0.56 * (style.BODY_PT - 1) / 72 * widest))))
    return 0.185 * (-(-len(handles) // across) - 1) if handles else 0.0


def ask_marks(frames: Sequence[pd.DataFrame]) -> list[Line2D]:
    """A legend's entries for lines with and without attributes; empty where the frames have only one of them."""
    present = {attributes for frame in frames if "attributes" in frame for attributes in frame["attributes"].dropna()}
    if len(present & set(LINES)) < len(LINES):
        return []
    return [mark(f"{attributes} attributes", None, style.BLACK, ls=ls, lw=1.4) for attributes, ls in LINES.items()]


def short(name: str, most: int = LONGEST) -> str:
    """A name that fits beside a row, shortened in the middle if it is long.

    >>> short("meta-llama/Meta-Llama-3.1-8B-Instruct", 20)
    'meta-llama…-Instruct'
    """
    if len(name) <= most:
        return name
    n_first = most // 2
    return f"{name[:n_first]}…{name[len(name) - (most - n_first - 1) :]}"


def folded(name: str, most: int) -> str:
    """A name in lines of at most `most` letters."""
    return "\n".join(textwrap.wrap(name.replace("/", "/ "), most)).replace("/ ", "/")
