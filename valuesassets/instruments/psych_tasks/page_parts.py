"""What sections of the psych tasks page share: tables or the reason why there is none, figures, intervals in words."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from valuesassets.instruments.psych_tasks.interval_words import spelled
from valuesassets.instruments.psych_tasks.pictures import PICTURES, named_scales
from valuesassets.records.frames import records
from valuesassets.reporting.parts import Section, is_absent

Frames = Mapping[str, pd.DataFrame]
MOST_ROWS = 1_000
"""Of a table on the page."""


def needed(section: Section, frames: Frames, name: str) -> pd.DataFrame | None:
    """A table of the section; without it the section says why."""
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


def by_task(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows task by task, else in their order."""
    order = {name: place for place, name in enumerate(dict.fromkeys(frame["task"]))}
    return frame.sort_values("task", key=lambda tasks: tasks.map(order), kind="stable")


def of_scales(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with the name of their scale, as it is told from the others, in the column `scale`."""
    return named_scales(frame).drop(columns="scale").rename(columns={"name": "scale"})


def draw(section: Section, figures: Mapping[str, Figure], *names: str) -> None:
    """Show the figures that there are."""
    for name in names:
        if name in figures:
            section.draw(figures[name], PICTURES[name].alt, PICTURES[name].caption)


def spell_ends(frame: pd.DataFrame, names: Sequence[str], digits: int = 2, is_signed: bool = False) -> pd.DataFrame:
    """The rows with each of these numbers and its ends in one column of words, empty where there is no number."""
    found = {
        name: [
            None
            if is_absent(row[name])
            else spelled(row[name], row.get(f"{name}_low"), row.get(f"{name}_high"), digits, is_signed)
            for row in records(frame)
        ]
        for name in names
        if name in frame
    }
    ends = [f"{name}{end}" for name in found for end in ("_low", "_high") if f"{name}{end}" in frame]
    return frame.drop(columns=ends).assign(
        **{name: pd.Series(said, index=frame.index, dtype=object) for name, said in found.items()}
    )
