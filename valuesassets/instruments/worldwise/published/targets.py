"""Reads what worldWiseAI expects of each culture on each dimension, targets from -2 to 2, from a user's file."""

import math
from pathlib import Path

import pandas as pd

from valuesassets.instruments.worldwise.material.dimensions import AXES, CONTROLS
from valuesassets.records.errors import InputError
from valuesassets.records.text_tables import read_rows

COLUMNS = ("culture", "axis", "seed_target")
LARGEST = 2.0


def read_targets(path: Path) -> pd.DataFrame:
    """(cultures, axes) targets of a CSV file `culture,axis,seed_target`; axes in the order of `AXES`.

    Raises:
        InputError: an axis is unknown, a target is no number from -2 to 2, repeated, or missing for a culture that has
            others, or a control has one; names file and row.
    """
    targets: dict[tuple[str, str], float] = {}
    row_of: dict[tuple[str, str], int] = {}
    for row in read_rows(path, COLUMNS):
        where, (culture, axis, entry) = f"{path}: row {row.number}", (row.fields[name] for name in COLUMNS)
        if axis not in AXES:
            raise InputError(f"{where}: axis {axis!r} found, one of {', '.join(AXES)} was expected; mend it")
        if not culture or culture in CONTROLS:
            raise InputError(
                f"{where}: culture {culture!r} found, the name of one was expected; mend or remove the row"
            )
        if row_of.setdefault((culture, axis), row.number) != row.number:
            raise InputError(f"{where}: {culture}, {axis} stands in row {row_of[culture, axis]} too; keep one of them")
        targets[culture, axis] = _target(entry, where)
    wide = pd.Series(targets).unstack()
    cultures = list(dict.fromkeys(culture for culture, _ in targets))
    wide = wide.reindex(index=cultures, columns=[axis for axis in AXES if axis in wide])
    for culture, is_missing in wide.isna().iterrows():
        if is_missing.any():
            raise InputError(
                f"{path}: {culture} has no target on {', '.join(wide.columns[is_missing])}, one on every axis was "
                "expected; add it"
            )
    return wide


def require_targets(targets: pd.DataFrame, answers: pd.DataFrame, path: Path) -> None:
    """Check that every axis that answers are on has targets, and one of their cultures too.

    Raises:
        InputError: an axis or all cultures have none; names the file of the targets.
    """
    lacking = [axis for axis in dict.fromkeys(answers["axis"]) if axis not in targets]
    if lacking:
        raise InputError(f"{path}: no target on {lacking[0]}, which answers are on; add its rows")
    cultures = list(dict.fromkeys(each for each in answers["culture"] if each not in CONTROLS))
    if cultures and not set(cultures) & set(targets.index):
        raise InputError(
            f"{path}: targets of {', '.join(map(str, targets.index))} found, the answers are of {', '.join(cultures)}; "
            "call the cultures by one name"
        )


def _target(entry: str, where: str) -> float:
    try:
        target = float(entry)
    except ValueError:
        target = math.nan
    if not abs(target) <= LARGEST:
        raise InputError(f"{where}: seed_target {entry!r} found, a number from -2 to 2 was expected; mend it")
    return target
