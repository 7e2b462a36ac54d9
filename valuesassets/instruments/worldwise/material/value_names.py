"""The names of values that a reason may tick; each stands for a pole of one axis."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from valuesassets.instruments.worldwise.material.dimensions import AXES, HIGH, POLES
from valuesassets.records.bundled import BUNDLED, given_or_bundled
from valuesassets.records.errors import QuestionError
from valuesassets.records.text_tables import read_rows

COLUMNS = ("value", "axis", "pole")
SEPARATOR = ";"
"""Separates values in prompts and in answers."""


def read_value_names(path: Path | str = BUNDLED, *, has_both_poles: bool = True) -> pd.DataFrame:
    """The values of a CSV file `value,axis,pole`, or the bundled 24, in their order.

    Args:
        has_both_poles: whether every axis needs values of both poles, as when models are asked.

    Raises:
        QuestionError: an axis or pole is unknown, a value is empty, repeated or has a semicolon, or an axis has values
            of one pole only; names file and line.
    """
    place = given_or_bundled(path, "worldwise", "values.csv")
    lines: dict[str, int] = {}
    rows: list[dict[str, str]] = []
    for _, number, row in read_rows(place, COLUMNS, QuestionError, by_line=True):
        where, value = f"{place}: line {number}", row["value"]
        for column, expected in (("axis", AXES), ("pole", POLES)):
            if row[column] not in expected:
                raise QuestionError(
                    f"{where}: {column} {row[column]!r} found, one of {', '.join(expected)} was expected"
                )
        if not value or SEPARATOR in value:
            raise QuestionError(f"{where}: value {value!r} found, a name without {SEPARATOR} was expected; mend it")
        if (first := lines.setdefault(value.casefold(), number)) != number:
            raise QuestionError(f"{where}: value {value} stands in line {first} already; keep one")
        rows.append({column: row[column] for column in COLUMNS})
    if not rows:
        raise QuestionError(f"{place}: no value below its header; add a line for each")
    values = pd.DataFrame(rows)
    for axis, poles in values.groupby("axis", sort=False)["pole"]:
        if has_both_poles and poles.nunique() == 1:
            raise QuestionError(f"{place}: all values of {axis} are {poles.iloc[0]}; add some of the other pole")
    return values


def ticked_leans(ticked: Sequence[Sequence[str]], values: pd.DataFrame) -> NDArray[np.float64]:
    """(n, 6) values of the high pole minus those of the low one that each answer ticks, on each of `AXES`.

    Values that are not listed in `values` (see `read_value_names`) do not count.
    """
    signs = np.where(values["pole"] == HIGH, 1.0, -1.0)
    of_value = {
        value: (AXES.index(axis), sign)
        for value, axis, sign in zip(values["value"], values["axis"], signs, strict=True)
    }
    leans = np.zeros((len(ticked), len(AXES)))
    for lean, listed in zip(leans, ticked, strict=True):
        for axis, sign in (of_value[value] for value in listed if value in of_value):
            lean[axis] += sign
    return leans
