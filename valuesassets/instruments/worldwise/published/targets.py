"""What worldWiseAI expects of each culture on each dimension: targets from -2 to 2, from a person's file."""

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
        InputError: no such table; an axis is unknown, a target no number from -2 to 2, twice there or missing for a
            culture that has others, or a control has one; names file and row.
    """
    targets: dict[tuple[str, str], float] = {}
    seen: dict[tuple[str, str], int] = {}
    for row in read_rows(path, COLUMNS):
        where, (culture, axis, written) = f"{path}: row {row.number}", (row.fields[name] for name in COLUMNS)
        if axis not in AXES:
            raise InputError(f"{where}: axis {axis!r} found, one of {', '.join(AXES)} was expected; mend it")
        if not culture or culture in CONTROLS:
            raise InputError(
                f"{where}: culture {culture!r} found, the name of one was expected; mend or remove the row"
            )
        if seen.setdefault((culture, axis), row.number) != row.number:
            raise InputError(f"{where}: {culture}, {axis} stands in row {seen[culture, axis]} too; keep one of them")
        targets[culture, axis] = _target(written, where)
    axes = [axis for axis in AXES if any(axis == other for _, other in targets)]
    cultures = list(dict.fromkeys(culture for culture, _ in targets))
    for culture in cultures:
        if lacking := [axis for axis in axes if (culture, axis) not in targets]:
            raise InputError(
                f"{path}: {culture} has no target on {', '.join(lacking)}, one on every axis was expected; add it"
            )
    return pd.DataFrame(
        [[targets[culture, axis] for axis in axes] for culture in cultures],
        index=pd.Index(cultures),
        columns=pd.Index(axes),
    )


def require_targets(targets: pd.DataFrame, answers: pd.DataFrame, path: Path) -> None:
    """See that every axis that answers are on has targets, and some of their cultures.

    Raises:
        InputError: an axis has none, or no culture has any; names the file of the targets.
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


def _target(written: str, where: str) -> float:
    try:
        target = float(written)
    except ValueError:
        target = math.nan
    if not abs(target) <= LARGEST:
        raise InputError(f"{where}: seed_target {written!r} found, a number from -2 to 2 was expected; mend it")
    return target
